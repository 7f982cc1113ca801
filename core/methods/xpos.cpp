#include <cmath>

#include "core/methods/position_method.h"
#include "core/rotary/position_bias.h"

namespace roper {
namespace {

/// Powers of ζ up to n/512 must stay within the range of float32: (2/7)^(±64) is 10^(∓35).
constexpr std::int64_t kMaxLength = 32768;

}  // namespace

PositionMethod xposMethod() {
    PositionMethod method = methodThatRotates();
    method.name = "xpos";
    method.title = "xPos";
    method.summary =
        "Like RoPE, but each pair's part of a score also decays with distance, fast pairs most, so that "
        "distant scores fluctuate less.";
    method.source = "Sun et al. 2022";
    method.formula =
        "s = (ζ<sup>n/512</sup>R(n)q)·(ζ<sup>−j/512</sup>R(j)k)/√d, ζ<sub>i</sub> = (2i/d + 0.4)/1.4";
    method.extrapolation =
        "distant scores fade, so long texts are read mainly through nearby tokens; frequencies can be scaled "
        "too";
    method.color = 0x00838f;
    method.max_length = [](const PositionSettings&, const ModelShape&) { return kMaxLength; };
    method.limit_text = "uses xPos, whose powers of ζ stay within float32 for";
    method.advice_for_longer = "use another method";
    method.check = [](const PositionSettings& s, const ModelShape& shape) {
        std::vector<SettingProblem> problems;
        if (s.shared_kv)
            problems.push_back({"model.shared_kv",
                                "xPos scales keys by their positions, and shared values would be scaled "
                                "with them: use rope or roper, or set shared_kv to 0"});
        if (!shape.causal)
            problems.push_back(
                {"model.position",
                 "xPos scores decay with the distance to keys before the query; for keys after it "
                 "they would grow, so it needs training.objective = causal"});
        if (shape.length > kMaxLength)
            problems.push_back(
                {"training.length", "xPos reads at most " + std::to_string(kMaxLength) + " tokens"});
        return problems;
    };
    method.decay = [](int pair, int pairs, double position, bool is_query) {
        return std::pow(xposBase(pair, pairs), (is_query ? position : -position) / kXposScaleBase);
    };
    return method;
}

}  // namespace roper
