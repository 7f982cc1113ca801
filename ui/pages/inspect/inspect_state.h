#pragma once

#include <QObject>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ui/live/model_client.h"
#include "ui/pages/inspect/answer_specs.h"
#include "ui/pages/inspect/snapshots.h"
#include "ui/pages/inspect/solved_by_size.h"

namespace roper {

/// A model, published or trained here, a text, a change to the model (ablations and changes of positions),
/// and the model's answers. It requests required answers that are not yet known, one at a time, and never
/// blocks. For a run it also holds the snapshots and the numbers of solved problems.
class InspectState : public QObject {
    Q_OBJECT

  public:
    InspectState(RunStore& store, QObject* parent);

    /// Name of a run, or absolute path of a published model; empty: none.
    const QString& model() const { return model_; }
    /// Null for a published model and without a model.
    const RunWatcher* run() const { return store_.find(model_); }
    /// @param step  checkpoint of a run; default: the newest
    void setModel(const QString& model, std::optional<std::int64_t> step = std::nullopt);
    /// Step of the checkpoint that is read; nothing for a published model or a run without checkpoints.
    std::optional<std::int64_t> step() const { return step_; }
    /// The step chosen by the user; nothing: the newest.
    std::optional<std::int64_t> chosenStep() const { return chosen_step_; }
    void setStep(std::optional<std::int64_t> step);
    /// Chooses the checkpoint with the same step as another state's, or the nearest.
    void matchStep(const InspectState& other);
    /// Steps of the run's checkpoints, ascending; empty for a published model.
    std::vector<std::int64_t> checkpoints() const;
    /// Display name.
    QString title() const;
    /// Name for captions: that of a run, or that in a published model's files; empty until the model is open.
    QString modelName() const;
    /// Color of a run's position method, as on all pages; grey for a published model.
    QColor color(const Theme& theme) const;
    const QString& text() const { return text_; }
    void setText(const QString& text);
    const ModelChange& change() const { return change_; }
    void setChange(const ModelChange& change);
    int layer() const { return layer_; }
    int head() const { return head_; }
    /// Clamped to the heads of the model, if it is known.
    void setHead(int layer, int head);

    /// Distance δ from the query to the attended token in the token map.
    int distance() const { return distance_; }
    void setDistance(int distance);

    /// The token that a walkthrough follows; nothing: the last of the text.
    std::optional<int> token() const { return token_; }
    void setToken(std::optional<int> token);

    /// Sets the answers that are requested whenever they are unknown; replaces the previous ones.
    void setRequiredAnswers(AnswerSpecs requiredAnswers);
    /// Requests an answer that is not requested automatically, or requests it again. Change, head and, except
    /// for specs with `provides_text`, the text are those of this state.
    void request(const AnswerSpec& spec, const Question& question = {});
    /// Cancels the pending question and all requests.
    void cancel();

    /// The answer for the current model, text and change; null while unknown. If it is about one head, that
    /// may still be the previous one: see `ModelPanel::answerForHead`.
    template <class Answer>
    std::shared_ptr<const Answer> sharedAnswer(const TypedAnswerSpec<Answer>& spec) const {
        const auto found = entries_.find(spec.name);
        return found == entries_.end() ? nullptr
                                       : std::static_pointer_cast<const Answer>(found->second.answer);
    }
    template <class Answer>
    const Answer* answer(const TypedAnswerSpec<Answer>& spec) const {
        return sharedAnswer(spec).get();
    }
    const ModelSummary* summary() const { return answer(answers::model); }
    /// `ModelSummary::windowOf`, which for a run is known before the model has answered.
    std::int64_t windowOf(int layer) const;
    /// The reports on all heads; empty while unknown.
    std::span<const HeadReport> reports() const {
        const HeadsAnswer* heads = answer(answers::heads);
        return heads != nullptr ? std::span(heads->heads) : std::span<const HeadReport>();
    }
    /// The report on the chosen head, an element of `reports()`; null if there is none.
    const HeadReport* report() const { return report(layer_, head_); }
    const HeadReport* report(int layer, int head) const;

    const Snapshots& snapshots() const { return snapshots_; }
    void showSnapshot(int index);
    /// Requests maps of the current text, which then replace those of the snapshot.
    void readMaps();
    bool readsMaps() const { return reads_maps_; }
    /// Attention of all heads on the snapshot's text or, after `readMaps`, the current one; null if unknown.
    std::shared_ptr<const HeadMaps> maps() const {
        return reads_maps_ ? sharedAnswer(answers::maps) : snapshots_.maps();
    }

    SolvedBySize& sizes() { return sizes_; }
    const SolvedBySize& sizes() const { return sizes_; }
    /// Counts solved problems at the chosen step. @param problems  of each size
    void countSizes(int problems) { sizes_.count(run(), chosen_step_, problems); }

    bool isAsking() const { return pending_ != nullptr; }
    /// Whether the answer is pending or queued.
    bool isAsking(const AnswerSpec& spec) const;
    /// Description of the pending question; empty if there is none.
    QString pendingWork() const;
    /// Progress of the pending question, 0 to 1; negative: unknown.
    double progress() const { return progress_; }
    /// Why there is no answer; empty without an error.
    const QString& message() const { return message_; }
    /// Drops the error of a question that no visible panel asks.
    void dismissError();
    /// Text that a figure shows while its answer is unknown.
    /// @param otherwise  text if nothing is pending
    QString placeholder(const QString& otherwise) const;
    /// Estimated time and memory of a forward pass over the text.
    struct Cost {
        double seconds = 0, bytes = 0;
        std::int64_t tokens = 0;
    };
    /// Nothing without a text, and while the model is unknown.
    std::optional<Cost> cost() const;

  signals:
    void modelChanged();
    void inputsChanged();  ///< text or change
    void headChanged();
    void tokenChanged();
    void answered(const roper::AnswerSpec* spec);
    void answerOrProgressChanged();
    void checkpointsChanged();
    /// Emitted when the list of snapshots, or the one shown, has changed.
    void snapshotsChanged();

  private:
    /// The answer of one spec, and its questions.
    struct Entry {
        const AnswerSpec* spec = nullptr;
        std::optional<Question> requested;  ///< see `request`
        std::optional<Question> known;      ///< question that `answer` answers
        std::optional<Question> refused;    ///< question that failed; it is not repeated
        std::shared_ptr<const void> answer;
    };
    using AnswerPredicate = std::function<bool(const AnswerSpec&)>;

    Entry& entryOf(const AnswerSpec& spec);
    bool isUnansweredExtra(const AnswerSpec& spec) const;
    std::optional<Question> questionFor(const AnswerSpec& spec) const;
    std::optional<std::int64_t> stepFor(const AnswerSpec& spec) const;
    void askNext();
    void receiveAnswer(const QByteArray& payload);
    void receiveMap(const QByteArray& payload);
    void clampToModel();
    void finish(std::shared_ptr<const void> answer);
    void fail(const QString& why);
    void clearPending();
    void dropRequests(const AnswerPredicate& is_outdated);
    void forget(const AnswerPredicate& is_outdated);
    void dropOutdated(const AnswerPredicate& is_outdated);
    void checkForCheckpoints();
    void setMessage(const QString& message, const AnswerSpec* failed = nullptr);

    RunStore& store_;
    ModelClient client_;
    QString model_, text_, message_;
    const AnswerSpec* failed_ = nullptr;  ///< spec whose failure `message_` describes; null: none
    std::optional<std::int64_t> step_, chosen_step_;
    std::vector<std::int64_t> known_checkpoints_;
    ModelChange change_;
    int layer_ = 0, head_ = 0, distance_ = 0;
    std::optional<int> token_;
    AnswerSpecs required_answers_;
    std::map<std::string_view, Entry> entries_;  ///< by name of the spec
    const AnswerSpec* pending_ = nullptr;        ///< spec that waits for its answer; null: none
    Question sent_question_;
    double progress_ = -1;
    Snapshots snapshots_;
    bool reads_maps_ = false;
    SolvedBySize sizes_;
    QTimer timer_;
};

}  // namespace roper
