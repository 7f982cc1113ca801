#include "core/methods/position_method.h"
#include "core/rotary/position_bias.h"

namespace roper {
namespace {

std::vector<SettingProblem> checkBuckets(const PositionSettings& s, const ModelShape&) {
    const std::int64_t exact = s.specific_settings.integer("bias_buckets") / 2;
    if (s.specific_settings.integer("bias_distance") > exact) return {};
    return {{"model.bias_distance",
             "the first half of the buckets has one distance each, so this must be above " +
                 std::to_string(exact)}};
}

}  // namespace

PositionMethod t5Method() {
    PositionMethod method;
    method.name = "t5";
    method.title = "T5 bias";
    method.summary = "A learned number for each bucket of distances is added to the scores of a head.";
    method.source = "Raffel et al. 2020";
    method.formula =
        "s = q·k/√d + bias(bucket of n − j): a learned number per bucket, drawn from the seed unless a run "
        "has learned it";
    method.extrapolation = "all distances from bias_distance on share the last bucket";
    method.color = 0x6b8e23;
    method.settings = {
        integerSetting("bias_buckets", "buckets",
                       "T5: buckets of distances, each with one bias per head, shared by all layers",
                       {4, 4096}, 32),
        integerSetting("bias_distance", "positions", "T5: distances from here on share the last bucket",
                       {3, 1048576}, 128)};
    method.biases_scores = true;
    method.trains_bias = true;
    method.check = checkBuckets;
    method.parameters = [](const PositionSettings& s, const ModelShape& shape) {
        return s.specific_settings.integer("bias_buckets") * shape.heads;
    };
    method.bias = [](const HeadContext& head) {
        const int farthest = static_cast<int>(head.specific_settings.integer("bias_distance"));
        return [head, farthest](int distance) {
            const auto buckets = static_cast<int>(head.learned_bias.size());
            return head.learned_bias[t5Bucket(distance, !head.causal, buckets, farthest)];
        };
    };
    return method;
}

}  // namespace roper
