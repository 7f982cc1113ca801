#pragma once

#include <QMenu>
#include <QPoint>
#include <QWidget>
#include <functional>

#include "ui/charts/figure.h"

namespace roper {

/// The menu behind a right-click: export, copy.
/// @param add_more  adds what else can be chosen
void showExportMenu(const Figure& figure, const QPoint& at, QWidget* parent,
                    const std::function<void(QMenu&)>& add_more = {});

/// Asks for what the picture is made for, with a preview, and for a file; then exports, and says where the
/// file is. Errors are shown, never thrown.
void exportByDialog(const Figure& figure, QWidget* parent);

}  // namespace roper
