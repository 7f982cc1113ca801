#include <ATen/ATen.h>

#include <algorithm>
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
    std::vector<std::vector<int>> pairs;
    for (int pair = 0; pair < rotation.pairs(); ++pair) {
        const PairFeatures features = rotation.features(pair);
        pairs.push_back({features.first, features.second});
    }
    return pairs;
}

/// Adds notes on steps of the computation that the numbers do not show.
class Notes {
  public:
    Notes(const QuestionContext& context, Walkthrough& answer)
        : model_(context.model()),
          block_(context.reader.model().weights.blocks[static_cast<std::size_t>(answer.layer)]),
          change_(context.change),
          answer_(answer),
          tokens_(std::ssize(context.ids)) {}

    void add() {
        addOfProjections();
        addOfRotation();
        addOfScores();
        addOfOutput();
    }

  private:
    void note(const char* stage, const std::string& text) { answer_.notes.push_back({stage, text}); }

    void addOfProjections() {
        const std::int64_t layer = answer_.layer, groups = model_.keyValueHeadsOf(layer);
        if (model_.latent.isUsed())
            note("projections",
                 "Latent attention: keys and values are computed from a short latent vector of each token; "
                 "the rotated part of a key is the same for all heads.");
        else if (groups < model_.heads)
            note("projections", "Each group of " + std::to_string(model_.heads / groups) +
                                    " heads shares one key and one value per token.");
        if (model_.shared_kv) note("projections", "The value of a token is its key.");
        if (block_.query_down)
            note("projections", "The query is computed from a short latent vector of the token.");
        if (block_.query.bias || block_.key.bias || block_.value.bias)
            note("projections", "A bias is added to each product.");
        if (block_.query_norm && !model_.norms_rotated)
            note("projections", "Queries and keys are then normalized.");
        if (!block_.attention_norm) note("projections", "Here x is not normalized first.");
        if (model_.query_growth > 0)
            note("projections", "Queries grow with the position (temperature tuning).");
        if (model_.attention != AttentionKind::softmax)
            note("projections", "Linear attention: queries and keys are shown after the feature map.");
    }

    void addOfRotation() {
        if (model_.norms_rotated && block_.query_norm && block_.query_norm->weight)
            note(
                "rotation",
                "After the rotation, queries and keys are multiplied by the weights of a norm, which changes "
                "their lengths and angles.");
        if (change_.shift != 0)
            note("rotation", "Changed: " + std::to_string(change_.shift) + " is added to every position.");
        for (const Intervention::AblatedPairs& ablated : change_.ablated_pairs) {
            if (!ablated.heads.contains(answer_.layer, answer_.head)) continue;
            std::string pairs;
            for (const std::int64_t pair : ablated.pairs)
                pairs += (pairs.empty() ? "" : ", ") + std::to_string(pair);
            note("rotation", "Changed: these pairs are ablated from the scores: " + pairs + ".");
        }
    }

    void addOfScores() {
        if (model_.score_softcap > 0)
            note("scores", "Before the softmax, each score s is capped: c·tanh(s/c) with c = " +
                               formatRounded(model_.score_softcap, 6) + ".");
        if (model_.hasBias())
            note("scores", "Before the softmax, a bias by position is added to each score.");
        if (block_.sinks) note("weights", "The softmax also has a sink, which takes the rest of the weight.");
        if (model_.isWindowed(answer_.layer) && tokens_ > model_.window) {
            const std::string window = std::to_string(model_.window);
            note("scores", model_.chunked ? "This layer sees only the token's chunk of " + window + " tokens."
                           : model_.causal ? "This layer sees only the last " + window + " tokens."
                                           : "This layer sees only tokens less than " + window + " away.");
        }
        if (model_.indexer.isUsed()) note("scores", "An indexer hides further keys from each query.");
    }

    void addOfOutput() {
        for (const HeadSelection& ablated : change_.ablated_heads)
            if (ablated.contains(answer_.layer, answer_.head))
                note("sum", "Changed: this head is ablated, so its output is set to zero.");
        if (model_.gates_heads)
            note("sum",
                 "The output of the head is then multiplied by a gate, the sigmoid of a function of x.");
        if (block_.mixed_norm)
            note("sum",
                 "The outputs of all heads are then normalized together, so what one head adds is not "
                 "defined.");
        if (model_.hyper.isUsed())
            note("output", "The token has " + std::to_string(model_.hyper.streams) +
                               " residual streams: attention reads a weighted sum of them, and its output is "
                               "added to each with another weight (hyper-connections).");
        if (block_.after_attention_norm)
            note("output", "The sum over all heads is normalized before it is added.");
        if (model_.post_norm) note("output", "After each addition, x is normalized.");
        if (model_.residual_scale != 1)
            note("output",
                 "What is added is first multiplied by " + formatRounded(model_.residual_scale, 4) + ".");
        if (block_.output.bias) note("output", "A bias is added once for all heads.");
    }

    const Architecture& model_;
    const BlockWeights& block_;
    const Intervention& change_;
    Walkthrough& answer_;
    std::int64_t tokens_;
};

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
        hooks.attention_layer = answer_.layer;
        hooks.attention = [this](std::int64_t, std::int64_t first, const at::Tensor& weights) {
            const std::int64_t query = answer_.token - first;
            if (query < 0 || query >= weights.size(1)) return;
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
        const at::Tensor hidden = hiddenKeys(view);
        for (std::int64_t j = 0; j < std::ssize(answer_.scores); ++j)
            if (hidden[j].item<bool>()) answer_.scores[static_cast<std::size_t>(j)] = std::nan("");
        answer_.values = rowsOf(ofHead(view.v));
        rotated_values_ = ofHead(view.rotated_v);
        answer_.rotated_values = rowsOf(rotated_values_);
    }

    /// Whether each key is hidden from the query [T].
    at::Tensor hiddenKeys(const LayerView& view) const {
        const at::Tensor n = at::full({1, 1}, answer_.token), j = at::arange(std::ssize(answer_.scores));
        const at::Tensor hidden = maskedByPosition(context_.model(), answer_.layer, n, j).squeeze(0);
        if (!view.masked_keys.defined()) return hidden;
        return hidden.logical_or(view.masked_keys[answer_.token]);
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
            decoder.outputMatrix(answer_.layer).unflatten(1, {mixed.size(0), -1});  // [C, H, v]
        answer_.added = numbersOf(at::einsum("chv,hv->hc", {by_head, outputs}).norm(2, -1));
    }

    const QuestionContext& context_;
    Walkthrough& answer_;
    at::Tensor rotated_values_;  ///< [T, v], float64
};

/// The token to follow. @throws Error (usage) if the text does not have it, or is too long
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

/// Adds which tensors of the head rotate, and by which pairs.
void addPairs(const Architecture& model, const Intervention& change, Walkthrough& answer) {
    const std::size_t index = model.rotation_of_layer[static_cast<std::size_t>(answer.layer)];
    if (model.rotated.query || model.rotated.key) answer.pairs = pairsOf(model.rotations[index]);
    if (model.rotatesValues() || model.rotatesOutputs())
        answer.value_pairs = pairsOf(model.value_rotations[index]);
    const auto isChanged = [&](const std::vector<HeadSelection>& heads) {
        return std::any_of(heads.begin(), heads.end(),
                           [&](const HeadSelection& one) { return one.contains(answer.layer, answer.head); });
    };
    const bool scores = !answer.pairs.empty() && !isChanged(change.unrotated),
               values = !answer.value_pairs.empty() && !isChanged(change.unrotated_value_heads);
    answer.rotated =
        nameOf({scores && model.rotated.query, scores && model.rotated.key, values && model.rotated.value,
                values && model.rotated.output && !isChanged(change.uninverted_heads)});
    if (!scores) answer.pairs.clear();
    if (!values) answer.value_pairs.clear();
}

Walkthrough walkthroughOf(const QuestionContext& context) {
    const Architecture& model = context.model();
    const QuestionContext::Head at = context.selectedHead();
    Walkthrough answer{.layer = at.layer, .head = at.head, .token = chosenToken(context)};
    answer.tokens = context.reader.textsOf(context.ids);
    answer.attention = nameOf(model.attention);
    answer.scale = model.attention == AttentionKind::softmax ? model.scoreScaleOf(at.layer) : 1;
    addPairs(model, context.change, answer);
    Notes(context, answer).add();
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
    to << "\nquery: length " << number(lengthOf(answer.query)) << ", " << answer.query.size() << " features, "
       << (answer.pairs.empty() ? "none of which rotates"
                                : std::to_string(2 * answer.pairs.size()) + " of which rotate")
       << "\n";
    const auto rotates = [&](char tensor) { return answer.rotated.find(tensor) != std::string::npos; };
    to << "weighted sum of the " << (rotates('v') ? "rotated " : "") << "values: length "
       << number(lengthOf(answer.sum)) << "\n";
    if (rotates('o'))
        to << "output after the rotation back: length " << number(lengthOf(answer.output)) << "\n";
    if (!answer.added.empty())
        to << "W_O o: length " << number(answer.added[static_cast<std::size_t>(answer.head)])
           << "; after the layer: length " << number(answer.residual[layer + 1]) << "\n";
    if (!answer.predictions.empty())
        to << "next token: " << predictedText(answer.predictions)
           << "\nwithout this head: " << predictedText(answer.without_head) << "\n";
    for (const WalkthroughNote& note : answer.notes)
        to << note.stage << ": " << note.text << "\n";
    to << "\n";
}

void printWalkthrough(const Walkthrough& answer, const QuestionContext&, AnswerWriter& to) {
    if (to.isJson()) return to.line(nlohmann::ordered_json(nlohmann::json(answer)));
    if (to.isText()) printSteps(answer, to.text());
    to.columns("token,text,score,weight,value_length");
    for (std::size_t j = 0; j < answer.tokens.size(); ++j)
        to.row({std::to_string(j), tableCell(answer.tokens[j]),
                std::isnan(answer.scores[j]) ? "" : formatRounded(answer.scores[j], 5),
                formatRounded(answer.weights[j], 5), formatRounded(lengthOf(answer.values[j]), 5)});
}

}  // namespace

AnswerHandler walkthroughAnswer() {
    return answerHandler(walkthroughOf, printWalkthrough);
}

}  // namespace roper
