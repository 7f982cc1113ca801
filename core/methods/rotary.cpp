#include "core/methods/position_method.h"

namespace roper {
namespace {

std::vector<SettingProblem> checkShared(const PositionSettings& s, const ModelShape&) {
    const RotatedTensors chosen = rotatedTensorsFromName(s.specific_settings.text("rotates"));
    if (!s.shared_kv || chosen.key == chosen.value) return {};
    return {{"model.rotates",
             "with model.shared_kv, keys are also the values, so both rotate or neither does: name both k "
             "and v, as in qkv or qkvo, or neither"}};
}

}  // namespace

PositionMethod rotaryMethod() {
    PositionMethod method = methodThatRotates(kRoperTensors);
    method.name = "rotary";
    method.title = "Rotary";
    method.summary =
        "Rotates any chosen set of queries, keys and values, and outputs back; RoPE and RoPER are two such "
        "sets.";
    method.source = "Su 2025, kexue.fm/archives/10862";
    method.formula =
        "s = (R(n)q)·(R(j)k)/√d, o = R(−n) Σ a R(j)v, without the rotations that were not chosen";
    method.color = 0xe69f00;
    method.settings = {choiceSetting(
        "rotates",
        "Rotary: which of queries, keys and values rotate, and whether outputs (o) rotate back; qk is RoPE, "
        "qkvo RoPER",
        Choice{rotatedTensorsNames()}, "qkvo")};
    method.check = checkShared;
    return method;
}

}  // namespace roper
