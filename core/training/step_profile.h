#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roper {

/// What the time of a training step goes into.
enum class StepPart { linear, attention, elementwise, optimizer, data, other };
inline constexpr std::size_t kStepParts = 6;

/// "linear", "attention", …
const char* partName(StepPart part);

/// Scopes that name a part of a step, for RECORD_USER_SCOPE.
inline constexpr const char *kOptimizerScope = "roper::optimizer", *kDataScope = "roper::data";

/// Seconds by part of what this thread does while the object lives, as LibTorch's own operations report
/// themselves: each second counts for the innermost operation. What no operation covers is not in it.
class StepProfile {
  public:
    StepProfile();
    ~StepProfile();
    StepProfile(const StepProfile&) = delete;
    StepProfile& operator=(const StepProfile&) = delete;

    std::array<double, kStepParts> seconds() const;

  private:
    std::uint64_t handle_;
};

}  // namespace roper
