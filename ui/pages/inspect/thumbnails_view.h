#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// The attention of all heads, small; a click chooses the one that is shown large.
class ThumbnailsView : public FigureView {
    Q_OBJECT

  public:
    ThumbnailsView(InspectState& state, QWidget* parent);

    /// Where a head is drawn on the widget.
    QRectF headRect(std::size_t head) const;

    QString figureName() const override { return QStringLiteral("heads"); }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize leastSize() const override { return {240, 200}; }
    QSize leastScreenSize() const override { return {200, 120}; }

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    struct Grid {
        int columns = 1, rows = 1;
        double side = 0;  ///< of a map
        QPointF origin;
        QSizeF cell;
    };
    Grid grid(const QRectF& area) const;
    QRectF mapRect(const Grid& grid, std::size_t place) const;
    std::optional<std::size_t> placeAt(const QPointF& at) const;
    void paintMap(QPainter& painter, const Eigen::MatrixXd& weights, const QRectF& box,
                  const Theme& theme) const;
    QString describe(std::size_t head) const;

    InspectState& state_;
};

/// "layer 1, head 3"
QString headTitle(const HeadMaps& maps, std::size_t head);

}  // namespace roper
