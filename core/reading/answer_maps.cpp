#include <ATen/ATen.h>

#include "core/reading/answers.h"
#include "core/reading/model_facts.h"
#include "core/reading/sent_tensors.h"

namespace roper {
namespace {

/// "attention" [L, H, T, T] and "tokens" [T].
std::string sentMaps(const Asked& asked) {
    requireShort(asked);
    const std::int64_t T = std::ssize(asked.ids);
    requireRoomForMaps(asked, T, T);
    return sentTensors({{"attention", mapsOf(asked, asked.ids, T)}, {"tokens", at::tensor(asked.ids)}},
                       factsOf(asked, asked.ids, 0));
}

}  // namespace

Answering mapsAnswer() {
    return {&sentMaps, {}};
}

}  // namespace roper
