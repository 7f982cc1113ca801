#pragma once

#include <functional>
#include <vector>

#include "ui/page/page.h"

namespace roper {

/// All pictures that a page shows now, where they stand on it, as one: a, b, c.
class PageFigure : public Figure {
  public:
    explicit PageFigure(const Page& page);

    /// How many pictures it is made of.
    std::size_t parts() const { return parts_.size(); }

    QString figureName() const override;
    QString figureTitle() const override { return QObject::tr("The whole page"); }
    QSize figureSize() const override { return size_.toSize(); }
    QSize leastSize() const override;
    bool hasLegend() const override;
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;
    /// The tables of its parts, one below the other, each after a line "# (a) name".
    QString figureCsv() const override;
    QString figureCaption() const override;

  private:
    struct Part {
        const Figure* figure;
        QRectF place;      ///< in the pixels of zoom 1, from the corner of all
        bool is_scrolled;  ///< it may be higher than its place
    };
    /// Where a part is drawn in an area for all, below its letter.
    QRectF placeIn(const QRectF& area, const Part& part) const;
    void paintParts(QPainter& painter, const QRectF& area, const Theme& theme,
                    const std::function<void(const Figure&, const QRectF&)>& paint) const;
    QString letterOf(std::size_t part) const;

    QString page_;  ///< its name
    std::vector<Part> parts_;
    QSizeF size_;
};

}  // namespace roper
