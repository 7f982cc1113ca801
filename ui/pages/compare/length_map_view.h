#pragma once

#include <vector>

#include "core/compare/length_map.h"
#include "ui/charts/figure_view.h"

namespace roper {

/// Share of problems solved by their length and by the longest problem of training, of texts the share of
/// tokens guessed or the loss, a panel for each method. A heavy line parts what training has shown from what
/// it has not.
class LengthMapView : public FigureView {
    Q_OBJECT

  public:
    explicit LengthMapView(QWidget* parent);

    /// @param losses  whether the maps are of losses, as they stay when there are none
    void setMaps(std::vector<LengthMap> maps, bool losses = false);
    const std::vector<LengthMap>& maps() const { return maps_; }

    /// Where a cell is on the widget; an empty rectangle if there is no such one.
    QRectF cellRect(std::size_t map, std::size_t panel, std::int64_t trained, std::int64_t length) const;

    QString figureName() const override {
        return losses_ ? QStringLiteral("loss-by-position") : QStringLiteral("length-map");
    }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override { return QString::fromStdString(csvOf(maps_)); }
    QString figureCaption() const override;
    QSize leastSize() const override { return {320, 200}; }

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    /// A panel with its place.
    struct Placed {
        const LengthMap* map;
        const LengthMap::Panel* panel;
        QRectF box;    ///< with its title
        QRectF cells;  ///< of the map itself

        QRectF cell(std::size_t row, std::size_t column) const;
    };
    std::vector<Placed> placed(const QRectF& area) const;
    void paintPanel(QPainter& painter, const Placed& panel, const Theme& theme) const;
    void paintColorBar(QPainter& painter, const QRectF& area, const Theme& theme) const;
    /// Where a value stands between the worst and the best that the colours can show, 0 … 1.
    double goodness(double mean) const;

    std::vector<LengthMap> maps_;
    bool losses_ = false;
    double worst_ = 0, best_ = 1;  ///< means at the ends of the colours
};

}  // namespace roper
