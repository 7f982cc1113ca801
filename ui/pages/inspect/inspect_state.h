#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QTimer>
#include <map>
#include <optional>

#include "core/tasks/task.h"
#include "ui/live/model_client.h"
#include "ui/pages/inspect/head_maps.h"

namespace roper {

/// The order of heads.
enum class HeadOrder { place, entropy, distance, diagonal };

/// Problems solved of every size, as `roper-train eval --by-size` found it.
struct SizeTable {
    std::int64_t step = 0;
    QStringList names;  ///< of the two numbers of a size
    std::vector<SizeScore> scores;
};

/// The place of the step that is nearest; −1 if there is none.
int nearestStep(const std::vector<std::int64_t>& steps, std::int64_t step);
std::vector<std::int64_t> stepsOf(const std::vector<StepFile>& files);

/// What is seen of a run: its snapshots, and what its model does at a step. Maps come from the snapshots
/// that the run has left, or from the model itself for a text of the user's own.
class InspectState : public QObject {
    Q_OBJECT

  public:
    InspectState(RunStore& store, QObject* parent);
    ~InspectState() override;

    RunStore& store() { return store_; }
    const QString& run() const { return run_; }
    void setRun(const QString& name);

    /// The run's snapshots by rising step; follows a run that trains.
    const std::vector<StepFile>& snapshots() const { return snapshots_; }
    int snapshot() const { return snapshot_; }
    void showSnapshot(int index);
    void lookForSnapshots();

    /// Steps of the run's checkpoints; nothing stands for the model as it is now.
    std::vector<std::int64_t> checkpoints() const;
    void setStep(std::optional<std::int64_t> step);
    std::optional<std::int64_t> step() const { return step_; }
    /// The checkpoint of the same step as of another run, or the nearest.
    void matchStep(const InspectState& other);

    void askForMaps(const QString& text);
    void generate(const QString& prompt, int count, double temperature, std::int64_t seed);
    void askForSizes(int problems);
    void stopAskingForSizes();

    const std::shared_ptr<const HeadMaps>& maps() const { return maps_; }
    const std::optional<Continuation>& continuation() const { return continuation_; }
    const std::optional<SizeTable>& sizes() const { return sizes_; }

    /// The head that is shown large, of `maps()`.
    std::size_t head() const { return head_; }
    void setHead(std::size_t head);
    HeadOrder order() const { return order_; }
    void setOrder(HeadOrder order);
    /// Indices of the heads in that order.
    std::vector<std::size_t> ordered() const;

    bool isAsking() const { return asking_; }
    bool isCountingSizes() const { return sizes_process_ != nullptr; }
    /// Whether the maps are those of a snapshot, not of a text of the user's own.
    bool showsSnapshot() const { return shows_snapshot_; }
    /// Why there is nothing to see, or what is being done; empty if all is well.
    const QString& message() const { return message_; }

  signals:
    void runChanged();
    void snapshotsChanged();
    void checkpointsChanged();
    void mapsChanged();
    void continuationChanged();
    void sizesChanged();
    void headChanged();
    void messageChanged();

  private:
    void take(const ModelQuestion& question, const QByteArray& payload);
    void takeSizes();
    void say(const QString& message);
    std::shared_ptr<const HeadMaps> readSnapshot(const StepFile& file);

    RunStore& store_;
    ModelClient client_;
    QString run_, message_;
    std::vector<StepFile> snapshots_;
    std::map<std::int64_t, std::shared_ptr<const HeadMaps>> read_;  ///< snapshots by step
    std::vector<std::int64_t> seen_checkpoints_;
    int snapshot_ = -1;
    std::optional<std::int64_t> step_;
    std::shared_ptr<const HeadMaps> maps_;
    std::optional<Continuation> continuation_;
    std::optional<SizeTable> sizes_;
    std::size_t head_ = 0;
    HeadOrder order_ = HeadOrder::place;
    bool asking_ = false, shows_snapshot_ = false;
    QPointer<QProcess> sizes_process_;
    QTimer timer_;
};

}  // namespace roper
