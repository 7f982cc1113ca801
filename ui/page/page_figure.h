#pragma once

#include <vector>

#include "ui/page/page.h"

namespace roper {

/// All figures that a page currently shows, in their layout, as one figure with parts a, b, c.
class PageFigure : public Figure {
  public:
    explicit PageFigure(const Page& page);

    /// Number of parts.
    std::size_t parts() const { return parts_.size(); }

    QString figureName() const override;
    QString figureTitle() const override { return QObject::tr("The whole page"); }
    QSize figureSize() const override { return size_.toSize(); }
    QSize minFigureSize() const override;
    bool hasLegend() const override;
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override {
        paintWithLegend(true, painter, area, theme);
    }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;
    /// The tables of the parts, one below the other, each after a line "# (a) name".
    QString figureCsv() const override;
    QString figureCaption() const override;

  private:
    struct Part {
        const Figure* figure;
        QRectF place;      ///< in pixels at zoom 1, relative to the bounding box of all parts
        bool is_scrolled;  ///< in a scroll area: it may be higher than `place`
    };
    /// Rectangle of a part within the area of the whole figure, below the part's letter.
    QRectF partRect(const QRectF& area, const Part& part) const;

    QString page_;  ///< title of the page
    std::vector<Part> parts_;
    QSizeF size_;  ///< of the bounding box, at zoom 1
};

}  // namespace roper
