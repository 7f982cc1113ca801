#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <optional>

#include "core/explorer/attention_maps.h"
#include "core/explorer/mixture.h"
#include "core/rotary/value_compass.h"
#include "ui/explorer/head_source.h"
#include "ui/explorer/selection.h"

namespace roper {

/// What the Attention and Value mixing pages draw: the shared setup, the vectors that it asks for, and what
/// follows from them. Vectors of a run arrive later; until then the pages say so.
class AttentionState : public QObject {
    Q_OBJECT

  public:
    AttentionState(Selection& selection, RunStore& runs, QObject* parent);

    Selection& selection() { return selection_; }
    const Setup& setup() const { return selection_.setup(); }
    RunStore& runs() { return runs_; }

    /// Whether there are vectors that fit the setup. Otherwise `message` says what to wait for or to do.
    bool isReady() const { return message_.isEmpty() && heads_.tokens() > 0; }
    const QString& message() const { return message_; }
    /// A question that was put to a run and is not answered yet.
    bool isAsking() const { return asking_; }

    const HeadVectors& heads() const { return heads_; }
    int tokens() const { return heads_.tokens(); }
    /// The looked-at query and key, kept inside the text.
    int query() const { return std::min(setup().query, tokens() - 1); }
    int key() const { return std::min(setup().key, tokens() - 1); }

    /// Words of the sentence or characters of the run's text; empty where there are none for every token.
    const QStringList& tokenNames() const { return names_; }
    /// "3" or "3 “cat”".
    QString tokenText(int token) const;
    /// "random vectors, seed 1", "layer 2, head 0 of index-roper at step 400".
    QString sourceText() const;
    /// The same of what Value mixing adds up: "one token with all the weight".
    QString mixedText() const;
    const std::optional<RunHead>& runHead() const { return run_head_; }

    const ScoreRule& rule() const { return rule_; }
    /// Positions of the tokens, shifted.
    Eigen::VectorXd positions() const { return consecutivePositions(tokens(), setup().shift); }
    /// Scores and weights of the looked-at query.
    const Eigen::VectorXd& scoreRow() const { return score_row_; }
    const Eigen::VectorXd& weightRow() const { return weight_row_; }
    /// What Value mixing adds up for this query.
    const MixedValues& mixed() const { return mixed_; }

    /// Chooses a run as the source, with a text of its task if none was typed; the rotation becomes its
    /// model's.
    void useRun(const QString& run);
    /// Asks the run again.
    void askRun();
    /// A page that is seen watches: a model that trains is then looked at again from time to time.
    void watch(bool seen) { watchers_ += seen ? 1 : -1; }
    /// Takes vectors from a run (empty: as the setup says), then what `change` makes of the setup, and waits
    /// for the run; for pictures without a window. @throws Error
    void adopt(const std::string& run, const std::function<Setup(const Setup&)>& change);

  signals:
    void changed();

  private:
    void follow();
    void takeVectors();
    void takeVectorsOfRun();
    void takeRun(const RunHead& head);
    void takeLearned(const Learned& learned);
    void takeFailure(const QString& why);
    void finish();

    Selection& selection_;
    RunStore& runs_;
    HeadSource source_;
    HeadVectors heads_;
    QStringList names_;
    QString message_;
    std::optional<RunHead> run_head_;
    std::optional<HeadQuestion> asked_;
    bool asking_ = false;
    QString failure_;      ///< why the question that was asked has no answer
    QString adopted_run_;  ///< just chosen: its model's rotation is taken over when it answers
    int watchers_ = 0;
    std::optional<std::tuple<int, int, std::uint64_t, double>> random_of_;  ///< what `heads_` were made from
    ScoreRule rule_;
    Eigen::VectorXd score_row_, weight_row_;
    MixedValues mixed_;
    QTimer live_;
};

}  // namespace roper
