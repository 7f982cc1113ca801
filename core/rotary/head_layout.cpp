#include "core/rotary/head_layout.h"

#include <algorithm>
#include <stdexcept>

namespace roper {

const std::vector<std::string>& rotatedTensorsNames() {
    static const std::vector<std::string> names = {"qk", "qkvo", "k",  "vo", "qkv", "q",   "v",  "o",
                                                   "qv", "qo",   "kv", "ko", "qko", "qvo", "kvo"};
    return names;
}

RotatedTensors rotatedTensorsFromName(const std::string& name) {
    const std::vector<std::string>& names = rotatedTensorsNames();
    if (std::ranges::find(names, name) == names.end())
        throw std::invalid_argument("no set of rotated tensors is called " + name);
    const auto has = [&](char letter) { return name.find(letter) != std::string::npos; };
    return {has('q'), has('k'), has('v'), has('o')};
}

std::string nameOf(const RotatedTensors& rotated) {
    return std::string(rotated.query ? "q" : "") + (rotated.key ? "k" : "") + (rotated.value ? "v" : "") +
           (rotated.output ? "o" : "");
}

}  // namespace roper
