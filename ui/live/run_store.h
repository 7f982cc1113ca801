#pragma once

#include <QHash>
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/compare/outcome.h"
#include "ui/live/run_watcher.h"

namespace roper {

/// The runs of a folder, added and removed as their folders appear and disappear. Runs in training are polled
/// often, others occasionally.
class RunStore : public QObject {
    Q_OBJECT

  public:
    RunStore(std::filesystem::path runs, QObject* parent);

    const std::filesystem::path& folder() const { return runs_; }
    std::vector<RunWatcher*> runs() const;
    RunWatcher* find(const QString& name) const;

    /// Looks for new and removed runs now, and reads new data of runs not in training.
    void refresh();

    /// Like `refresh`, but reads every run completely. For figures; the window reads long runs in parts.
    void readAll();

    /// Display name of a run ("Copy · RoPER · seed 0", `displayNames` of all runs of the folder) or published
    /// model ("owner/model"). For a run that cannot be read or does not exist, the name of its folder.
    /// @param model  name of the run's folder, or path of the model
    QString titleOf(const QString& model) const;

  signals:
    void runAdded(roper::RunWatcher* run);
    void runRemoved(const QString& name);
    /// Emitted when anything about any run has changed.
    void changed();
    /// Emitted after runs were added or removed, or have other titles; once for several.
    void titlesChanged();

  private:
    void scan();
    void pollActive();
    void pollIdle();
    using Titles = QHash<QString, QString>;  ///< display names of runs, by name of the folder
    const Titles& titles() const;
    void forgetTitles();
    void announceTitles();

    std::filesystem::path runs_;
    std::map<QString, RunWatcher*> watchers_;
    mutable std::optional<Titles> titles_;  ///< nothing: to be computed
    Titles announced_titles_;               ///< at the last `titlesChanged`
    QTimer active_timer_, idle_timer_, titles_timer_;
};

/// Record of a run for comparisons; nothing if its specification cannot be read. Valid until the run is
/// polled.
std::optional<RunRecord> recordOf(const RunWatcher& run);
/// The same for a run that may be missing.
inline std::optional<RunRecord> recordOf(const RunWatcher* run) {
    return run != nullptr ? recordOf(*run) : std::nullopt;
}

/// Records of runs, or of all in a store; those whose specification cannot be read are left out.
template <class Runs>
std::vector<RunRecord> recordsOf(const Runs& runs) {
    std::vector<RunRecord> records;
    for (const RunWatcher* run : runs)
        if (auto record = recordOf(*run)) records.push_back(std::move(*record));
    return records;
}
inline std::vector<RunRecord> recordsOf(const RunStore& store) {
    return recordsOf(store.runs());
}

/// Name of a run's twin (`findTwin`); empty if there is none.
QString twinNameOf(const RunStore& store, const QString& run);

}  // namespace roper
