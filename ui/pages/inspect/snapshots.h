#pragma once

#include <QString>
#include <map>
#include <memory>
#include <vector>

#include "core/runs/run_folder.h"
#include "ui/pages/inspect/head_maps.h"

namespace roper {

/// Index of the nearest step; −1 if there are none.
int nearestStep(const std::vector<std::int64_t>& steps, std::int64_t step);
std::vector<std::int64_t> stepsOf(const std::vector<StepFile>& files);

/// The snapshots of a run by ascending step, and the one that is shown.
class Snapshots {
  public:
    /// Lists the snapshots again. The newest is shown, unless the user is looking at an older one.
    /// @returns whether the list has changed
    bool list(const RunFolder& folder);
    const std::vector<StepFile>& files() const { return files_; }
    int count() const { return static_cast<int>(files_.size()); }

    /// Index of the snapshot that is shown; −1: none.
    int shown() const { return shown_; }
    void show(int index);
    /// Attention of all heads in that snapshot; null if it could not be read.
    const std::shared_ptr<const HeadMaps>& maps() const { return maps_; }
    /// Why that snapshot could not be read; empty without an error.
    const QString& problem() const { return problem_; }

  private:
    std::shared_ptr<const HeadMaps> read(const StepFile& file);

    std::vector<StepFile> files_;
    std::map<std::int64_t, std::shared_ptr<const HeadMaps>> read_;  ///< cache, by step
    int shown_ = -1;
    std::shared_ptr<const HeadMaps> maps_;
    QString problem_;
};

}  // namespace roper
