#pragma once

#include <QTreeWidgetItem>
#include <string>

namespace roper {

/// Item role of the run's name in lists of runs.
inline constexpr int kNameRole = Qt::UserRole;

inline std::string nameOf(const QTreeWidgetItem& item) {
    return item.data(0, kNameRole).toString().toStdString();
}

}  // namespace roper
