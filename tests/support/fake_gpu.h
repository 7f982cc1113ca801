#pragma once

#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/operators/gpu.h"
#include "core/operators/rotary_operator.h"

namespace roper {

/// Fails the test for operations that cannot be captured on a GPU, because the host would have to wait for
/// their result. Operations inside LibTorch's AdamW are exempt, because there they are a single kernel.
class CaptureChecker {
  public:
    CaptureChecker()
        : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(&begin, &end).needsIds(true))) {}
    ~CaptureChecker() { at::removeCallback(handle_); }
    CaptureChecker(const CaptureChecker&) = delete;
    CaptureChecker& operator=(const CaptureChecker&) = delete;

  private:
    struct Inside final : at::ObserverContext {};

    static inline thread_local int inside_update_ = 0;

    static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& operation) {
        static const std::set<std::string> kSynchronizing = {"aten::_local_scalar_dense", "aten::nonzero",
                                                             "aten::is_nonzero", "aten::equal"};
        const std::string name = operation.name();
        if (name == "aten::_fused_adamw_") {
            ++inside_update_;
            return std::make_unique<Inside>();
        }
        EXPECT_TRUE(inside_update_ > 0 || kSynchronizing.count(name) == 0) << name << " waits for the device";
        return nullptr;
    }

    static void end(const at::RecordFunction&, at::ObserverContext* context) {
        if (dynamic_cast<Inside*>(context) != nullptr) --inside_update_;
    }

    at::CallbackHandle handle_;
};

/// A simulated GPU whose work is done by the CPU. Replaying a graph repeats the captured work; captures are
/// checked by CaptureChecker.
class FakeGpu : public Gpu, public std::enable_shared_from_this<FakeGpu> {
  public:
    using Rotator = std::function<void(const std::vector<HeadRotation>&, Pairing, Direction)>;

    /// @param rotator   rotates heads; if empty, the CPU's implementation is used
    /// @param captures  false: captures are refused
    explicit FakeGpu(Rotator rotator = {}, bool captures = true)
        : rotator_(std::move(rotator)), captures_(captures) {}

    int replays = 0;

    c10::DeviceType deviceType() const override { return c10::kCPU; }
    std::string name() const override { return "pretended"; }
    Memory memory() const override { return {1e9, 2e9}; }
    bool multipliesBFloat16() const override { return false; }

    void rotate(const std::vector<HeadRotation>& parts, Pairing pairing, Direction direction) override {
        if (rotator_) return rotator_(parts, pairing, direction);
        const auto self = shared_from_this();
        useGpu(nullptr);
        for (const HeadRotation& part : parts)
            at::Tensor(part.to).copy_(roper::rotate(part.from, part.cosine, part.sine, pairing, direction));
        useGpu(self);
    }

    std::unique_ptr<CapturedWork> capture(const std::function<void()>& work) override {
        TORCH_CHECK(captures_, "an operation cannot be captured");
        struct ReplayedWork final : CapturedWork {
            ReplayedWork(std::function<void()> what, int& count) : work(std::move(what)), replays(count) {}
            void replay() override {
                ++replays;
                const CaptureChecker rules;
                work();
            }
            std::function<void()> work;
            int& replays;
        };
        return std::make_unique<ReplayedWork>(work, replays);
    }

    std::string uuid() const override { return "pretended"; }
    std::string createGroupId() const override { return "group"; }
    std::unique_ptr<GpuGroup> join(const std::string& /*group*/, int /*rank*/, int /*size*/) const override {
        TORCH_CHECK(false, "a pretended GPU joins no others");
    }

  private:
    Rotator rotator_;
    bool captures_;
};

/// Registers a GPU for as long as this object lives.
class ScopedGpu {
  public:
    explicit ScopedGpu(std::shared_ptr<Gpu> used) { useGpu(std::move(used)); }
    ~ScopedGpu() { useGpu(nullptr); }
    ScopedGpu(const ScopedGpu&) = delete;
    ScopedGpu& operator=(const ScopedGpu&) = delete;
};

}  // namespace roper
