#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <optional>

#include "core/explorer/attention_maps.h"
#include "core/rotary/value_mixing.h"
#include "ui/explorer/run_head.h"
#include "ui/explorer/selection.h"
#include "ui/live/model_client.h"

namespace roper {

/// Data for the Attention and Value mixing pages: the shared setup, its vectors, and everything derived from
/// them. Vectors of a run arrive asynchronously; until then the pages show a message.
class AttentionState : public QObject {
    Q_OBJECT

  public:
    AttentionState(Selection& selection, RunStore& runs, QObject* parent);

    Selection& selection() { return selection_; }
    const Setup& setup() const { return selection_.setup(); }
    RunStore& runs() { return runs_; }

    /// Whether there are vectors that fit the setup. If not, `message` says what is pending or what to do.
    bool isReady() const { return message_.isEmpty() && heads_.tokens() > 0; }
    const QString& message() const { return message_; }
    /// Whether a question to a run is pending.
    bool isAsking() const { return is_asking_; }

    const HeadVectors& heads() const { return heads_; }
    int tokens() const { return heads_.tokens(); }
    /// The chosen query and key, clamped to the text; −1 if there are no tokens.
    int query() const { return std::min(setup().query, tokens() - 1); }
    int key() const { return std::min(setup().key, tokens() - 1); }

    /// Words of the setup's sentence or tokens of the run's text; empty unless there is one for every token.
    const QStringList& tokenNames() const { return names_; }
    /// "3" or "3 “cat”".
    QString tokenText(int token) const;
    /// "random vectors, seed 1, similarity 0.8", "layer 2, head 0 of index-roper at step 400".
    QString sourceText() const;
    /// The same for the values that Value mixing sums: "one token with all the weight".
    QString mixedText() const;
    const std::optional<RunHead>& runHead() const { return run_head_; }

    const ScoreFormula& rule() const { return rule_; }
    /// Positions of the tokens, including the shift.
    Eigen::VectorXd positions() const { return consecutivePositions(tokens(), setup().shift); }
    /// Scores and weights of the chosen query.
    const Eigen::VectorXd& scoreRow() const { return score_row_; }
    const Eigen::VectorXd& weightRow() const { return weight_row_; }
    /// The values that Value mixing sums for this query.
    const MixedValues& mixed() const { return mixed_; }
    /// The query's output [d] with this form of attention and all positions shifted by `shift`.
    Eigen::VectorXd outputRow(const AttentionForm& form, double shift) const;
    /// The same in the plane of the chosen pair, as a chain of the rotated values.
    ValueChain valueChain(const AttentionForm& form, double shift) const;

    /// Chooses a run as the source, with a text of its task if none was entered or the task differs, and
    /// adopts its model's rotation.
    void useRun(const QString& run);
    /// Asks the run for its vectors again.
    void requestVectors();
    /// Counts visible pages; while there are any, a model in training is queried periodically.
    void countVisiblePage(bool visible) { visible_pages_ += visible ? 1 : -1; }
    /// For figures without a window: takes vectors from a run (empty: those of the setup), applies `change`
    /// to the setup, and waits for the run. @throws Error
    void loadForFigure(const std::string& run, const std::function<Setup(const Setup&)>& change);

  signals:
    void changed();

  private:
    void onSelectionChanged();
    void updateVectors();
    void updateRunVectors();
    void applyRunHead(const RunHead& head);
    void followTraining(const RunHead& head);
    void onFailed(const QString& why);
    void updateDerived();

    Selection& selection_;
    RunStore& runs_;
    ModelClient client_;
    HeadVectors heads_;
    QStringList names_;
    QString message_;
    std::optional<RunHead> run_head_;
    std::optional<HeadQuestion> pending_question_;
    Setup own_;                            ///< the last setup whose vectors were not a run's
    std::optional<Setup> setup_from_run_;  ///< the setup after adopting the last run's rotation
    bool was_run_ = false;                 ///< whether the vectors were a run's before the last change
    bool is_asking_ = false;
    QString failure_;       ///< why the pending question failed
    QString run_to_apply_;  ///< just chosen: its model's rotation is adopted when the answer arrives
    int visible_pages_ = 0;
    std::optional<std::tuple<int, int, std::uint64_t, double, bool>>
        random_parameters_;  ///< tokens, head_dim, seed, similarity and shared_key_value of random `heads_`
    ScoreFormula rule_;
    Eigen::VectorXd score_row_, weight_row_;
    MixedValues mixed_;
    QTimer poll_timer_;
};

}  // namespace roper
