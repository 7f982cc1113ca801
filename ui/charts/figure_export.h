#pragma once

#include <QByteArray>
#include <QImage>
#include <QString>
#include <QStringList>
#include <vector>

#include "ui/charts/figure.h"

namespace roper {

struct ExportOptions {
    /// Width on paper; the figure is laid out anew, with text of `text_pt`. 0: as on the screen.
    double width_mm = 0;
    int scale = 2;                 ///< PNG: pixels per device-independent pixel
    bool light_background = true;  ///< light colors regardless of the window's theme
    bool caption = false;          ///< draw the caption below the figure
    bool legend = true;            ///< draw the legend, if there is one
    double text_pt = 8;            ///< size of the text on paper; axes and notes use 7/8 of it
    QString made_by = {};          ///< LaTeX: a comment on how to make the figure again
};

/// A use of exported pictures, such as a slide, with its size.
struct PrintSize {
    QString key;   ///< in settings: "column"
    QString name;  ///< display name
    double width_mm, text_pt;
};
const std::vector<PrintSize>& printSizes();

/// Writes a figure to a .png, .svg, .pdf or .csv file, atomically. SVG and PDF are vector graphics with real
/// text. With the suffix .tex, a PDF and a CSV file of the same name are written first, and then a LaTeX
/// figure with that PDF and the caption (latex.h).
/// @throws Error (usage) for another suffix, Error (disk) if it cannot be written
void exportFigure(const Figure& figure, const QString& path, const ExportOptions& options,
                  const Theme& theme);

/// The files besides `path` itself that `exportFigure` writes: a PDF and a CSV file for LaTeX.
QStringList filesBesideExport(const QString& path);

/// The figure as an image.
QImage figureImage(const Figure& figure, const ExportOptions& options, const Theme& theme);

/// Writes pictures of one size to a .gif file that repeats forever, atomically.
/// @throws Error (usage) for another suffix, Error (disk) if it cannot be written
void exportAnimation(const std::vector<QImage>& frames, double seconds, const QString& path);

/// Pictures of one size as a GIF that repeats forever, with at most 256 colors (gif.cpp).
QByteArray gifBytes(const std::vector<QImage>& frames, double seconds);

/// The figure as the text of an SVG file.
QByteArray figureSvg(const Figure& figure, const ExportOptions& options, const Theme& theme);

/// Cleans up the output of QSvgGenerator, so that every viewer accepts it and draws its text.
///
/// XML 1.0 allows no control characters except tab and line breaks; the others become control pictures, such
/// as ␌ for a form feed. Alias font names, such as Qt's "Sans Serif", become the name of the actual font,
/// followed by a generic CSS family as a fallback.
QByteArray readableSvg(const QByteArray& svg);

}  // namespace roper
