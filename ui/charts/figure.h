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

/// A picture that can be exported: drawn with any painter at any size, with the numbers behind it.
class Figure {
  public:
    virtual ~Figure() = default;

    /// File name without suffix, such as "rotation".
    virtual QString figureName() const = 0;

    /// The name as people read it, for menus.
    virtual QString figureTitle() const {
        QString title = figureName().replace('-', ' ');
        return title.isEmpty() ? title : title.at(0).toUpper() + title.mid(1);
    }

    /// Size of a picture made without a window, unless told otherwise.
    virtual QSize defaultSize() const { return {720, 480}; }

    /// Size on the screen, in device-independent pixels.
    virtual QSize figureSize() const = 0;

    /// The smallest size in which its labels have room.
    virtual QSize leastSize() const { return {280, 180}; }

    /// Its size where it is laid out anew for a width: as high as its shape on the screen asks for.
    virtual QSizeF sizeForWidth(double width) const {
        const QSizeF shape = figureSize();
        return {width, std::max<double>(width * shape.height() / shape.width(), leastSize().height())};
    }

    /// Draws the whole picture into `area`, the background left alone.
    virtual void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const = 0;

    /// Whether it has a legend, which an export can leave out.
    virtual bool hasLegend() const { return false; }

    /// The same with or without its legend, however it is shown now.
    virtual void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                 const Theme& theme) const {
        static_cast<void>(legend);
        paintFigure(painter, area, theme);
    }

    /// The numbers that the picture shows, all of them, as CSV with a header line.
    virtual QString figureCsv() const = 0;

    /// Hands out the same as bytes; pictures of very many numbers do it part by part.
    using WriteBytes = std::function<void(const QByteArray&)>;
    virtual void writeCsv(const WriteBytes& write) const { write(figureCsv().toUtf8()); }

    /// One line for under the picture: what it shows, with its parameters.
    virtual QString figureCaption() const = 0;
};

}  // namespace roper
