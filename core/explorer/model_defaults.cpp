#include "core/explorer/model_defaults.h"

#include <algorithm>
#include <iterator>

namespace roper {
namespace {

constexpr ModelDefaults kOfModels[] = {
#include "core/explorer/model_defaults.inc"
};
constexpr ModelDefaults kCommon = {"", false, 0, 10000, 0, 1};

}  // namespace

const ModelDefaults& modelDefaults(const std::string& model_type) {
    const auto* found = std::find_if(std::begin(kOfModels), std::end(kOfModels),
                                     [&](const ModelDefaults& one) { return one.model_type == model_type; });
    return found == std::end(kOfModels) ? kCommon : *found;
}

}  // namespace roper
