#pragma once

#include "core/compare/outcome_table.h"
#include "ui/charts/figure_view.h"
#include "ui/pages/compare/compare_state.h"

namespace roper {

/// All measures of the two compared groups in one table: means, difference, interval, p, and intervals drawn
/// in units of the standard deviation over pairs. A click, or Enter after the arrow keys, chooses the page's
/// measure.
class OutcomeTableView : public FigureView {
    Q_OBJECT

  public:
    OutcomeTableView(CompareState& state, QWidget* parent);

    /// Reads the runs of both groups again.
    void refresh();
    const std::vector<OutcomeRow>& rows() const { return rows_; }

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override { return QString::fromStdString(toCsv(rows_)); }
    QString figureCaption() const override;
    QSize minFigureSize() const override { return {560, 280}; }

  signals:
    void measureChosen(roper::Measure measure, double solved_fraction);

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void leaveEvent(QEvent* event) override;

  private:
    struct Layout;
    Layout layoutOf(const QRectF& area, const QFont& font) const;
    void paintHeader(QPainter& painter, const Layout& layout, double top, const Theme& theme) const;
    void paintRow(QPainter& painter, const Layout& layout, std::size_t row, const Theme& theme) const;
    void paintInterval(QPainter& painter, const OutcomeRow& row, const QRectF& box, const Theme& theme) const;
    QString footnote(const Layout& layout) const;
    QString cellText(std::size_t row, int column) const;
    void setHoveredRow(std::size_t row);
    void choose(std::size_t row);
    std::size_t rowAt(const QPointF& at) const;

    CompareState& state_;
    std::vector<OutcomeRow> rows_;
    std::vector<OutcomeCells> cells_;  ///< per row
    double axis_limit_ = 1;            ///< of the intervals' axis, in standard deviations
    std::size_t hovered_ = static_cast<std::size_t>(-1);
};

}  // namespace roper
