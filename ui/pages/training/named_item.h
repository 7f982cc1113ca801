#pragma once

#include <QTreeWidgetItem>
#include <string>

namespace roper {

/// Where an item of a list of runs keeps the run's name.
inline constexpr int kNameRole = Qt::UserRole;

inline std::string nameOf(const QTreeWidgetItem& item) {
    return item.data(0, kNameRole).toString().toStdString();
}

}  // namespace roper
