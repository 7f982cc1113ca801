#include "ui/pages/inspect/snapshots.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

int nearestStep(const std::vector<std::int64_t>& steps, std::int64_t step) {
    const auto found =
        std::ranges::min_element(steps, {}, [step](std::int64_t one) { return std::abs(one - step); });
    return found == steps.end() ? -1 : static_cast<int>(found - steps.begin());
}

std::vector<std::int64_t> stepsOf(const std::vector<StepFile>& files) {
    return mapped(files, &StepFile::step);
}

bool Snapshots::list(const RunFolder& folder) {
    const auto listed = folder.snapshotsIfReadable();
    if (!listed) return false;
    const bool same =
        listed->size() == files_.size() && (listed->empty() || listed->back().step == files_.back().step);
    if (same) return false;
    const bool at_end = shown_ < 0 || shown_ + 1 >= count();
    files_ = *listed;
    if (at_end) show(count() - 1);
    return true;
}

std::shared_ptr<const HeadMaps> Snapshots::read(const StepFile& file) {
    // Caches snapshots up to these limits, so that dragging the slider reads each file once.
    constexpr std::size_t kMaxCached = 64;
    constexpr std::size_t kMaxWeights = 32U << 20U;        // attention weights in the cache
    constexpr std::uint64_t kMaxSnapshotSize = 1U << 30U;  // bytes of a file
    const bool is_large =
        maps_ && maps_->count() * maps_->text.size() * maps_->text.size() * read_.size() > kMaxWeights;
    if (read_.size() >= kMaxCached || is_large) read_.clear();
    auto& read = read_[file.step];
    if (!read)
        read = std::make_shared<const HeadMaps>(
            readHeadMaps(SafetensorsFile::read(file.path, kMaxSnapshotSize)));
    return read;
}

void Snapshots::show(int index) {
    if (index < 0 || index >= count()) return;
    shown_ = index;
    problem_.clear();
    try {
        maps_ = read(files_[static_cast<std::size_t>(index)]);
    } catch (const Error& error) {
        maps_.reset();
        problem_ = QString::fromStdString(error.what());
    }
}

}  // namespace roper
