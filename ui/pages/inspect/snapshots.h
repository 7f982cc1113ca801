#pragma once

#include <QString>
#include <map>
#include <memory>
#include <vector>

#include "core/runs/run_folder.h"
#include "ui/pages/inspect/head_maps.h"

namespace roper {

/// The place of the step that is nearest; −1 if there is none.
int nearestStep(const std::vector<std::int64_t>& steps, std::int64_t step);
std::vector<std::int64_t> stepsOf(const std::vector<StepFile>& files);

/// The snapshots of a run by rising step, and the one that is shown.
class Snapshots {
  public:
    /// Lists them again. The newest is shown as it comes, unless an older one is being looked at.
    /// @returns whether there are others than before
    bool list(const RunFolder& folder);
    const std::vector<StepFile>& files() const { return files_; }
    int count() const { return static_cast<int>(files_.size()); }

    /// −1: none.
    int shown() const { return shown_; }
    void show(int index);
    /// What heads do in it; null if it could not be read.
    const std::shared_ptr<const HeadMaps>& maps() const { return maps_; }
    /// Why it could not be; empty if all is well.
    const QString& problem() const { return problem_; }

  private:
    std::shared_ptr<const HeadMaps> read(const StepFile& file);

    std::vector<StepFile> files_;
    std::map<std::int64_t, std::shared_ptr<const HeadMaps>> read_;  ///< by step
    int shown_ = -1;
    std::shared_ptr<const HeadMaps> maps_;
    QString problem_;
};

}  // namespace roper
