#pragma once

#include <QByteArray>
#include <QPainter>
#include <QRectF>
#include <QSize>
#include <QString>
#include <algorithm>
#include <functional>

#include "ui/theme/theme.h"

namespace roper {

/// A figure that can be exported: drawn with any painter at any size, together with its data.
class Figure {
  public:
    virtual ~Figure() = default;

    /// File name without suffix, such as "rotation".
    virtual QString figureName() const = 0;

    /// Display name, for menus.
    virtual QString figureTitle() const {
        QString title = figureName().replace('-', ' ');
        return title.isEmpty() ? title : title.at(0).toUpper() + title.mid(1);
    }

    /// Default size of a figure made without a window.
    virtual QSize defaultSize() const { return {720, 480}; }

    /// Size on the screen, in device-independent pixels.
    virtual QSize figureSize() const = 0;

    /// Minimum size in which the labels fit.
    virtual QSize minFigureSize() const { return {280, 180}; }

    /// Size for a given width, keeping the aspect ratio of the screen.
    virtual QSizeF sizeForWidth(double width) const {
        const QSizeF shape = figureSize();
        return {width, std::max<double>(width * shape.height() / shape.width(), minFigureSize().height())};
    }

    /// Draws the whole figure into `area`, without a background.
    virtual void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const = 0;

    /// Whether it has a legend that exports can omit.
    virtual bool hasLegend() const { return false; }

    /// Draws it with or without its legend, whatever is shown on the screen.
    virtual void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                 const Theme& theme) const {
        static_cast<void>(legend);
        paintFigure(painter, area, theme);
    }

    /// All data of the figure, as CSV with a header line.
    virtual QString figureCsv() const = 0;

    /// Receives the CSV as bytes, in several calls for figures with very much data.
    using WriteBytes = std::function<void(const QByteArray&)>;
    virtual void writeCsv(const WriteBytes& write) const { write(figureCsv().toUtf8()); }

    /// Caption of one line: what the figure shows, with its parameters.
    virtual QString figureCaption() const = 0;
};

/// In all windows opened afterwards, lets screen readers present figures as charts, with their captions and
/// data, and combo boxes by their names.
void installAccessibility();

}  // namespace roper
