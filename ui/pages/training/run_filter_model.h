#pragma once

#include <QSortFilterProxyModel>

#include "core/compare/run_filter.h"
#include "ui/pages/training/runs_model.h"

namespace roper {

/// The tree of runs, sorted by raw values, and filtered by words and comparisons.
class RunFilterModel : public QSortFilterProxyModel {
    Q_OBJECT

  public:
    RunFilterModel(RunsModel& runs, QObject* parent);

    /// @returns the error in the text, in which case the last valid filter stays in effect
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
