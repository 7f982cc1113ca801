#pragma once

#include <QPoint>
#include <QString>
#include <QWidget>

#include "ui/charts/figure.h"

namespace roper {

struct ExportOptions {
    double width_mm = 0;           ///< 0: as on the screen
    int scale = 2;                 ///< of PNG: pixels a device-independent pixel
    bool light_background = true;  ///< light colours whatever the window wears
    bool caption = false;          ///< draw the caption below the picture
};

/// Writes a figure to a .png, .svg, .pdf or .csv file, whole or not at all. SVG and PDF are vector, their
/// text is text.
/// @throws Error (usage) for another suffix, Error (disk) if it cannot be written
void exportFigure(const Figure& figure, const QString& path, const ExportOptions& options,
                  const Theme& theme);

/// The picture as an image.
QImage figureImage(const Figure& figure, const ExportOptions& options, const Theme& theme);

/// The menu behind a right-click: export, copy.
void showExportMenu(const Figure& figure, const QPoint& at, QWidget* parent);

/// Asks for format, size and file, then exports. Errors are shown, never thrown.
void exportByDialog(const Figure& figure, QWidget* parent);

}  // namespace roper
