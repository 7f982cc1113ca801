#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roper {

/// Categories of the time of a training step.
enum class StepCategory { linear, attention, elementwise, optimizer, data, other };
inline constexpr std::size_t kStepCategories = 6;

/// "linear", "attention", …
const char* categoryName(StepCategory part);

/// Scopes that name a part of a step, for RECORD_USER_SCOPE.
inline constexpr const char *kOptimizerScope = "roper::optimizer", *kDataScope = "roper::data";

/// Measures the time of this thread by category during the object's lifetime, based on LibTorch's record
/// functions: time is attributed to the innermost operation. Time outside operations is not included.
class StepProfile {
  public:
    StepProfile();
    ~StepProfile();
    StepProfile(const StepProfile&) = delete;
    StepProfile& operator=(const StepProfile&) = delete;

    std::array<double, kStepCategories> seconds() const;  ///< indexed by `StepCategory`

  private:
    std::uint64_t handle_;
};

}  // namespace roper
