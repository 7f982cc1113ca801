#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"
#include "core/operators/tensor_data.h"
#include "core/pretrained/family.h"
#include "core/reading/answers.h"
#include "core/reading/model_facts.h"

namespace roper {
namespace {

/// Refuses models whose attention the pages Attention and Value mixing could not recompute from q, k and v.
void requireKnownForm(const QuestionContext& context, std::int64_t layer) {
    const Architecture& model = context.model();
    const auto refuse = [](const std::string& why) {
        throw Error(ErrorKind::usage,
                    why +
                        ", which the pages Attention and Value mixing do not draw; the page Inspect "
                        "shows its weights");
    };
    if (model.score_softcap > 0) refuse("this model caps its scores");
    if (model.family != kRoperFamily && model.hasBias() && !isUsualAlibi(model))
        refuse("this model biases its scores by other slopes than 2^(-8h/H)");
    if (model.latent.isUsed()) refuse("this model has latent attention");
    if (model.gates_heads) refuse("this model gates the outputs of its heads");
    if (model.has_sinks) refuse("the softmax of this model has a sink");
    if (model.norms_rotated && model.query_key_norm_weights)
        refuse("this model normalizes queries and keys after their rotation");
    if (model.isWindowed(layer) && std::ssize(context.ids) > model.window)
        refuse("layer " + std::to_string(layer) + " attends only to " +
               (model.chunked  ? "chunks of " + std::to_string(model.window) + " tokens"
                : model.causal ? "the last " + std::to_string(model.window) + " tokens"
                               : std::to_string(model.window - 1) + " tokens on both sides"));
    // A run of the method rotary says which tensors rotate, and the pages draw any set.
    if (!context.reader.runMetadata().contains("rotates") && model.rotatesValues() && !model.rotatesOutputs())
        refuse("values of this model are rotated but its outputs are not rotated back");
}

/// Factor of queries in addition to 1/√d [d]: a scale of the model, and the attention factor of its scaling
/// for the rotating features.
at::Tensor queryScale(const Architecture& model, std::int64_t layer, const RotaryConfig& rotation,
                      double attention_factor) {
    const std::int64_t head_dim = model.headDimOf(layer);
    const double own = model.scoreScaleOf(layer) * std::sqrt(static_cast<double>(head_dim));
    at::Tensor scale = at::full({head_dim}, own);
    for (int pair = 0; pair < rotation.pairs(); ++pair) {
        const PairFeatures features = rotation.features(pair);
        for (const int feature : {features.first, features.second})
            scale[feature] = own * attention_factor * attention_factor;
    }
    return scale;
}

/// A vector as a one-row matrix.
at::Tensor rowOf(const Eigen::VectorXd& numbers) {
    return at::tensor(std::vector<double>(numbers.begin(), numbers.end())).unsqueeze(0);
}

/// A parameter of a run as stored: [rows, numbers per row].
at::Tensor parameterOf(Decoder& decoder, const std::string& name) {
    const std::vector<std::int64_t>& shape = decoder.model().tensors->tensor(name).shape;
    return decoder.weights().matrix({name, false, shape.front(), shape.back()});
}

using Named = std::vector<std::pair<std::string, at::Tensor>>;

/// Adds the positional parameters learned by a run's head.
void addLearned(const QuestionContext& context, const QuestionContext::Head& at, Named& tensors) {
    const PretrainedModel& model = context.reader.model();
    const auto frequencies = [&](const std::vector<RotaryConfig>& rotations) -> const Eigen::VectorXd* {
        if (rotations.empty()) return nullptr;
        const RotaryConfig& rotation =
            rotations[model.architecture.rotation_of_layer[static_cast<std::size_t>(at.layer)]];
        return rotation.trained.size() > 0 ? &rotation.trained : nullptr;
    };
    if (const auto* theta = frequencies(model.architecture.rotations))
        tensors.emplace_back("theta", rowOf(*theta));
    if (const auto* theta = frequencies(model.architecture.value_rotations))
        tensors.emplace_back("value_theta", rowOf(*theta));
    if (constexpr const char* kBias = "relative_bias.weight"; model.tensors->has(kBias))
        tensors.emplace_back("bias",
                             parameterOf(context.reader.decoder(), kBias).select(1, at.head).unsqueeze(0));
    if (constexpr const char* kTable = "positions.weight"; model.tensors->has(kTable))
        tensors.emplace_back("table", parameterOf(context.reader.decoder(), kTable));
}

/// "q", "k", "v" [T, d] of one head before rotation, "tokens" [T], and the learned positional parameters of
/// the head, or its frequencies "theta" [1, pairs].
std::string vectorsOf(const QuestionContext& context) {
    requireTextLengthLimit(context);
    const QuestionContext::Head at = context.selectedHead();
    const Architecture& model = context.model();
    requireKnownForm(context, at.layer);
    const std::int64_t group = at.head * model.keyValueHeadsOf(at.layer) / model.heads;
    const RotaryConfig& rotation = model.rotationOf(at.layer);
    const ScaledFrequencies frequencies =
        rotation.rotatedWidth() > 0 ? rotation.frequenciesForLength(static_cast<double>(context.ids.size()))
                                    : ScaledFrequencies{};
    Named tensors;
    ForwardHooks recorder;
    recorder.last_layer = at.layer;
    recorder.vectors = [&](const LayerView& view) {
        if (view.layer != at.layer) return;
        tensors = {{"q", view.q.select(0, at.head) *
                             queryScale(model, at.layer, rotation, frequencies.attention_factor)},
                   {"k", view.k.select(0, group)},
                   {"v", view.v.select(0, group)}};
    };
    context.reader.hidden(context.ids, {}, recorder);
    tensors.emplace_back("tokens", at::tensor(context.ids));
    if (model.family == kRoperFamily)
        addLearned(context, at, tensors);
    else if (rotation.rotatedWidth() > 0)
        tensors.emplace_back("theta", rowOf(frequencies.theta));
    return serializeTensors(tensors, answerMetadata(context, context.ids, at.layer));
}

}  // namespace

AnswerHandler vectorsAnswer() {
    return {&vectorsOf, {}};
}

}  // namespace roper
