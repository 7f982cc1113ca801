#include <algorithm>

#include "ui/charts/csv_text.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/plot_style.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/type_scale.h"

// How a CurveChart looks, and the numbers behind it.

namespace roper {

void CurveChart::applyTheme(const Theme& theme, const QFont& font, double width) const {
    const QFont small = smallFont(font);
    applyPlotTheme(*plot_, theme, small);
    plot_->legend->setTextColor(theme.text);
    if (title_ != nullptr) {
        title_->setFont(boldFont(small));
        title_->setTextColor(theme.text);
        title_->setText(wrapped(title_text_, QFontMetricsF(boldFont(small)), width - 24));
    }
    crosshair_->setPen(QPen(theme.frame, 1, Qt::DashLine));
    letters_->setLook(small, theme.text, theme.background);
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = plot_->graph(static_cast<int>(i));
        // A curve that lies on another is dashed, so that both are seen.
        graph->setPen(QPen(theme.visible(curves_[i].color), curves_[i].strong ? 2.4 : 1.5,
                           same_as_[i] && curves_[i].dash == 0 ? Qt::DashLine : dashOf(curves_[i].dash)));
        graph->setScatterStyle(curves_[i].points ? QCPScatterStyle(QCPScatterStyle::ssDisc, 4)
                                                 : QCPScatterStyle(QCPScatterStyle::ssNone));
    }
    // Many bands over one another would hide which is which.
    constexpr float kFew = 4, kBand = 0.18F;
    const float band = kBand * std::min(1.0F, kFew / static_cast<float>(bands_.size()));
    for (const auto& [curve, edges] : bands_) {
        QColor fill = curves_[curve].color;
        fill.setAlphaF(curves_[curve].envelope ? 0.35F : band);
        edges.first->setBrush(fill);
        for (QCPGraph* edge : {edges.first, edges.second})
            edge->setPen(curves_[curve].envelope ? QPen(curves_[curve].color, 1.2) : QPen(Qt::NoPen));
    }
    empty_label_->setColor(theme.faint_text);
    empty_label_->setFont(font);
    empty_label_->setText(wrapped(empty_text_, QFontMetricsF(font), width - 110));
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        QCPItemStraightLine* line = mark_lines_[i];
        line->setPen(QPen(theme.faint_text, 1.2, Qt::DashLine));
        // A line is set by two points of the data; on a logarithmic axis both must be above 0.
        line->point1->setCoords(mark.across ? 1 : mark.at, mark.across ? mark.at : 1);
        line->point2->setCoords(mark.across ? 2 : mark.at, mark.across ? mark.at : 2);
        QCPItemText* text = mark_texts_[i];
        text->setFont(small);
        text->setColor(theme.faint_text);
        text->setBrush(translucent(theme.background));
        text->setPadding({4, 1, 4, 1});
    }
}

void CurveChart::fillLegend(bool shown, const Theme& theme, const QFont& font, QSizeF picture) const {
    std::vector<PlotLegend::Entry> entries;
    std::vector<CurveLetters::Letter> letters;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = plot_->graph(static_cast<int>(i));
        const Curve& curve = curves_[i];
        if (hasLegendLine(i)) entries.push_back({graph, nameInLegend(i), theme.text, curve.letter});
        if (!curve.letter.isEmpty()) letters.push_back({graph, curve.letter, theme.visible(curve.color)});
    }
    legend_.fill(entries, shown ? legend_place_ : PlotLegend::Place::hidden, smallFont(font), picture);
    letters_->setLetters(std::move(letters));
    constexpr double kAround = 46;  // above the axes, and for the numbers and the name of the x axis
    plot_->yAxis->setLabel(
        QFontMetricsF(smallFont(font))
            .elidedText(y_name_, Qt::ElideRight, picture.height() - kAround - legend_.height()));
}

void CurveChart::applyOwnTheme() const {
    applyTheme(Theme::of(palette()), font(), width());
    fillLegend(hasLegend(), Theme::of(palette()), font(), size());
}

void CurveChart::paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                 const Theme& theme) const {
    applyTheme(theme, painter.font(), area.width());
    fillLegend(legend, theme, painter.font(), area.size());
    if (!zoomed_) fitAxes(painter.font(), area.height(), legend);
    const bool crosshair_shown = crosshair_->visible();
    crosshair_->setVisible(false);
    paintPlot(*plot_, painter, area);
    crosshair_->setVisible(crosshair_shown);
    applyOwnTheme();
    if (!zoomed_) fitOwnAxes();
}

QString CurveChart::figureCaption() const {
    QStringList captions{caption_};
    for (std::size_t curve = 0; curve < curves_.size(); ++curve) {
        QStringList same;
        for (std::size_t other = 0; other < curves_.size(); ++other)
            if (same_as_[other] == curve) same << curves_[other].label;
        if (same.size() >= kManyTheSame)
            captions << tr("The same as %1: %2").arg(curves_[curve].label, same.join(QStringLiteral(", ")));
    }
    QStringList letters;
    for (const Curve& curve : curves_)
        if (!curve.letter.isEmpty())
            letters << CurveLetters::labelled(curve.letter, curve.label).simplified();
    if (!letters.isEmpty()) captions << letters.join(QStringLiteral("; "));
    return captions.join(QStringLiteral(". "));
}

QString CurveChart::figureCsv() const {
    const auto plain = [](QString name) { return name.remove(',').replace(' ', '_'); };
    const bool has_bands =
        std::any_of(curves_.begin(), curves_.end(), [](const Curve& curve) { return !curve.low.isEmpty(); });
    QString csv =
        QStringLiteral("curve,%1,%2%3\n")
            .arg(plain(x_name_), plain(y_name_), has_bands ? QStringLiteral(",low,high") : QString());
    for (const Curve& curve : curves_) {
        for (qsizetype i = 0; i < curve.x.size(); ++i) {
            csv += quoted(curve.key);
            QList<double> numbers{curve.x[i], curve.y[i]};
            if (!curve.low.isEmpty()) numbers << curve.low[i] << curve.high[i];
            for (const double number : numbers)
                csv += ',' + QString::number(number, 'g', 17);
            if (has_bands && curve.low.isEmpty()) csv += QStringLiteral(",,");
            csv += '\n';
        }
    }
    return csv;
}

}  // namespace roper
