#pragma once

#include <QImage>
#include <QString>
#include <vector>

#include "ui/charts/figure.h"

namespace roper {

struct ExportOptions {
    /// On paper; the picture is laid out anew for it, with text of `text_pt`. 0: as on the screen.
    double width_mm = 0;
    int scale = 2;                 ///< of PNG: pixels a device-independent pixel
    bool light_background = true;  ///< light colours whatever the window wears
    bool caption = false;          ///< draw the caption below the picture
    bool legend = true;            ///< draw the legend, where the picture has one
    double text_pt = 8;            ///< size of the text on paper; that of axes and notes is 7/8 of it
};

/// What pictures are made for.
struct PrintSize {
    QString key;   ///< in settings: "column"
    QString name;  ///< for people
    double width_mm, text_pt;
};
const std::vector<PrintSize>& printSizes();

/// Writes a figure to a .png, .svg, .pdf or .csv file, whole or not at all. SVG and PDF are vector, their
/// text is text.
/// @throws Error (usage) for another suffix, Error (disk) if it cannot be written
void exportFigure(const Figure& figure, const QString& path, const ExportOptions& options,
                  const Theme& theme);

/// The picture as an image.
QImage figureImage(const Figure& figure, const ExportOptions& options, const Theme& theme);

/// The same as text of an SVG file.
QByteArray figureSvg(const Figure& figure, const ExportOptions& options, const Theme& theme);

}  // namespace roper
