#pragma once

#include <QSortFilterProxyModel>

#include "core/compare/run_filter.h"
#include "ui/pages/training/runs_model.h"

namespace roper {

/// The tree of runs, sorted by plain values and filtered by words and comparisons.
class RunFilterModel : public QSortFilterProxyModel {
    Q_OBJECT

  public:
    RunFilterModel(RunsModel& runs, QObject* parent);

    /// @returns what is wrong with the text; the last filter that could be read then stays
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
