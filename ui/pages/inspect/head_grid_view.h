#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/models_state.h"

namespace roper {

/// The attention of all heads at a glance: a row is a layer, each map scaled to its largest weight. A click
/// chooses a head.
class HeadGridView : public FigureView {
    Q_OBJECT

  public:
    HeadGridView(ModelsState& state, QWidget* parent);

    QRectF headRect(int layer, int head) const;

    QString figureName() const override { return QStringLiteral("all-heads"); }
    QSize defaultSize() const override { return {900, 340}; }
    QSize leastSize() const override { return {240, 200}; }
    QSize leastScreenSize() const override { return {200, 90}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    struct Grid {
        int columns = 1, rows = 1;
        QRectF box;
        QSizeF cell;
        bool across = false;  ///< layers run across: wider than high, for models of many layers
    };
    Grid grid(const QRectF& area) const;
    QRectF mapRect(const Grid& grid, int layer, int head) const;
    std::optional<std::pair<int, int>> headAt(const QPointF& at) const;

    ModelsState& state_;
};

}  // namespace roper
