#include "ui/pages/training/run_filter_model.h"

#include "core/base/error.h"
#include "ui/live/run_records.h"

namespace roper {

RunFilterModel::RunFilterModel(RunsModel& runs, QObject* parent)
    : QSortFilterProxyModel(parent), runs_(runs) {
    setSourceModel(&runs);
    setSortRole(RunsModel::kSortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
    setDynamicSortFilter(true);
    setRecursiveFilteringEnabled(true);
}

QString RunFilterModel::setFilter(const QString& text) {
    try {
        filter_ = RunFilter(text.toStdString());
        text_ = text.trimmed();
        invalidateFilter();
        return {};
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    }
}

/// An experiment is accepted if one of its runs is.
bool RunFilterModel::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (text_.isEmpty()) return true;
    const RunWatcher* run = runs_.run(runs_.index(row, 0, parent));
    if (run == nullptr) return false;
    const auto record = recordOf(*run);
    // A run that cannot be read has no settings to compare; it is found by its name, so it never disappears.
    return record ? filter_.matches(*record) : run->name().contains(text_, Qt::CaseInsensitive);
}

/// Descending by name, the newest experiment comes first; within it, runs are sorted by method and ascending
/// seed in either order.
bool RunFilterModel::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const RunWatcher *a = runs_.run(left), *b = runs_.run(right);
    if (left.column() != RunsModel::name_column || a == nullptr || b == nullptr)
        return QSortFilterProxyModel::lessThan(left, right);
    const auto place = [this](const RunWatcher& run) {
        const auto seed = run.specification() ? run.specification()->training.data_seed : 0;
        return std::tuple(runs_.groupOf(run.name()), seed, run.name());
    };
    return (place(*a) < place(*b)) == (sortOrder() == Qt::AscendingOrder);
}

}  // namespace roper
