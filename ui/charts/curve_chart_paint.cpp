#include <algorithm>

#include "ui/charts/csv_text.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/plot_style.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/type_scale.h"

// The look of a CurveChart, and its exported data.

namespace roper {

void CurveChart::applyStyle(const Canvas& canvas) const {
    const QFont small = axisFont(canvas.font);
    if (title_ != nullptr) {
        title_->setFont(boldFont(small));
        title_->setTextColor(canvas.theme.text);
        title_->setText(wrapped(title_text_, QFontMetricsF(boldFont(small)), canvas.size.width() - 24));
    }
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[i];
        QCPGraph* graph = graphOf(i);
        graph->setVisible(isCurveVisible(curve.key));
        // A curve that coincides with another is dashed, so that both are visible.
        graph->setPen(QPen(canvas.theme.visible(curve.color), curve.bold ? 2.4 : 1.5,
                           coincides_with_[i] && curve.dash == 0 ? Qt::DashLine : dashOf(curve.dash)));
        graph->setScatterStyle(curve.points ? QCPScatterStyle(QCPScatterStyle::ssDisc, 4)
                                            : QCPScatterStyle(QCPScatterStyle::ssNone));
    }
    // Too many overlapping bands would be indistinguishable.
    constexpr float kFew = 4, kBand = 0.18F;
    const float band = kBand * std::min(1.0F, kFew / static_cast<float>(bands_.size()));
    for (const auto& [of, edges] : bands_) {
        const Curve& curve = curves_[of];
        QColor fill = curve.color;
        fill.setAlphaF(curve.envelope ? 0.35F : band);
        edges.first->setBrush(fill);
        for (QCPGraph* edge : {edges.first, edges.second}) {
            edge->setVisible(isCurveVisible(curve.key));
            edge->setPen(curve.envelope ? QPen(curve.color, 1.2) : QPen(Qt::NoPen));
        }
    }
    applyMarkLook(canvas.theme, small);
}

void CurveChart::applyMarkLook(const Theme& theme, const QFont& font) const {
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        QCPItemStraightLine* line = mark_lines_[i];
        line->setPen(QPen(theme.faint_text, 1.2, Qt::DashLine));
        // A line is defined by two points; on a logarithmic axis both must be positive.
        line->point1->setCoords(mark.across ? 1 : mark.at, mark.across ? mark.at : 1);
        line->point2->setCoords(mark.across ? 2 : mark.at, mark.across ? mark.at : 2);
        QCPItemText* text = mark_texts_[i];
        text->setFont(font);
        text->setColor(theme.faint_text);
        text->setBrush(translucent(theme.background));
        text->setPadding({4, 1, 4, 1});
    }
}

void CurveChart::fillLegend(const Canvas& canvas) const {
    std::vector<PlotLegend::Entry> entries;
    std::vector<CurveLetters::Letter> on_curves;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[i];
        const QColor text = isCurveVisible(curve.key) ? canvas.theme.text : canvas.theme.frame;
        if (hasLegendLine(i)) entries.push_back({graphOf(i), nameInLegend(i), text, curve.letter});
        if (!curve.letter.isEmpty())
            on_curves.push_back({graphOf(i), curve.letter, canvas.theme.visible(curve.color)});
    }
    legend().fill(entries, canvas.legend ? legend_position_ : PlotLegend::Place::hidden,
                  axisFont(canvas.font), canvas.size);
    letters().setLetters(std::move(on_curves));
}

QString CurveChart::figureCaption() const {
    QStringList captions{caption_};
    for (std::size_t curve = 0; curve < curves_.size(); ++curve) {
        QStringList same;
        for (std::size_t other = 0; other < curves_.size(); ++other)
            if (coincides_with_[other] == curve) same << curves_[other].label;
        if (same.size() >= kMinCoinciding)
            captions << tr("Same as %1: %2").arg(curves_[curve].label, same.join(QStringLiteral(", ")));
    }
    QStringList letters;
    for (const Curve& curve : curves_)
        if (!curve.letter.isEmpty() && isCurveVisible(curve.key))
            letters << CurveLetters::labelled(curve.letter, curve.label).simplified();
    if (!letters.isEmpty()) captions << letters.join(QStringLiteral("; "));
    return captions.join(QStringLiteral(". "));
}

QString CurveChart::figureCsv() const {
    const bool has_bands =
        std::any_of(curves_.begin(), curves_.end(), [](const Curve& curve) { return !curve.low.isEmpty(); });
    CsvText csv(QStringLiteral("curve,%1,%2%3")
                    .arg(columnName(xName()), columnName(yName()),
                         has_bands ? QStringLiteral(",low,high") : QString()));
    for (const Curve& curve : curves_) {
        const auto edge = [](const QVector<double>& of, qsizetype i) {
            return of.isEmpty() ? std::nullopt : std::optional(of[i]);
        };
        for (qsizetype i = 0; isCurveVisible(curve.key) && i < curve.x.size(); ++i) {
            if (has_bands)
                csv.line(curve.key, curve.x[i], curve.y[i], edge(curve.low, i), edge(curve.high, i));
            else
                csv.line(curve.key, curve.x[i], curve.y[i]);
        }
    }
    return csv.text();
}

}  // namespace roper
