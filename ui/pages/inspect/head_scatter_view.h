#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/head_scores.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// A scatter plot with a dot for every head: x is its mean attention distance, y the entropy of its weights.
/// Dots are colored by the head's label, its layer, or a score such as the induction score. A click chooses
/// a head.
class HeadScatterView : public FigureView {
    Q_OBJECT

  public:
    HeadScatterView(InspectState& state, QWidget* parent);

    /// `slow_share`: `HeadReport::slow_share`. From `first_score` on, the entries of `headScores`.
    enum class ColorBy { label, slow_share, layer, first_score };
    void setColorBy(ColorBy color_by) { setAndUpdate(color_by_, color_by); }
    /// Shows only heads with this label; empty: all.
    void setLabel(const std::string& label) { setAndUpdate(label_, label); }
    /// Position of a head's dot on the canvas.
    QPointF dotOf(int layer, int head) const;

    QSize minFigureSize() const override { return {300, 220}; }
    QSize minScreenSize() const override { return {200, 110}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override {
        paintWithLegend(true, painter, area, theme);
    }
    bool hasLegend() const override { return state_.answer(answers::heads) != nullptr; }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

    /// Number of heads with each label that occurs, in the order in which `labelOf` tries labels.
    static std::vector<std::pair<std::string, int>> countedLabels(const HeadsAnswer& heads);
    static QColor colorOf(const std::string& label);
    /// Layer and head of the dot near a point of the canvas; nothing if there is none.
    std::optional<std::pair<int, int>> headAt(const QPointF& at) const;

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Frame {
        QRectF box;                                ///< plot area
        double max_distance = 1, max_entropy = 1;  ///< upper ends of the axes: tokens, nats
        QPointF at(const HeadReport& report) const;
    };
    struct LegendEntry {
        QColor color;
        QString text;
        QRectF place;
    };
    /// Entries of the legend, broken into lines that fit the width.
    std::vector<LegendEntry> legendIn(const QRectF& area, const Theme& theme) const;
    double legendHeight(const QRectF& area) const;
    Frame frame(const QRectF& area, bool legend) const;
    bool isShown(const HeadReport& report) const;
    QColor colorOf(const HeadReport& report, const Theme& theme) const;
    std::pair<QString, QString> scaleEndLabels() const;
    /// The score that the colors show; null: none.
    const HeadScore* shownScore() const { return scoreAt(static_cast<int>(color_by_), ColorBy::first_score); }
    const HeadReport* nearest(const QPointF& at) const;
    void paintAxes(QPainter& painter, const Frame& frame, const Theme& theme) const;
    void paintLegend(QPainter& painter, const QRectF& area, const Theme& theme) const;

    InspectState& state_;
    ColorBy color_by_ = ColorBy::label;
    std::string label_;  ///< only heads with this label are shown; empty: all
};

/// "layer 3, head 1: previous token (0.98)"
QString titleOfHead(const HeadReport& report);
/// The title, the numbers of the report, and those of the head's scores that are known.
QString describeHead(const HeadReport& report, const InspectState& state);

}  // namespace roper
