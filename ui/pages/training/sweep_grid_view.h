#pragma once

#include "core/cluster/sweep_run_status.h"
#include "ui/charts/figure_view.h"

namespace roper {

/// Runs submitted to a cluster, one cell each in order of submission: the color shows the run's stage, the
/// filling the progress of training.
class SweepGridView : public FigureView {
    Q_OBJECT

  public:
    explicit SweepGridView(QWidget* parent);

    void show(const std::vector<SweepRunStatus>& runs);
    /// Frames the cells of these runs.
    void setChosen(const std::vector<std::string>& runs) { setAndUpdate(chosen_, runs); }

    QSize minFigureSize() const override { return {240, 120}; }
    QSize minScreenSize() const override { return {160, 90}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    /// Rectangle of the run with this index; empty if there is none.
    QRectF cellRect(std::size_t cell) const;

  signals:
    void clicked(const QString& run);

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    QSize preferredSize() const override { return {420, 200}; }

  private:
    struct Grid {
        QRectF cells;     ///< the area of all cells
        double side = 0;  ///< of a cell, in pixels
        int columns = 1;
    };
    Grid gridIn(const QRectF& area) const;
    QRectF cellOf(const Grid& grid, std::size_t cell) const;
    std::optional<std::size_t> cellAt(const QPointF& place) const;

    std::vector<SweepRunStatus> runs_;
    std::vector<std::string> chosen_;
};

}  // namespace roper
