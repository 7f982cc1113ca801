#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/compare/compare_state.h"

namespace roper {

/// The RoPER note's table next to our results: for each task and method the target, our mean, a square for
/// every requested run, and the time that the missing ones would take on this machine.
class BoardView : public FigureView {
    Q_OBJECT

  public:
    explicit BoardView(QWidget* parent);

    void setRows(std::vector<BoardRow> rows) { setAndUpdate(rows_, std::move(rows)); }
    const std::vector<BoardRow>& rows() const { return rows_; }

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minFigureSize() const override { return {560, 300}; }

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    void paintRow(QPainter& painter, const BoardRow& row, const QRectF& box, const Theme& theme) const;
    void paintCell(QPainter& painter, const BoardRow& row, const BoardCell& cell, const QRectF& box,
                   const Theme& theme) const;

    std::vector<BoardRow> rows_;
};

}  // namespace roper
