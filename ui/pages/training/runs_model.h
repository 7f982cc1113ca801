#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QTimer>

#include "ui/live/run_store.h"

namespace roper {

/// The runs as a table: name, state, step, rate, time left, last loss, last and best evaluation.
class RunsModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column {
        name_column,
        state_column,
        group_column,
        step_column,
        loss_column,
        last_column,
        best_column,
        rate_column,
        left_column,
        column_count
    };
    /// Role of a plain value to sort by.
    static constexpr int kSortRole = Qt::UserRole;

    RunsModel(RunStore& store, QObject* parent);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    RunWatcher* run(int row) const;
    int rowOf(const QString& name) const;
    void setColor(const QString& name, const QColor& color);
    QColor color(const QString& name) const { return colors_.value(name); }

  private:
    QVariant text(const RunWatcher& run, int column) const;
    QVariant sortValue(const RunWatcher& run, int column) const;
    void refresh();
    void nameGroups();

    RunStore& store_;
    QList<RunWatcher*> rows_;
    QHash<QString, QColor> colors_;
    QHash<QString, QString> groups_;  ///< label of each run's group
    QTimer refresh_timer_, group_timer_;
};

/// "112/128" or "0.6312"; empty before the first evaluation.
QString evaluationCell(const std::optional<EvaluationRow>& row);

}  // namespace roper
