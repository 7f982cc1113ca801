#include "ui/explorer/mistake_text.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <map>

namespace roper {
namespace {

QString text(const char* source) {
    return QCoreApplication::translate("roper::MistakeStory", source);
}

/// Splits code that contains both versions, "k = «correct|wrong»(k)", into {correct, wrong}.
std::pair<QString, QString> code(const char* lines) {
    static const QRegularExpression either(QStringLiteral("«([^|]*)\\|([^»]*)»"));
    const QString both = QString::fromUtf8(lines);
    return {QString(both).replace(either, QStringLiteral("\\1")),
            QString(both).replace(either, QStringLiteral("\\2"))};
}

const std::map<Mistake, MistakeText>& mistakes() {
    static const std::map<Mistake, MistakeText> all = {
        {Mistake::none, {text("none"), {}}},
        {Mistake::wrong_pairing,
         {text("wrong pairing"),
          text("keys are paired differently from queries"),
          {text("pairs (i, i + d/2) in q and in k"), text("pairs (i, i + d/2) in q, ⟪(2i, 2i + 1)⟫ in k")},
          code("angle = position[:, None] * theta\nq = rotate_half_split(q, angle)\n"
               "k = «rotate_half_split|⟪rotate_interleaved⟫»(k, angle)"),
          code("for (int i = 0; i < d / 2; ++i) {\n    rotate(q[i], q[i + d / 2], n * theta[i]);\n"
               "    rotate(«k[i], k[i + d / 2]|⟪k[2 * i], k[2 * i + 1]⟫», j * theta[i]);\n}"),
          text("Both layouts are in use: Llama's own code pairs neighboring features; transformers pairs "
               "features of the two halves, and its conversion permutes the rows of the q and k weights "
               "(huggingface/transformers issue 25199). Weights loaded without the permutation cause this "
               "mistake."),
          text("Every rotation preserves lengths, so all numbers look normal. A model trained with the "
               "mistake still learns; weights trained elsewhere produce nonsense.")}},
        {Mistake::wrong_direction,
         {text("wrong direction"),
          text("keys rotate by −j: scores see j + n"),
          {text("⟨R(n)q, R(j)k⟩ = ⟨q, R(j − n)k⟩"),
           text("⟨R(n)q, ⟪R(−j)⟫k⟩ = ⟨q, R(⟪−j⟫ − n)k⟩: scores see j + n")},
          code("q = rotate(q, position[:, None] * theta)\nk = rotate(k, «|⟪-⟫»position[:, None] * theta)"),
          code("rotate(q[i], q[i + d / 2], n * theta[i]);\nrotate(k[i], k[i + d / 2], «|⟪-⟫»j * theta[i]);"),
          text("It was proposed for transformers, in the belief that the positions would otherwise add up "
               "(issue 30900). In fact, the dot product already reverses one of the two rotations. Reversing "
               "both is not a mistake: it mirrors all angles (karpathy/nanochat, pull request 489)."),
          text("Scores are still smooth functions of the two positions. A model can learn the texts it sees, "
               "at the positions where it sees them, but fails when a sentence is moved.")}},
        {Mistake::no_inverse,
         {text("inverse forgotten"),
          text("RoPER's output is not rotated back by R(−n)"),
          {text("o = R(−n) Σ a R(j)v = Σ a R(j − n)v"), text("o = Σ a R(j)v   (⟪R(−n)⟫ is missing)")},
          code("angle = position[:, None] * theta\n"
               "o = «rotate(a @ rotate(v, angle), -angle)|⟪a @ rotate(v, angle)⟫»"),
          code("o = weighted_sum(a, rotated_values);\n«for (int i = 0; i < d / 2; ++i)\n"
               "    rotate(o[i], o[i + d / 2], -n * theta[i]);|⟪// and on to the output projection⟫»"),
          text("x-transformers 0.15 to 1.19.1 rotates values in every model with rotary embeddings and never "
               "rotates back; 1.20 to 1.44.8 does so with attn_rotary_embed_values=True, with absolute "
               "positions. transformers (including 5.24) does so in RoFormer with rotary_value=true and in "
               "every CLVP with use_rotary_embedding, the default; axlearn in RoFormerQKVLinear with "
               "rotary_value; DALLE-pytorch with rotary_emb, the default. Their users get models whose "
               "outputs depend on where a text begins, not RoPER."),
          text("The output has the right shape and length. It encodes where the values are in the text, not "
               "how far they are from the query, so every position must be learned separately.")}},
        {Mistake::values_twice,
         {text("values rotated twice"),
          text("R(2j)v instead of R(j)v"),
          {text("v′ⱼ = R(j)vⱼ"), text("v′ⱼ = ⟪R(j)⟫R(j)vⱼ = R(⟪2⟫j)vⱼ")},
          code("v = rotate(v, angle)\no = rotate(a @ «v|⟪rotate(v, angle)⟫», -angle)"),
          code("rotate(v[i], v[i + d / 2], j * theta[i]);\n"
               "«|⟪rotate(v[i], v[i + d / 2], j * theta[i]);⟫\n»add(o, a[j], v);"),
          text("labml-nn 0.4.123 to 0.4.136, the published code of RoPER, did this until June 2024: "
               "RotaryValuePEMultiHeadAttention.forward rotated the values once in a separate line and again "
               "within the weighted sum (labmlai/annotated_deep_learning_paper_implementations, issue 251). "
               "Their users train with R(2j) instead of R(j); such weights do not work with 0.4.137, which "
               "rotates once."),
          text("In o = R(−n) Σ a R(2j)v, every value is still rotated. The extra R(j) changes when the "
               "sentence moves, as when the inverse is forgotten, and only a test that shifts all positions "
               "detects it.")}},
        {Mistake::positions_from_one,
         {text("positions from 1"),
          text("queries count from 1, keys from 0"),
          {text("q at n, k at j, both counted from 0"), text("q at n ⟪+ 1⟫, k at j")},
          code("position = torch.arange(T)\n"
               "q = rotate(q, «position|(position ⟪+ 1⟫)»[:, None] * theta)\n"
               "k = rotate(k, position[:, None] * theta)"),
          code("rotate(q[i], q[i + d / 2], «n|(n ⟪+ 1⟫)» * theta[i]);\n"
               "rotate(k[i], k[i + d / 2], j * theta[i]);"),
          text("It arises with KV caches: during generation, the position of the new query is counted "
               "separately from those of the keys (pytorch/executorch pull request 2010, RobertCsordas/moeut "
               "pull request 6). Counting both from 1 is not a mistake."),
          text("Every distance is too large by one, everywhere: a model trained this way is not affected, "
               "but a model trained correctly attends to the wrong neighbor.")}},
        {Mistake::model_width,
         {text("model width"),
          text("frequencies of the model's %1 d features, not the head's d").arg(kModelHeads),
          {text("θᵢ = b^(−2i/d), d of the head"), text("θᵢ = b^(−2i/⟪D⟫), D of the whole model")},
          code("i = torch.arange(0, head_dim, 2)\ntheta = base ** (-i / «head_dim|⟪model_dim⟫»)"),
          code("for (int i = 0; i < head_dim / 2; ++i)\n"
               "    theta[i] = std::pow(base, -2.0 * i / «head_dim|⟪model_dim⟫»);"),
          text("The widths are easily confused: transformers used the hidden size divided by the number of "
               "heads even where a config gives the head width (pull request 32495); pie used the head "
               "width even where only part of it rotates (issue 602). A widely read introduction uses the "
               "model width."),
          text("All pairs become fast, and no slow one remains: short texts work well, but distant positions "
               "are hard to tell apart because the angles repeat.")}},
        {Mistake::exponent_without_pair,
         {text("d for 2i/d"),
          text("θ = b^(−d) for every pair: almost nothing rotates"),
          {text("θᵢ = b^(−2i/d)"), text("θᵢ = b^(⟪−d⟫), the same for every pair")},
          code("i = torch.arange(d // 2)\ntheta = base ** («-2 * i / d|⟪-d⟫ * torch.ones(d // 2)»)"),
          code("theta[i] = std::pow(base, «-2.0 * i / d|⟪-1.0 * d⟫»);"),
          text("A formula was copied from a printed text that has d instead of 2i/d."),
          text("The angles are almost 0: the model has no positions. It trains, and behaves like attention "
               "that can infer the order only from its mask.")}}};
    return all;
}

QString marked(const QString& plain, const QString& color) {
    QString html = plain.toHtmlEscaped();
    html.replace(QStringLiteral("⟪"), QStringLiteral("<b style='color:%1'>").arg(color));
    html.replace(QStringLiteral("⟫"), QStringLiteral("</b>"));
    return html;
}

}  // namespace

const MistakeText& describe(Mistake mistake) {
    return mistakes().at(mistake);
}

QString explanationHtml(Mistake mistake, const QString& wrong) {
    const MistakeText& story = describe(mistake);
    const auto bothVersions = [&](const QString& heading, const std::pair<QString, QString>& of,
                                  const char* tag) {
        return QStringLiteral("<h4>%1</h4><p>%2</p><%5>%3</%5><p>%4</p><%5>%6</%5>")
            .arg(heading, text("correct"), of.first.toHtmlEscaped(), text("wrong"), QString::fromLatin1(tag),
                 marked(of.second, wrong));
    };
    return QStringLiteral("<h3>%1</h3><p>%2</p>").arg(story.name, story.what) +
           bothVersions(text("Formula"), story.formula, "p") +
           bothVersions(text("PyTorch"), story.python, "pre") + bothVersions(text("C++"), story.cpp, "pre") +
           QStringLiteral("<h4>%1</h4><p>%2</p><h4>%3</h4><p>%4</p>")
               .arg(text("Where it occurred"), story.seen, text("Why training does not crash"),
                    story.why_it_trains);
}

}  // namespace roper
