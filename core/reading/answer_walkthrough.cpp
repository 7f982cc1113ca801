#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/walkthrough.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

std::vector<double> numbersOf(const at::Tensor& x) {
    const at::Tensor exact = x.to(at::kDouble).contiguous();
    const auto* const numbers = exact.const_data_ptr<double>();
    return {numbers, numbers + exact.numel()};
}

std::vector<std::vector<double>> rowsOf(const at::Tensor& x) {
    std::vector<std::vector<double>> rows;
    for (std::int64_t row = 0; row < x.size(0); ++row)
        rows.push_back(numbersOf(x[row]));
    return rows;
}

/// The features of each rotated pair.
std::vector<std::vector<int>> pairsOf(const RotaryConfig& rotation) {
    const int width = rotation.rotatedWidth();
    std::vector<std::vector<int>> pairs;
    for (int pair = 0; pair < width / 2; ++pair) {
        const PairFeatures features = featuresOfPair(rotation.pairing, width, pair);
        pairs.push_back(
            {rotation.firstRotated() + features.first, rotation.firstRotated() + features.second});
    }
    return pairs;
}

/// What the steps do not show of a model's attention.
std::vector<std::string> notesOn(const Architecture& model, std::int64_t layer, std::int64_t tokens) {
    std::vector<std::string> notes;
    if (model.attention != AttentionKind::softmax)
        notes.emplace_back(
            "Linear attention: queries and keys are those of the feature map, and weights are scores divided "
            "by a sum, without an exponential.");
    if (model.score_softcap > 0)
        notes.push_back("Before the softmax, a score s is capped: c·tanh(s/c) with c = " +
                        formatRounded(model.score_softcap, 6) + ".");
    if (model.hasBias()) notes.emplace_back("Before the softmax, a bias by position is added to each score.");
    if (model.has_sinks)
        notes.emplace_back("The softmax has a sink, which takes what the weights lack to 1.");
    if (model.isWindowed(layer) && tokens > model.window)
        notes.push_back("This layer sees only " +
                        std::string(model.chunked  ? "the token's chunk of "
                                    : model.causal ? "the last "
                                                   : "a window around the token of ") +
                        std::to_string(model.window) + " tokens.");
    if (model.latent.isUsed())
        notes.emplace_back(
            "Latent attention: keys and values are computed from a short latent vector of each token; the "
            "rotated part of a key is the same for all heads.");
    if (model.gates_heads)
        notes.emplace_back("The output of the head is multiplied by a gate, the sigmoid of a function of x.");
    if (model.key_value_heads < model.heads && !model.latent.isUsed())
        notes.push_back("Keys and values are shared by groups of " +
                        std::to_string(model.heads / model.key_value_heads) + " heads.");
    return notes;
}

bool predictsNext(const QuestionContext& context) {
    return context.model().causal && context.reader.model().weights.head.has_value();
}

/// The likeliest next tokens from one row of hidden states [1, C], after the final norm.
std::vector<Prediction> nextTokens(const QuestionContext& context, const at::Tensor& hidden,
                                   std::int64_t candidates) {
    return context.reader.predict(hidden, std::span(context.ids).first(1), candidates).predictions.front();
}

/// Records the steps of the head and token that an answer names.
class WalkthroughObserver {
  public:
    WalkthroughObserver(const QuestionContext& context, Walkthrough& answer)
        : context_(context), answer_(answer) {}

    /// Callbacks for the pass, which this object must outlive.
    ForwardHooks recorder() {
        ForwardHooks hooks;
        hooks.residual = [this](std::int64_t, const at::Tensor& x) { observeResidual(x); };
        hooks.vectors = [this](const LayerView& view) {
            if (view.layer == answer_.layer) observeVectors(view);
        };
        hooks.attention = [this](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
            const std::int64_t query = answer_.token - first;
            if (layer != answer_.layer || query < 0 || query >= weights.size(1)) return;
            answer_.weights = numbersOf(weights.select(0, answer_.head)[query]);
            answer_.weights.resize(context_.ids.size());  // later keys are hidden from the query
        };
        hooks.heads = [this](std::int64_t layer, const at::Tensor& mixed) {
            if (layer == answer_.layer) observeOutputs(mixed);
        };
        return hooks;
    }

  private:
    void observeResidual(const at::Tensor& x) {
        const at::Tensor row = x.narrow(0, answer_.token, 1);
        answer_.residual.push_back(row.norm().item<double>());
        if (!predictsNext(context_)) return;
        answer_.lens.push_back(nextTokens(context_, context_.reader.decoder().finalNorm(row), 1).front());
    }

    void observeVectors(const LayerView& view) {
        const std::int64_t H = context_.model().heads;
        const auto ofHead = [&](const at::Tensor& x) {
            return x.select(0, answer_.head * x.size(0) / H).to(at::kDouble);
        };
        // Linear attention rotates the feature map of queries and keys.
        const at::Tensor query = ofHead(view.rotated_q)[answer_.token], keys = ofHead(view.rotated_k);
        answer_.query = numbersOf(ofHead(view.unrotated_q)[answer_.token]);
        answer_.rotated_query = numbersOf(query);
        answer_.keys = rowsOf(ofHead(view.unrotated_k));
        answer_.rotated_keys = rowsOf(keys);
        answer_.scores = numbersOf(at::mv(keys, query) * answer_.scale);
        answer_.values = rowsOf(ofHead(view.v));
        rotated_values_ = ofHead(view.rotated_v);
        answer_.rotated_values = rowsOf(rotated_values_);
    }

    /// @param mixed  outputs of all heads [H, T, v]
    void observeOutputs(const at::Tensor& mixed) {
        const at::Tensor outputs = mixed.select(1, answer_.token);
        answer_.output = numbersOf(outputs[answer_.head]);
        answer_.sum = numbersOf(at::mv(rotated_values_.t(), at::tensor(answer_.weights, at::kDouble)));
        Decoder& decoder = context_.reader.decoder();
        const BlockWeights& block = decoder.model().weights.blocks[static_cast<std::size_t>(answer_.layer)];
        if (block.mixed_norm) return;
        const at::Tensor by_head =
            decoder.weights().matrix(block.output.weight).unflatten(1, {mixed.size(0), -1});  // [C, H, v]
        answer_.added = numbersOf(at::einsum("chv,hv->hc", {by_head, outputs}).norm(2, -1));
    }

    const QuestionContext& context_;
    Walkthrough& answer_;
    at::Tensor rotated_values_;  ///< [T, v], float64
};

/// The token to follow. @throws Error (usage) if the text has no such token, or too many
std::int64_t chosenToken(const QuestionContext& context) {
    constexpr std::int64_t kMaxTokens = 512;
    const std::int64_t T = std::ssize(context.ids), token = context.question.token.value_or(T - 1);
    if (T > kMaxTokens)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(T) +
                                          " tokens; a walkthrough reads at most " +
                                          std::to_string(kMaxTokens));
    if (token >= T)
        throw Error(ErrorKind::usage, "token is " + std::to_string(token) +
                                          ", but the text has tokens 0 to " + std::to_string(T - 1));
    return token;
}

/// Adds which tensors of the layer rotate, and by which pairs.
void addPairs(const Architecture& model, Walkthrough& answer) {
    const std::size_t kind = model.rotation_of_layer[static_cast<std::size_t>(answer.layer)];
    if (model.rotated.query || model.rotated.key) answer.pairs = pairsOf(model.rotations[kind]);
    if (model.rotatesValues() || model.rotatesOutputs())
        answer.value_pairs = pairsOf(model.value_rotations[kind]);
    const bool scores = !answer.pairs.empty(), values = !answer.value_pairs.empty();
    answer.rotated = nameOf({scores && model.rotated.query, scores && model.rotated.key,
                             values && model.rotated.value, values && model.rotated.output});
}

Walkthrough walkthroughOf(const QuestionContext& context) {
    const Architecture& model = context.model();
    const QuestionContext::Head at = context.selectedHead();
    Walkthrough answer{.layer = at.layer, .head = at.head, .token = chosenToken(context)};
    answer.tokens = context.reader.textsOf(context.ids);
    answer.scale = model.attention == AttentionKind::softmax ? model.scoreScaleOf(at.layer) : 1;
    addPairs(model, answer);
    answer.notes = notesOn(model, at.layer, std::ssize(context.ids));
    WalkthroughObserver observer(context, answer);
    const std::int64_t passes = predictsNext(context) ? 2 : 1;
    const at::Tensor hidden =
        context.reader.hidden(context.ids, context.change, observer.recorder(), {0, passes});
    if (!predictsNext(context)) return answer;
    Intervention ablated = context.change;
    ablated.ablated_heads.push_back({at.layer, at.head});
    const at::Tensor changed = context.reader.hidden(context.ids, ablated, {}, {1, passes});
    answer.predictions = nextTokens(context, hidden.narrow(0, answer.token, 1), context.count());
    answer.without_head = nextTokens(context, changed.narrow(0, answer.token, 1), context.count());
    return answer;
}

double lengthOf(const std::vector<double>& vector) {
    return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
}

std::string predictedText(const std::vector<Prediction>& predictions) {
    std::string text;
    for (const Prediction& one : predictions)
        text += (text.empty() ? "" : ", ") + formatToken(one.token) + " " +
                formatRounded(100 * one.probability, 3) + " %";
    return text;
}

/// The steps as sentences, above the table of keys.
void printSteps(const Walkthrough& answer, std::ostream& to) {
    const auto token = static_cast<std::size_t>(answer.token);
    const auto layer = static_cast<std::size_t>(answer.layer);
    const auto number = [](double x) { return formatRounded(x, 4); };
    to << "token " << token << " " << formatToken(answer.tokens[token]) << " in head " << answer.head
       << " of layer " << answer.layer << "\n";
    to << "residual stream before the layer: length " << number(answer.residual[layer]);
    if (!answer.lens.empty()) to << "; logit lens: " << predictedText({answer.lens[layer]});
    to << "\nquery: length " << number(lengthOf(answer.query)) << ", "
       << (answer.pairs.empty() ? "no pair rotates" : countOf(answer.pairs.size(), "rotated pair")) << " of "
       << answer.query.size() << " features\n";
    const auto rotates = [&](char tensor) { return answer.rotated.find(tensor) != std::string::npos; };
    to << "weighted sum of the " << (rotates('v') ? "rotated " : "") << "values: length "
       << number(lengthOf(answer.sum)) << "\n";
    if (rotates('o'))
        to << "output after the rotation back: length " << number(lengthOf(answer.output)) << "\n";
    if (!answer.added.empty())
        to << "added to the residual stream: length "
           << number(answer.added[static_cast<std::size_t>(answer.head)]) << "; after the layer: length "
           << number(answer.residual[layer + 1]) << "\n";
    if (!answer.predictions.empty())
        to << "next token: " << predictedText(answer.predictions)
           << "\nwithout this head: " << predictedText(answer.without_head) << "\n";
    for (const std::string& note : answer.notes)
        to << note << "\n";
    to << "\n";
}

void printWalkthrough(const Walkthrough& answer, const QuestionContext&, AnswerWriter& to) {
    if (to.isJson()) return to.line(nlohmann::ordered_json(nlohmann::json(answer)));
    if (to.isText()) printSteps(answer, to.text());
    to.columns("token,text,score,weight,value_length");
    for (std::size_t j = 0; j < answer.tokens.size(); ++j)
        to.row({std::to_string(j), tableCell(answer.tokens[j]), formatRounded(answer.scores[j], 5),
                formatRounded(answer.weights[j], 5), formatRounded(lengthOf(answer.values[j]), 5)});
}

}  // namespace

AnswerHandler walkthroughAnswer() {
    return answerHandler(walkthroughOf, printWalkthrough);
}

}  // namespace roper
