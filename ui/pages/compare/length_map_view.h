#pragma once

#include <vector>

#include "core/compare/length_map.h"
#include "ui/charts/figure_view.h"

namespace roper {

/// Fraction of problems solved, by their length and by the longest problem in training; for texts, token
/// accuracy by length or the loss by position. One panel per method. A heavy line separates lengths that
/// occur in training from longer ones. Maps with one training length show bars or, for losses, a curve.
class LengthMapView : public FigureView {
    Q_OBJECT

  public:
    explicit LengthMapView(QWidget* parent);

    /// @param losses  whether the maps show losses; names the figure even if there are no maps
    void setMaps(std::vector<LengthMap> maps, bool losses);
    const std::vector<LengthMap>& maps() const { return maps_; }

    /// Rectangle of a cell on the widget; empty if there is no such cell.
    QRectF cellRect(std::size_t map, std::size_t panel, std::int64_t trained, std::int64_t length) const;

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override { return QString::fromStdString(toCsv(maps_)); }
    QString figureCaption() const override;
    QSize minFigureSize() const override { return {320, 200}; }

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    /// A panel with its position.
    struct PlacedPanel {
        const LengthMap* map;
        const LengthMap::Panel* panel;
        QRectF box;    ///< including its title
        QRectF cells;  ///< of the map alone

        QRectF cell(std::size_t row, std::size_t column) const;
    };
    std::vector<PlacedPanel> placed(const QRectF& area) const;
    void paintPanel(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const;
    void paintCells(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const;
    void paintRowLabels(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const;
    void paintSingleRow(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const;
    double heightOf(const PlacedPanel& panel, double mean) const;
    bool hasColors() const;
    void paintColorBar(QPainter& painter, const QRectF& area, const Theme& theme) const;
    /// Position of a value on the color scale, from the worst (0) to the best (1).
    double goodness(double mean) const;

    std::vector<LengthMap> maps_;
    bool losses_ = false;
    double worst_ = 0, best_ = 1;  ///< means at the ends of the color scale
};

}  // namespace roper
