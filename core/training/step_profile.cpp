#include "core/training/step_profile.h"

#include <ATen/record_function.h>

#include <chrono>
#include <string_view>
#include <vector>

namespace roper {
namespace {

using Clock = std::chrono::steady_clock;

/// An operation in progress.
struct Frame {
    StepCategory part;
    bool whole;  ///< all nested operations belong to this part
    Clock::time_point began;
    double within = 0;  ///< seconds of nested operations
};

struct Recording {
    std::vector<Frame> frames;
    std::array<double, kStepCategories> seconds{};
};
thread_local Recording recording;

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

Frame frameOf(std::string_view name) {
    if (!recording.frames.empty() && recording.frames.back().whole)
        return {recording.frames.back().part, true, {}, 0};
    if (name == kOptimizerScope) return {StepCategory::optimizer, true, {}, 0};
    if (name == kDataScope) return {StepCategory::data, true, {}, 0};
    for (const char* word :
         {"ttention" /* also Attention */, "RotateFunction", "CausalProduct", "roper::rotate"})
        if (contains(name, word)) return {StepCategory::attention, true, {}, 0};
    if (contains(name, "linear: ")) return {StepCategory::linear, true, {}, 0};
    for (const char* product : {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear"})
        if (name == product) return {StepCategory::linear, false, {}, 0};
    return {StepCategory::elementwise, false, {}, 0};
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    Frame frame = frameOf(function.name());
    frame.began = Clock::now();
    recording.frames.push_back(frame);
    return nullptr;
}

void end(const at::RecordFunction&, at::ObserverContext*) {
    if (recording.frames.empty()) return;
    const Frame frame = recording.frames.back();
    recording.frames.pop_back();
    const double all = std::chrono::duration<double>(Clock::now() - frame.began).count();
    recording.seconds[static_cast<std::size_t>(frame.part)] += all - frame.within;
    if (!recording.frames.empty()) recording.frames.back().within += all;
}

}  // namespace

const char* categoryName(StepCategory part) {
    static constexpr std::array kNames = {"linear", "attention", "elementwise", "optimizer", "data", "other"};
    static_assert(kNames.size() == kStepCategories);
    return kNames[static_cast<std::size_t>(part)];
}

StepProfile::StepProfile() {
    recording = {};
    handle_ =
        at::addThreadLocalCallback(at::RecordFunctionCallback(begin, end)
                                       .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                                                at::RecordScope::USER_SCOPE}));
}

StepProfile::~StepProfile() {
    at::removeCallback(handle_);
}

std::array<double, kStepCategories> StepProfile::seconds() const {
    return recording.seconds;
}

}  // namespace roper
