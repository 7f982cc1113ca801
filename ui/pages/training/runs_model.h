#pragma once

#include <QAbstractItemModel>
#include <QColor>
#include <QSortFilterProxyModel>
#include <QTimer>
#include <memory>
#include <vector>

#include "core/compare/run_filter.h"
#include "ui/live/run_store.h"

namespace roper {

/// The runs as a tree: experiments, and their runs with state, step, rate, time left, last loss, last and
/// best evaluation. An experiment consists of runs started together (`experimentKey`).
class RunsModel : public QAbstractItemModel {
    Q_OBJECT

  public:
    enum Column {
        name_column,
        state_column,
        step_column,
        loss_column,
        last_evaluation_column,
        best_evaluation_column,
        rate_column,
        time_left_column,
        started_column,
        tags_column,
        folder_column,
        host_column,
        column_count
    };
    static constexpr int kSortRole = Qt::UserRole;  ///< raw value of a cell for sorting
    /// title of an experiment, without the letters of its curves and its start time
    static constexpr int kTitleRole = Qt::UserRole + 1;

    RunsModel(RunStore& store, QObject* parent);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    /// The run in a row; null for an experiment.
    RunWatcher* run(const QModelIndex& index) const;
    /// The run in a row, or all runs of the experiment in it.
    QList<RunWatcher*> runsOf(const QModelIndex& index) const;
    QModelIndex indexOf(const QString& run) const;
    /// Key (`experimentKey`) and name of a run's experiment; empty for an unknown run.
    QString experimentKeyOf(const QString& run) const { return keys_.value(run); }
    QString experimentNameOf(const QString& run) const;
    /// Title that distinguishes a run's experiment from others, by its start time only if nothing else does.
    QString experimentTitleOf(const QString& run) const;
    /// What distinguishes a run in its experiment, except the seed: "RoPER", "RoPE, width 64".
    QString groupOf(const QString& run) const { return listed_.value(run).group; }
    /// Index of a run's group among all groups of its experiment, and among those with the same method.
    struct GroupIndex {
        int group = 0, of_method = 0;
    };
    GroupIndex groupIndexOf(const QString& run) const { return listed_.value(run).place; }
    /// Label of a run in the list: group and seed; its name until it has been grouped.
    QString labelOf(const QString& run) const { return listed_.value(run, {{}, run, {}}).label; }
    /// Keys of experiments that are ticked to stay in the charts.
    const QSet<QString>& ticked() const { return ticked_; }
    void untickAll();
    /// Updates labels of groups and experiments now, without waiting for the timer.
    void nameGroups();
    /// Ticks or unticks the experiments of these runs.
    void setTicked(const std::vector<RunWatcher*>& runs, bool ticked);
    /// Length in characters of the common prefix of all titles, which elided titles omit.
    qsizetype commonPrefixOfTitles() const { return common_prefix_; }

    /// Sets the letters that mark the curves of runs in the charts, by name of the run.
    void setLetters(const QHash<QString, QString>& letters);
    void setColor(const QString& name, const QColor& color);
    QColor color(const QString& name) const { return colors_.value(name); }

  signals:
    void tickedChanged();
    /// Emitted when the grouping of runs or their labels have changed.
    void groupsChanged();

  private:
    struct Experiment {
        QString key, name;
        QString title, started;  ///< on the first and the second line of its row
        QList<RunWatcher*> runs;
    };
    const Experiment* experimentAt(const QModelIndex& index) const;
    void place(RunWatcher* run);
    void removeRun(const QString& name);
    void refresh();
    void emitTickedChanged();
    void nameExperiments();
    QString runText(const RunWatcher& run, int column) const;
    QString experimentText(const Experiment& experiment, int column) const;
    QString lettersOf(const Experiment& experiment) const;
    QVariant runSortValue(const RunWatcher& run, int column) const;
    QVariant experimentSortValue(const Experiment& experiment, int column) const;

    RunStore& store_;
    std::vector<std::unique_ptr<Experiment>> experiments_;
    QHash<QString, QColor> colors_;  ///< by run
    QHash<QString, QString> keys_;   ///< key of the run's experiment, by run
    struct Listed {
        QString group;  ///< label of the run's group within its experiment
        QString label;  ///< the same with its seed
        GroupIndex place;
    };
    QHash<QString, Listed> listed_;    ///< by run
    QHash<QString, QString> letters_;  ///< by run
    QSet<QString> ticked_;             ///< keys of experiments
    qsizetype common_prefix_ = 0;
    QTimer refresh_timer_, group_timer_;
};

/// The tree of runs, sorted by raw values, and filtered by words and comparisons (`RunFilter`).
class RunFilterModel : public QSortFilterProxyModel {
    Q_OBJECT

  public:
    RunFilterModel(RunsModel& runs, QObject* parent);

    /// @returns the error in the text, after which the last valid filter stays in effect; empty: no error
    QString setFilter(const QString& text);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

  private:
    RunsModel& runs_;
    RunFilter filter_;
    QString text_;
};

}  // namespace roper
