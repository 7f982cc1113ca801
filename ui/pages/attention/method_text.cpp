#include "ui/pages/attention/method_text.h"

#include <vector>

#include "core/rotary/position_bias.h"
#include "ui/explorer/mistake_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// A list entry: a position method, on all or some of the features, with a kind of attention.
struct Entry {
    std::string method;
    AttentionKind attention = AttentionKind::softmax;
    bool partial = false;  ///< rotates only some of the features
    QString name;
};

/// All methods that act inside a head, RoPE on some of the features, and RoPE in linear attention.
std::vector<Entry> makeEntries() {
    std::vector<Entry> all;
    for (const PositionMethod& method : positionMethods()) {
        if (method.adds_to_embeddings) continue;
        const QString title = QString::fromStdString(method.title);
        all.push_back({method.name, AttentionKind::softmax, false,
                       method.readsField("rotates") ? QObject::tr("%1: a chosen set").arg(title)
                       : method.rotatesValues()     ? QObject::tr("%1 (weights as RoPE)").arg(title)
                                                    : title});
    }
    all.push_back({"rope", AttentionKind::softmax, true, QObject::tr("RoPE on part of the features")});
    all.push_back({"rope", AttentionKind::linear_numerator, false, QObject::tr("linear, numerator rotated")});
    all.push_back({"rope", AttentionKind::linear_cosine, false, QObject::tr("linear, 1 + cosine")});
    return all;
}

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all = makeEntries();
    return all;
}

QString attentionFormula(AttentionKind kind) {
    return kind == AttentionKind::linear_numerator
               ? QObject::tr(
                     "a = (R(n)φ(q))·(R(j)φ(k)) / Σ φ(q)·φ(k), φ(x) = elu(x) + 1: the denominator is not "
                     "rotated, so weights may be negative and need not sum to 1")
               : QObject::tr(
                     "a ∝ 1 + cos(R(n)q, R(j)k): never negative, so each row is a probability distribution");
}

/// "s = q·(R(j)k)/√d, o = Σ a R(j)v"
QString formulaOf(const RotatedTensors& rotated) {
    return QStringLiteral("s = %1·%2/√d, o = %3Σ a %4")
        .arg(rotated.query ? QStringLiteral("(R(n)q)") : QStringLiteral("q"),
             rotated.key ? QStringLiteral("(R(j)k)") : QStringLiteral("k"),
             rotated.output ? QStringLiteral("R(−n) ") : QString(),
             rotated.value ? QStringLiteral("R(j)v") : QStringLiteral("v"));
}

}  // namespace

QStringList methodNames() {
    QStringList names;
    for (const Entry& entry : entries())
        names << entry.name;
    return names;
}

int methodEntry(const Setup& s) {
    const std::vector<Entry>& all = entries();
    const bool partial = s.method == "rope" && s.attention == AttentionKind::softmax && s.rotary_fraction < 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool same_method = all[i].method == s.method || s.attention != AttentionKind::softmax;
        if (same_method && all[i].attention == s.attention && all[i].partial == partial)
            return static_cast<int>(i);
    }
    return 0;
}

QString methodName(const Setup& s) {
    const Entry& entry = entries().at(static_cast<std::size_t>(methodEntry(s)));
    if (s.method == entry.method && s.positionMethod().readsField("rotates"))
        return QObject::tr("%1 of %2")
            .arg(QString::fromStdString(s.positionMethod().title), QString::fromStdString(s.rotates));
    if (entry.method == s.method) return entry.name;
    return QObject::tr("%1 (%2)").arg(entry.name, QString::fromStdString(s.positionMethod().title));
}

void chooseMethod(Setup& s, int number) {
    const Entry& entry = entries().at(static_cast<std::size_t>(number));
    s.method = entry.method;
    s.attention = entry.attention;
    if (entry.partial && s.rotary_fraction >= 1) s.rotary_fraction = 0.5;
    if (s.method == "rope" && !entry.partial && s.attention == AttentionKind::softmax) s.rotary_fraction = 1;
    if (!appliesTo(s.mistake, s.rotatedTensors())) s.mistake = Mistake::none;
}

QString scoreFormulaText(const Setup& s) {
    if (s.attention != AttentionKind::softmax)
        return QObject::tr("%1%2 <i>(Su 2021)</i>")
            .arg(attentionFormula(s.attention),
                 s.rotatesScores() ? QString() : QObject::tr("; nothing is rotated here"));
    const PositionMethod& method = s.positionMethod();
    return QObject::tr("%1 <i>(%2)</i>")
        .arg(method.readsField("rotates") ? formulaOf(s.rotatedTensors())
                                          : QString::fromStdString(method.formula),
             QString::fromStdString(method.source).toHtmlEscaped());
}

namespace {

/// What shifting all positions changes.
QString explainShift(const RotatedTensors& rotated) {
    QString text;
    if (rotated.query && rotated.key)
        text += QObject::tr(
            "<p>The product of two rotated vectors depends only on n − j, so shifting all positions by S "
            "changes nothing except for rounding.</p>");
    if (!rotated.scoresAreRelative())
        text +=
            QObject::tr(
                "<p>Only %1 rotate, so a score depends on their own positions instead of the distance n − "
                "j, and shifting all positions by S changes it.</p>")
                .arg(rotated.key ? QObject::tr("keys") : QObject::tr("queries"));
    if (!rotated.outputsAreRelative())
        text += QObject::tr(
                    "<p>Only %1 rotate, so an output depends on their own positions, and shifting all "
                    "positions by S changes it.</p>")
                    .arg(rotated.value ? QObject::tr("values, not outputs,")
                                       : QObject::tr("outputs, not values,"));
    return text;
}

}  // namespace

QString explainScore(const AttentionState& state) {
    const Setup& s = state.setup();
    QString text = QObject::tr("<h3>A score and where it comes from</h3><p>%1</p>").arg(scoreFormulaText(s));
    if (state.isReady()) {
        const int query = state.query(), key = state.key();
        text += QObject::tr("<p>n = %1, j = %2: s = <b>%3</b>, a = <b>%4</b></p>")
                    .arg(query)
                    .arg(key)
                    .arg(numberText(state.scoreRow()[key]), numberText(state.weightRow()[key]));
        const double factor = state.rule().attention_factor;
        if (factor != 1)
            text +=
                QObject::tr(
                    "<p>YaRN multiplies cos and sin by %1, and thus the rotated part of a score by %2.</p>")
                    .arg(numberText(factor), numberText(factor * factor));
    }
    text +=
        QObject::tr(
            "<p>Each bar below is the contribution of one pair of features; they add up to the score%1.</p>")
            .arg(state.rule().bias                             ? QObject::tr(" when the bias is included")
                 : s.attention == AttentionKind::linear_cosine ? QObject::tr(" when the 1 is included")
                                                               : QString());
    if (s.mistake == Mistake::none) text += explainShift(s.rotatedTensors());
    if (s.positionMethod().trains_bias && state.isReady()) {
        const HeadContext head = s.headContext();
        const int distance = state.query() - state.key(),
                  buckets = static_cast<int>(head.learned_bias.size());
        text += QObject::tr("<p>The distance %1 falls into bucket %2 of %3.</p>")
                    .arg(distance)
                    .arg(t5Bucket(distance, !s.causal, buckets,
                                  static_cast<int>(head.specific_settings.integer("bias_distance"))))
                    .arg(buckets);
    }
    if (s.mistake != Mistake::none)
        text += QObject::tr("<h3>Mistake: %1</h3><p>%2. %3</p>")
                    .arg(describe(s.mistake).name, describe(s.mistake).what,
                         isRevealedByShift(s.mistake)
                             ? QObject::tr("Shift all positions: values that should stay the same change.")
                             : QObject::tr("Shifting all positions does not reveal it: scores still depend "
                                           "only on distance, but on the wrong one. Only the comparison with "
                                           "the correct form reveals it."));
    text += QObject::tr(
        "<p>When zoomed out, a cell of the map shows the entry of largest magnitude among those it "
        "covers.</p>");
    return text + QObject::tr("<p><i>Su et al., RoFormer, 2021</i></p>");
}

}  // namespace roper
