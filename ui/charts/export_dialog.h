#pragma once

#include <QMenu>
#include <QPoint>
#include <QWidget>
#include <functional>

#include "ui/charts/figure.h"

namespace roper {

/// The context menu of a figure: export, copy.
/// @param add_more  adds further entries
void showExportMenu(const Figure& figure, const QPoint& at, QWidget* parent,
                    const std::function<void(QMenu&)>& add_more = {});

/// Asks for the purpose of the picture, with a preview, and for a file; then exports it and shows its path.
/// Errors are shown, never thrown.
void exportByDialog(const Figure& figure, QWidget* parent);

}  // namespace roper
