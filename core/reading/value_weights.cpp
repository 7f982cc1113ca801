#include "core/reading/value_weights.h"

#include "core/base/error.h"
#include "core/reading/head_observer.h"

namespace roper {

Rotary valueRotation(const Architecture& model, std::int64_t layer) {
    if (model.value_rotations.empty()) return {static_cast<int>(model.headDimOf(layer)), Pairing::half, {}};
    return model.value_rotations[model.rotation_of_layer[static_cast<std::size_t>(layer)]].rotationForLength(
        static_cast<double>(model.context));
}

ValueWeights::ValueWeights(Decoder& decoder, std::int64_t layer)
    : model_(decoder.architecture()), rotation_(valueRotation(model_, layer)) {
    const std::pair<bool, const char*> obstacles[] = {
        {model_.latent.isUsed(),
         "latent attention normalizes values between two linear layers, so a head has no OV circuit"},
        {model_.rotatesValues() && !model_.rotatesOutputs(),
         "values of this model are rotated by their positions and its outputs are not rotated back: what "
         "a head adds depends on the position of the token, not on its distance, so a head has no "
         "OV circuit by distance"},
        {model_.rotatesOutputs() && !model_.rotatesValues(),
         "outputs of this model are rotated by their positions, but its values are not: what a "
         "head adds depends on the position of the query, so a head has no OV circuit by distance"},
        {model_.shared_kv && model_.query_key_norms != QueryKeyNorms::none,
         "values of this model are its keys, which are normalized, so a head has no OV circuit"},
        {model_.norms_values, "heads of this model normalize their values, so they have no OV circuit"},
        {model_.gates_heads,
         "this model gates the outputs of its heads by each token, so they have no OV circuit"},
        {model_.norms_inner,
         "this model normalizes the values that its heads have mixed, so a head has no OV circuit"}};
    for (const auto& [exists, why] : obstacles)
        if (exists) throw Error(ErrorKind::usage, why);
    const BlockWeights& block = decoder.model().weights.blocks[static_cast<std::size_t>(layer)];
    output_ = decoder.outputMatrix(layer);
    value_ = decoder.weights().matrix(block.value.weight);
}

Eigen::MatrixXd ValueWeights::output(std::int64_t head) const {
    return matrixOf(output_.narrow(1, head * model_.head_dim, model_.head_dim));
}

Eigen::MatrixXd ValueWeights::value(std::int64_t head) const {
    const std::int64_t group = head * model_.key_value_heads / model_.heads;
    return matrixOf(value_.narrow(0, group * model_.head_dim, model_.head_dim));
}

}  // namespace roper
