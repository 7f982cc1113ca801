#pragma once

#include <QTreeWidget>
#include <string>
#include <vector>

namespace roper {

/// Item role of the run's name in lists of runs.
inline constexpr int kNameRole = Qt::UserRole;

inline std::string nameOf(const QTreeWidgetItem& item) {
    return item.data(0, kNameRole).toString().toStdString();
}

/// Names of the selected runs of a list, in its order.
inline std::vector<std::string> selectedNames(const QTreeWidget& list) {
    std::vector<std::string> runs;
    for (int i = 0; i < list.topLevelItemCount(); ++i)
        if (list.topLevelItem(i)->isSelected()) runs.push_back(nameOf(*list.topLevelItem(i)));
    return runs;
}

}  // namespace roper
