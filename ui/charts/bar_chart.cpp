#include "ui/charts/bar_chart.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/charts/ticks.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kLegend = 18;  // height of the legend's line
constexpr int kParts = 6;       // maximum number of intervals of the scale

}  // namespace

BarChart::BarChart(const QString& name, const QString& x, const QString& y, QWidget* parent)
    : FigureView(parent, name, y), x_name_(x), y_name_(y) {}

void BarChart::setBars(const std::vector<int>& categories, const std::vector<Series>& series) {
    categories_ = categories;
    series_ = series;
    update();
}

void BarChart::paintHovered(QPainter& painter, const Theme& theme) const {
    const auto found = hovered_ ? std::ranges::find(categories_, *hovered_) : categories_.end();
    if (found == categories_.end()) return;
    paintFrame(painter, categoryRect(static_cast<std::size_t>(found - categories_.begin())), theme);
}

double BarChart::headlineHeight(double width) const {
    return wrappedHeight(headline(), smallFont(font()), width - 16);
}

double BarChart::legendWidth() const {
    if (series_.size() < 2) return 0;
    double width = 0;
    for (const Series& one : series_)
        width += QFontMetricsF(smallFont(font())).horizontalAdvance(one.label) + 30;
    return width;
}

bool BarChart::legendIsBelow(double width) const {
    return legendWidth() > 0 &&
           QFontMetricsF(smallFont(font())).horizontalAdvance(headline()) + legendWidth() + 24 > width;
}

QRectF BarChart::plot(const QRectF& area, bool legend) const {
    const double line = legend && legendIsBelow(area.width()) ? kLegend : 0;
    return area.adjusted(58, 10 + std::max(16.0, headlineHeight(area.width())) + line, -12, -32);
}

QString BarChart::nameOf(std::size_t index) const {
    const auto named = category_names_.find(categories_[index]);
    return named != category_names_.end() ? named->second
                                          : QString::number(categories_[index]).replace('-', QChar(0x2212));
}

QRectF BarChart::categoryRect(const QRectF& box, std::size_t index) const {
    const double step = box.width() / static_cast<double>(std::max<std::size_t>(categories_.size(), 1));
    return {box.left() + step * static_cast<double>(index), box.top(), step, box.height()};
}

std::optional<std::size_t> BarChart::indexAt(const QPointF& at) const {
    const QRectF box = plot(canvas());
    const double index = (at.x() - box.left()) / box.width() * static_cast<double>(categories_.size());
    if (!(index >= 0 && index < static_cast<double>(categories_.size()))) return std::nullopt;
    return static_cast<std::size_t>(index);
}

void BarChart::paintScale(QPainter& painter, const QRectF& box, double low, double high,
                          const Theme& theme) const {
    for (const double mark : niceTicks(low, high, kParts)) {
        const double y = box.bottom() - (mark - low) / (high - low) * box.height();
        painter.setPen(QPen(mark == 0 ? theme.frame : theme.grid, 1));
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
        drawColoredText(painter, QRectF(box.left() - 52, y - 9, 46, 18), kRightMiddle,
                        mark == 0 ? QStringLiteral("0") : numberText(mark, 3), theme.faint_text);
    }
}

/// Range of values with a margin; always contains 0.
std::pair<double, double> BarChart::valueRange() const {
    double low = 0, high = 0;
    const auto include = [&](double value) {
        if (!std::isfinite(value)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    };
    for (const Series& one : series_)
        for (const double value : one.values)
            include(value);
    for (const auto& [category, value] : disabled_places_)
        include(value);
    if (high == low) high = 1;
    const double margin = 0.04 * (high - low);
    return {low < 0 ? low - margin : low, high + margin};
}

void BarChart::paintWithLegend(bool legend, QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (categories_.empty() && !emptyText().isEmpty()) return paintNote(painter, area, emptyText(), theme);
    const QRectF box = plot(area, legend);
    painter.setFont(smallFont(painter.font()));
    const auto [low, high] = valueRange();
    paintScale(painter, box, low, high, theme);
    double widest = 0;
    for (std::size_t i = 0; i < categories_.size(); ++i)
        widest = std::max<double>(widest, painter.fontMetrics().horizontalAdvance(nameOf(i)));
    const auto every =
        static_cast<std::size_t>(std::max(1.0, std::ceil((widest + 6) / categoryRect(box, 0).width())));
    for (std::size_t i = 0; i < categories_.size(); ++i) {
        const QRectF bars = categoryRect(box, i);
        paintCategory(painter, bars, i, low, high, theme);
        const bool is_special =
            category_names_.size() < categories_.size() && category_names_.count(categories_[i]) > 0;
        if (i % every != 0 && !is_special) continue;
        drawColoredText(painter, QRectF(bars.center().x() - 30, box.bottom() + 2, 60, 14), Qt::AlignCenter,
                        nameOf(i), theme.faint_text);
    }
    drawColoredText(painter, QRectF(box.left(), box.bottom() + 16, box.width(), 15), Qt::AlignCenter, x_name_,
                    theme.faint_text);
    drawColoredText(painter,
                    QRectF(area.left() + 8, area.top() + 5, area.width() - 16, box.top() - area.top()),
                    Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, headline(), theme.text);
    const bool below = legendIsBelow(area.width());
    if (legend && hasLegend())
        paintLegend(painter, box.right(), below ? box.top() - kLegend - 2 : area.top() + 3, theme);
}

/// Draws the bars of one category, side by side.
void BarChart::paintCategory(QPainter& painter, const QRectF& area, std::size_t index, double low,
                             double high, const Theme& theme) const {
    const auto y = [&](double value) { return area.bottom() - (value - low) / (high - low) * area.height(); };
    constexpr double kMaxBarWidth = 48;  // maximum width of a bar, pixels
    const double count = static_cast<double>(std::max<std::size_t>(series_.size(), 1));
    const double bar = std::clamp(0.8 * area.width() / count, 0.6, kMaxBarWidth);
    const double left = area.center().x() - 0.5 * bar * count;
    const auto fill = [&](double from, double value, const QColor& color) {
        if (!std::isfinite(value)) return;
        painter.fillRect(QRectF(QPointF(from, y(0)), QPointF(from + bar, y(value))).normalized(), color);
    };
    if (categories_[index] == marked_) painter.fillRect(area, theme.faded(theme.text, 0.08));
    for (std::size_t s = 0; s < series_.size(); ++s)
        fill(left + bar * static_cast<double>(s), series_[s].values[index],
             series_[s].colors.empty() ? series_[s].color : series_[s].colors[index]);
    const auto disabled = disabled_places_.find(categories_[index]);
    if (disabled == disabled_places_.end()) return;
    fill(left, disabled->second, theme.grid);
    painter.setPen(QPen(theme.faint_text, 1.4));
    const QPointF center(area.center().x(), y(0));
    const double arm = std::min(4.0, 0.35 * area.width());
    painter.drawLine(center - QPointF(arm, arm), center + QPointF(arm, arm));
    painter.drawLine(center - QPointF(arm, -arm), center + QPointF(arm, -arm));
}

void BarChart::paintLegend(QPainter& painter, double right, double top, const Theme& theme) const {
    for (auto one = series_.rbegin(); one != series_.rend(); ++one) {
        const double width = painter.fontMetrics().horizontalAdvance(one->label);
        drawColoredText(painter, QRectF(right - width, top, width + 2, 18), Qt::AlignVCenter, one->label,
                        theme.text);
        painter.fillRect(QRectF(right - width - 16, top + 4, 10, 10), one->color);
        right -= width + 30;
    }
}

QString BarChart::figureCsv() const {
    QString header = columnName(x_name_) + QStringLiteral(",name");
    for (const Series& one : series_)
        header += ',' + one.key;
    CsvText csv(header);
    for (std::size_t i = 0; i < categories_.size(); ++i) {
        csv.cell(categories_[i]);
        csv.cell(nameOf(i).replace(QChar(0x2212), '-'));
        for (const Series& one : series_)
            csv.cell(one.values[i]);
        csv.end();
    }
    return csv.text();
}

void BarChart::mousePressEvent(QMouseEvent* event) {
    const auto index = indexAt(event->position());
    if (event->button() == Qt::LeftButton && index) emit categoryClicked(categories_[*index]);
}

void BarChart::mouseMoveEvent(QMouseEvent* event) {
    const auto index = indexAt(event->position());
    if (!index) return emit hovered({});
    emit categoryHovered(categories_[*index]);
    QStringList parts{QStringLiteral("%1 %2").arg(x_name_, nameOf(*index))};
    for (const Series& one : series_)
        if (std::isfinite(one.values[*index]))
            parts << QStringLiteral("%1 %2").arg(one.label, numberText(one.values[*index], 7));
    emit hovered(parts.join(QStringLiteral("    ")));
}

}  // namespace roper
