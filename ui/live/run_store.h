#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <map>
#include <vector>

#include "ui/live/run_watcher.h"

namespace roper {

/// The runs of a folder, found when they appear and forgotten when they go. Runs that train are read often,
/// the others now and then.
class RunStore : public QObject {
    Q_OBJECT

  public:
    RunStore(std::filesystem::path runs, QObject* parent);

    const std::filesystem::path& folder() const { return runs_; }
    std::vector<RunWatcher*> runs() const;
    RunWatcher* find(const QString& name) const;

    /// Looks for new and removed runs now, and reads a part of each.
    void refresh();

    /// The same, and reads every run to its end. For pictures; a window reads long runs part by part.
    void readAll();

  signals:
    void runAdded(roper::RunWatcher* run);
    void runRemoved(const QString& name);
    /// Anything about any run is different.
    void changed();

  private:
    void scan();
    void pollActive();
    void pollIdle();

    std::filesystem::path runs_;
    std::map<QString, RunWatcher*> watchers_;
    QTimer active_timer_, idle_timer_;
};

}  // namespace roper
