#pragma once

#include <QObject>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ui/live/model_client.h"
#include "ui/pages/inspect/needs.h"
#include "ui/pages/inspect/snapshots.h"
#include "ui/pages/inspect/solved_sizes.h"

namespace roper {

/// A model, published or trained here, a text, what is done to the model, and what it answers. Asks for what
/// is needed and not known yet, one question after the other, and never waits. Of a run also the snapshots
/// that it left, and how many problems it solves.
class InspectState : public QObject {
    Q_OBJECT

  public:
    InspectState(RunStore& store, QObject* parent);

    RunStore& store() { return store_; }
    /// The name of a run, or the absolute path of a published model; empty: none.
    const QString& model() const { return model_; }
    /// Null: it is a published one, or there is none.
    const RunWatcher* run() const { return store_.find(model_); }
    /// @param step  of a run's checkpoint; its newest unless it is given
    void setModel(const QString& model, std::optional<std::int64_t> step = std::nullopt);
    /// The step of the run's checkpoint that is read.
    std::optional<std::int64_t> step() const { return step_; }
    /// The one that was chosen; nothing: the newest.
    std::optional<std::int64_t> chosenStep() const { return chosen_step_; }
    void setStep(std::optional<std::int64_t> step);
    /// Chooses the checkpoint of the same step as of another run, or the nearest.
    void matchStep(const InspectState& other);
    /// Steps of the run's checkpoints.
    std::vector<std::int64_t> checkpoints() const;
    /// Its name as people read it, and its colour: a run's is that of its method, as everywhere.
    QString title() const;
    QColor color(const Theme& theme) const;
    const QString& text() const { return text_; }
    void setText(const QString& text);
    const ModelChange& change() const { return change_; }
    void setChange(const ModelChange& change);
    int layer() const { return layer_; }
    int head() const { return head_; }
    /// Kept within the model, where it is known.
    void setHead(int layer, int head);

    /// How far back the token of the token map is.
    int distance() const { return distance_; }
    void setDistance(int distance);

    /// What is asked for whenever it is not known; replaces what was wanted before.
    void setNeeds(std::vector<const Need*> needs);
    /// Asks for what is not asked for by itself, or once more. The text, unless the need brings its own, the
    /// change and the head are those of this state.
    void request(const Need& what, const Question& question = {});
    /// What is being answered is given up, and what was requested with it.
    void cancel();

    /// What is known of this model, text and change; null until it is.
    template <class Answer>
    std::shared_ptr<const Answer> shared(const NeedOf<Answer>& what) const {
        const auto found = entries_.find(what.name);
        return found == entries_.end() ? nullptr
                                       : std::static_pointer_cast<const Answer>(found->second.answer);
    }
    template <class Answer>
    const Answer* answer(const NeedOf<Answer>& what) const {
        return shared(what).get();
    }
    const ModelSummary* summary() const { return answer(need::model); }
    /// Of the chosen head; null where there is none.
    const HeadReport* report() const { return report(layer_, head_); }
    const HeadReport* report(int layer, int head) const;

    /// How much a head looks back for what followed the last time, 0 to 1, and how much it copies, −1 to 1;
    /// nothing where it is not known.
    std::optional<double> inductionScore(int layer, int head) const;
    std::optional<double> copyingScore(int layer, int head) const;

    const Snapshots& snapshots() const { return snapshots_; }
    void showSnapshot(int index);
    /// The maps become those of the text, as the model reads it now, rather than those of the snapshot.
    void readMaps();
    bool readsMaps() const { return reads_maps_; }
    /// What all heads do with the snapshot's text, or with this one; null while it is not known.
    std::shared_ptr<const HeadMaps> maps() const {
        return reads_maps_ ? shared(need::maps) : snapshots_.maps();
    }

    SolvedSizes& sizes() { return sizes_; }
    const SolvedSizes& sizes() const { return sizes_; }
    /// At the step that is chosen.
    void countSizes(int problems) { sizes_.count(run(), chosen_step_, problems); }

    bool isAsking() const { return asking_ != nullptr; }
    /// Whether this is being answered, or will be.
    bool isAsking(const Need& what) const;
    /// What is being answered, in words, and how far it is, 0 to 1; negative: not known.
    QString work() const;
    double progress() const { return progress_; }
    /// Why there is no answer; empty if all is well.
    const QString& message() const { return message_; }
    /// What a picture says in the place of an answer that it waits for.
    /// @param otherwise  where nothing is asked
    QString instead(const QString& otherwise) const;
    /// Seconds and bytes that reading the text takes, as estimated; empty while the model is not known.
    struct Cost {
        double seconds = 0, bytes = 0;
        std::int64_t tokens = 0;
    };
    std::optional<Cost> cost() const;

  signals:
    void modelChanged();
    void inputsChanged();
    void headChanged();
    void answered(const roper::Need* what);
    void workChanged();
    void checkpointsChanged();
    /// There are other snapshots, or another one is shown.
    void snapshotsChanged();

  private:
    /// What is known, refused and requested of a need.
    struct Entry {
        const Need* need = nullptr;
        std::optional<Question> requested;
        std::optional<Question> known;    ///< what the answer answers
        std::optional<Question> refused;  ///< what there was an error for, not to be asked again
        std::shared_ptr<const void> answer;
    };
    using Chooses = std::function<bool(const Need&)>;

    Entry& entryOf(const Need& what);
    std::optional<Question> questionFor(const Need& what) const;
    std::optional<std::int64_t> stepFor(const Need& what) const;
    void askNext();
    void take(const QByteArray& payload);
    void takeMap(const QByteArray& payload);
    void fitToModel();
    void finish(std::shared_ptr<const void> answer);
    void fail(const QString& why);
    void stopAsking();
    void giveUp(const Chooses& is_of_the_past);
    void forget(const Chooses& is_of_the_past);
    void look();
    void say(const QString& message);

    RunStore& store_;
    ModelClient client_;
    QString model_, text_, message_;
    std::optional<std::int64_t> step_, chosen_step_;
    std::vector<std::int64_t> seen_checkpoints_;
    ModelChange change_;
    int layer_ = 0, head_ = 0, distance_ = 0;
    std::vector<const Need*> needs_;
    std::map<std::string_view, Entry> entries_;  ///< by the need's name
    const Need* asking_ = nullptr;
    Question asked_;
    double progress_ = -1;
    Snapshots snapshots_;
    bool reads_maps_ = false;
    SolvedSizes sizes_;
    QTimer timer_;
};

}  // namespace roper
