#include "core/reading/run_model.h"

#include "core/base/text.h"
#include "core/pretrained/family.h"

namespace roper {
namespace {

/// The rotations of all layers: one if frequencies are fixed, one per layer if they were trained.
/// @param name  of the trained frequencies: "query_key_frequencies"
std::vector<RotaryConfig> rotationsOf(const Specification& s, const TensorStore& tensors,
                                      RotaryConfig rotation, const std::string& name) {
    const int pairs = rotation.pairs();
    if (!s.model.trainsFrequencies() || pairs == 0) return {rotation};
    std::vector<RotaryConfig> of_layers;
    for (std::int64_t layer = 0; layer < s.model.layers; ++layer) {
        const std::vector<float> theta =
            readVector(tensors, {"blocks." + std::to_string(layer) + ".attention." + name, pairs});
        rotation.trained = Eigen::Map<const Eigen::VectorXf>(theta.data(), pairs).cast<double>();
        of_layers.push_back(rotation);
    }
    return of_layers;
}

void describeRotations(const Specification& s, const TensorStore& tensors, Architecture& model) {
    const RotatedTensors rotated = s.model.rotatedTensors();
    const std::int64_t d = model.head_dim;
    model.rotated = rotated;
    model.rotations = rotationsOf(s, tensors, s.model.rotation(d), "query_key_frequencies");
    if (rotated.anyOfValues())
        model.value_rotations = s.model.shared_kv
                                    ? model.rotations
                                    : rotationsOf(s, tensors, s.model.valueRotation(d), "value_frequencies");
    // A layer has the same index in both lists.
    const bool some_do_not_rotate = s.model.no_rotation_every > 0;
    const auto layers = static_cast<std::size_t>(model.layers);
    const std::size_t kinds =
        some_do_not_rotate ? layers : std::max(model.rotations.size(), model.value_rotations.size());
    model.rotations.resize(kinds, model.rotations.front());
    if (rotated.anyOfValues()) model.value_rotations.resize(kinds, model.value_rotations.front());
    for (std::size_t layer = 0; layer < layers; ++layer) {
        model.rotation_of_layer.push_back(kinds == 1 ? 0 : layer);
        if (s.model.rotatesIn(static_cast<std::int64_t>(layer))) continue;
        model.rotations[layer] = unrotatedConfig(d);
        if (rotated.anyOfValues()) model.value_rotations[layer] = unrotatedConfig(d);
    }
    model.decay = s.model.method().decay;
}

void describeBias(const Specification& s, const TensorStore& tensors, Architecture& model) {
    const PositionMethod& method = s.model.method();
    if (!method.bias) return;
    Eigen::MatrixXf trained;  // [heads, buckets]
    if (method.trains_bias) {
        constexpr const char* kName = "relative_bias.weight";
        const std::int64_t buckets = tensors.tensor(kName).count() / model.heads;
        const std::vector<float> numbers = readMatrix(tensors, {kName, false, buckets, model.heads});
        trained = Eigen::Map<const Eigen::MatrixXf>(numbers.data(), model.heads, buckets);
    }
    for (int head = 0; head < static_cast<int>(model.heads); ++head) {
        HeadContext context{head, static_cast<int>(model.heads), model.causal};
        if (method.trains_bias) context.learned_bias = trained.row(head).cast<double>();
        context.specific_settings = s.model.specific_settings;
        model.head_bias.push_back(method.bias(context));
    }
}

}  // namespace

PretrainedModel convertRunModel(const Specification& s, std::shared_ptr<const TensorStore> tensors,
                                const std::string& name) {
    Architecture model;
    model.family = kRoperFamily;
    model.vocabulary = tensors->tensor("embedding.weight").shape.front();
    model.width = s.model.width;
    model.layers = s.model.layers;
    const HeadLayout layout = s.headLayout();
    model.heads = layout.heads;
    model.key_value_heads = layout.kv_heads;
    model.head_dim = layout.head_dim;
    model.shared_kv = layout.shared_kv;
    model.feed_forward = s.model.feed_forward;
    model.context = s.inputLength();
    model.norm = s.isModern() ? NormKind::rms : NormKind::layer;
    model.gated = s.isModern();
    model.activation = s.isModern()                   ? Activation::silu
                       : s.model.activation == "relu" ? Activation::relu
                                                      : Activation::gelu;
    model.post_norm = s.model.norm == "post";
    model.causal = !s.isMasked();
    model.predicts_masked = s.isMasked();
    model.attention = enumFromName<AttentionKind>(s.model.attention);
    model.learned_positions = tensors->has("positions.weight");
    if (model.learned_positions) model.context = tensors->tensor("positions.weight").shape.front();
    if (s.model.position == "sinusoidal") model.sinusoids = s.model.base;
    if (s.model.qk_norm) {
        model.query_key_norms = QueryKeyNorms::shared_weights;
        model.query_key_norm_biases = false;
    }
    if (s.model.latent_rank > 0) {
        model.latent.rank = s.model.latent_rank;
        model.value_dim = layout.head_dim;
        model.latent.rotated = s.model.rotation(layout.head_dim).rotatedWidth();
    }
    model.has_sinks = s.model.attention_sinks;
    if (s.model.window > 0) {
        model.window = s.model.window;
        model.windowed.assign(static_cast<std::size_t>(model.layers), true);
    }
    describeRotations(s, *tensors, model);
    // `Decoder` computes latent attention with the rotating features first.
    if (model.latent.isUsed())
        for (RotaryConfig& rotation : model.rotations)
            rotation.rotated_part = RotatedPart::first;
    describeBias(s, *tensors, model);
    ModelWeights weights = locateWeights(*tensors, Naming::hugging_face, model);
    std::vector<std::string> notes;
    if (s.model.value_rotation_strength != 1)
        notes.push_back("the frequencies of values and outputs are multiplied by " +
                        formatNumber(s.model.value_rotation_strength));
    return {name,
            FilePath(tensors->pathOfFile(0)),
            std::move(model),
            std::move(weights),
            tensors,
            nullptr,
            std::move(notes)};
}

PretrainedModel openRunModel(const RunFolder& run, std::optional<std::int64_t> step) {
    const StepFile checkpoint = chooseCheckpoint(run, step);
    auto tensors = std::make_shared<TensorStore>();
    addSafetensors(checkpoint.path, *tensors);
    return convertRunModel(withoutUnused(run.specification()).afterSteps(checkpoint.step), tensors,
                           run.name());
}

}  // namespace roper
