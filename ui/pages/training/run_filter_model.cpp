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

bool RunFilterModel::filterAcceptsRow(int row, const QModelIndex&) const {
    const RunWatcher* run = runs_.run(row);
    if (run == nullptr || text_.isEmpty()) return true;
    const auto record = recordOf(*run);
    // A run that cannot be read has no settings to compare; it is found by its name, and never lost.
    return record ? filter_.matches(*record) : run->name().contains(text_, Qt::CaseInsensitive);
}

}  // namespace roper
