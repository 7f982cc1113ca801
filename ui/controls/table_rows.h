#pragma once

#include <QHeaderView>
#include <QTableView>

#include "ui/theme/zoom.h"

namespace roper {

/// Sets the height of all rows, and the width of all columns, in pixels at zoom 1; 0: unchanged.
inline void setCellSize(QTableView& table, int row_height, int column_width = 0) {
    const auto apply = [&table, row_height, column_width] {
        table.verticalHeader()->setDefaultSectionSize(zoomed(row_height));
        if (column_width > 0) table.horizontalHeader()->setDefaultSectionSize(zoomed(column_width));
    };
    QObject::connect(&Zoom::instance(), &Zoom::changed, &table, apply);
    apply();
}

}  // namespace roper
