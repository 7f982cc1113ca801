#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/head_scores.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// Every head as a dot: mean attention distance along x, entropy of its weights along y. Dots are coloured by
/// the head's label, its layer, or a score such as the share of its scores that the slow pairs make. A click
/// chooses a head.
class AtlasView : public FigureView {
    Q_OBJECT

  public:
    AtlasView(InspectState& state, QWidget* parent);

    /// After these come the entries of `headScores`.
    enum class ColorBy { label, slow_fraction, layer, first_score };
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

    /// Number of heads per label, in the order of the rules, without labels that no head has.
    static std::vector<std::pair<std::string, int>> countedLabels(const HeadsAnswer& heads);
    static QColor colorOf(const std::string& label);
    /// Layer and head whose dot is near a point of the canvas.
    std::optional<std::pair<int, int>> headAt(const QPointF& at) const;

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Frame {
        QRectF box;
        double max_distance = 1, max_entropy = 1;
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
    /// The score that the colours show; null: none.
    const HeadScore* shownScore() const;
    const HeadReport* nearest(const QPointF& at) const;
    void paintAxes(QPainter& painter, const Frame& frame, const Theme& theme) const;
    void paintLegend(QPainter& painter, const QRectF& area, const Theme& theme) const;

    InspectState& state_;
    ColorBy color_by_ = ColorBy::label;
    std::string label_;
};

/// "layer 3, head 1: previous token (0.98)"
QString titleOfHead(const HeadReport& report);
/// The title with the measured numbers, and the head's scores if they are known.
QString describeHead(const HeadReport& report, const InspectState& state);

}  // namespace roper
