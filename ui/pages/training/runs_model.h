#pragma once

#include <QAbstractItemModel>
#include <QColor>
#include <QTimer>
#include <memory>
#include <vector>

#include "ui/live/run_store.h"

namespace roper {

/// The runs as a tree: experiments, and in each its runs with state, step, rate, time left, last loss, last
/// and best evaluation. An experiment is what was started together (`experimentKey`).
class RunsModel : public QAbstractItemModel {
    Q_OBJECT

  public:
    enum Column {
        name_column,
        state_column,
        step_column,
        loss_column,
        last_column,
        best_column,
        rate_column,
        left_column,
        started_column,
        tags_column,
        folder_column,
        host_column,
        column_count
    };
    /// Role of a plain value to sort by.
    static constexpr int kSortRole = Qt::UserRole;       ///< of any cell: what it is sorted by
    static constexpr int kTitleRole = Qt::UserRole + 1;  ///< of an experiment, without what stands about it

    RunsModel(RunStore& store, QObject* parent);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    /// Null for an experiment.
    RunWatcher* run(const QModelIndex& index) const;
    /// The run itself, or all runs of an experiment.
    QList<RunWatcher*> runsOf(const QModelIndex& index) const;
    QModelIndex indexOf(const QString& run) const;
    /// The experiment that a run is part of: what tells it apart, and its name.
    QString experimentKeyOf(const QString& run) const { return keys_.value(run); }
    QString experimentNameOf(const QString& run) const;
    /// What tells it apart from the others; when it was started only where that alone does.
    QString experimentTitleOf(const QString& run) const;
    /// What tells a run apart from the others of its experiment but its seed: "RoPER", "RoPE, width 64".
    QString groupOf(const QString& run) const { return groups_.value(run); }
    /// The place of its group among the groups of the experiment, and among those of the same method.
    struct GroupPlace {
        int group = 0, of_method = 0;
    };
    GroupPlace placeOf(const QString& run) const { return places_.value(run); }
    /// How it is listed: its group and seed.
    QString labelOf(const QString& run) const { return labels_.value(run, run); }
    /// Experiments that are ticked to stay in the charts, by key.
    const QSet<QString>& ticked() const { return ticked_; }
    void untickAll();
    /// Tells groups and experiments apart now, rather than soon after runs have come.
    void nameGroups();
    /// Ticks or unticks the experiments of some runs.
    void setTicked(const std::vector<RunWatcher*>& runs, bool ticked);
    /// What all experiments' titles begin with: of a title that must be cut, it tells least.
    qsizetype commonPrefixOfTitles() const { return common_prefix_; }

    /// Letters that runs have in the charts, by name, where they have any.
    void setLetters(const QHash<QString, QString>& letters);
    void setColor(const QString& name, const QColor& color);
    QColor color(const QString& name) const { return colors_.value(name); }

  signals:
    void tickedChanged();
    /// Which runs belong together, or what tells them apart, is different.
    void groupsChanged();

  private:
    struct Experiment {
        QString key, name;
        QString title, started;  ///< as listed beside the others, in two lines
        QList<RunWatcher*> runs;
    };
    const Experiment* experimentAt(const QModelIndex& index) const;
    int rowOf(const Experiment& experiment) const;
    void place(RunWatcher* run);
    void take(const QString& name);
    void refresh();
    void announceTicked();
    void nameExperiments();
    QString runText(const RunWatcher& run, int column) const;
    QString experimentText(const Experiment& experiment, int column) const;
    QString lettersOf(const Experiment& experiment) const;
    QVariant runSortValue(const RunWatcher& run, int column) const;
    QVariant experimentSortValue(const Experiment& experiment, int column) const;

    RunStore& store_;
    std::vector<std::unique_ptr<Experiment>> experiments_;
    QHash<QString, QColor> colors_;
    QHash<QString, QString> keys_;    ///< of each run's experiment
    QHash<QString, QString> groups_;  ///< label of each run's group within its experiment
    QHash<QString, GroupPlace> places_;
    QHash<QString, QString> labels_;  ///< the same with its seed: how the run is listed
    QHash<QString, QString> letters_;
    QSet<QString> ticked_;
    qsizetype common_prefix_ = 0;  ///< characters
    QTimer refresh_timer_, group_timer_;
};

/// "112/128" or "0.6312"; empty before the first evaluation.
QString evaluationCell(const std::optional<EvaluationRow>& row);

}  // namespace roper
