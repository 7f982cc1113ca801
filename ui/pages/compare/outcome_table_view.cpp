#include "ui/pages/compare/outcome_table_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kMargin = 12, kColumnGap = 16, kHead = 30, kMinRowHeight = 22, kMaxRowHeight = 40,
                 kFootLine = 17;
constexpr double kMinTitleWidth = 145, kMinPlotWidth = 140, kMaxPlotWidth = 320;
// range of the axis to both sides of 0, in standard deviations
constexpr double kMinAxisLimit = 1, kMaxAxisLimit = 8;
constexpr double kMaxLabelWidth = 130;
constexpr double kArrow = 6;

enum Column { title, of_a, of_b, difference, interval, p, holm_p, plot, column_count };

/// Columns that are dropped if there is not enough room, in this order.
constexpr std::array kDropped = {plot, p, interval, holm_p};

/// Whether its difference has an interval that can be drawn in standard deviations.
bool hasInterval(const OutcomeRow& row) {
    const auto& test = row.comparison.test;
    return test && !row.is_sign_test && row.p && test->difference.standard_deviation > 0;
}

/// The end of any interval farthest from 0, in standard deviations, rounded up.
double axisLimitOf(const std::vector<OutcomeRow>& rows) {
    double most = kMinAxisLimit;
    for (const OutcomeRow& row : rows) {
        if (!hasInterval(row)) continue;
        const PairedTest& test = *row.comparison.test;
        for (const double end : {test.interval.low, test.interval.high})
            most = std::max(most, std::abs(end) / test.difference.standard_deviation);
    }
    return std::min(std::ceil(most), kMaxAxisLimit);
}

}  // namespace

/// Positions of columns and rows.
struct OutcomeTableView::Layout {
    std::array<double, column_count> left{}, width{};  ///< width 0: dropped
    std::array<QString, column_count> heads;
    double top = 0, row = kMinRowHeight;
    double foot = 0;  ///< upper edge of the note below

    QRectF cell(int column, double y, double height) const {
        return {left[column], y, width[column], height};
    }
};

OutcomeTableView::OutcomeTableView(CompareState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("outcome-table"), tr("All outcomes of the two groups")),
      state_(state) {
    setFocusPolicy(Qt::StrongFocus);
    setEmptyText(tr("No seed has an outcome in both groups yet."));
}

void OutcomeTableView::refresh() {
    rows_ = state_.outcomeTable();
    cells_.clear();
    for (const OutcomeRow& row : rows_)
        cells_.push_back(formatCells(row));
    axis_limit_ = axisLimitOf(rows_);
    update();
}

QString OutcomeTableView::cellText(std::size_t row, int column) const {
    const OutcomeCells& cells = cells_[row];
    const std::string* texts[] = {&cells.title,    &cells.a, &cells.b,     &cells.difference,
                                  &cells.interval, &cells.p, &cells.holm_p};
    return QString::fromStdString(*texts[column]);
}

OutcomeTableView::Layout OutcomeTableView::layoutOf(const QRectF& area, const QFont& font) const {
    Layout layout;
    const QFontMetricsF metrics(font);
    const auto [label_a, label_b] = differingLabels(rows_.front().comparison);
    const auto head = [&](const std::string& text) {
        return metrics.elidedText(QString::fromStdString(text), Qt::ElideMiddle, kMaxLabelWidth);
    };
    layout.heads = {tr("measure"),       head(label_a), head(label_b),   tr("difference"),
                    tr("95 % interval"), tr("p"),       tr("p by Holm"), QString()};
    for (int column = 0; column < plot; ++column) {
        double widest = QFontMetricsF(boldFont(font)).horizontalAdvance(layout.heads[column]);
        for (std::size_t row = 0; row < rows_.size(); ++row)
            widest = std::max(widest, metrics.horizontalAdvance(cellText(row, column)));
        layout.width[column] = widest + 2;
    }
    const double foot = 2 * kFootLine + 6;
    layout.top = area.top() + kHead;
    layout.row = std::clamp((area.height() - kHead - foot) / static_cast<double>(rows_.size()), kMinRowHeight,
                            kMaxRowHeight);
    layout.foot = layout.top + layout.row * static_cast<double>(rows_.size()) + 4;

    const double whole = area.width() - 2 * kMargin, widest_title = layout.width[title];
    const auto missing = [&] {
        double sum = -kColumnGap;
        for (const double width : layout.width)
            if (width > 0) sum += width + kColumnGap;
        return sum - whole;
    };
    layout.width[plot] = kMinPlotWidth;
    // Titles may take two lines before columns are dropped.
    if (layout.row >= 2 * metrics.height())
        layout.width[title] = std::max(kMinTitleWidth, widest_title - std::max(0.0, missing()));
    for (const int dropped : kDropped)
        if (missing() > 0) layout.width[dropped] = 0;
    layout.width[title] = std::max(kMinTitleWidth, std::min(layout.width[title] - missing(), widest_title));
    if (layout.width[plot] > 0) layout.width[plot] = std::min(kMaxPlotWidth, kMinPlotWidth - missing());
    double x = area.left() + kMargin;
    for (int column = 0; column < column_count; ++column) {
        layout.left[column] = x;
        if (layout.width[column] > 0) x += layout.width[column] + kColumnGap;
    }
    return layout;
}

/// Mean and interval of the differences, divided by their standard deviation; values in favor of the second
/// group are on the right.
void OutcomeTableView::paintInterval(QPainter& painter, const OutcomeRow& row, const QRectF& box,
                                     const Theme& theme) const {
    if (!hasInterval(row)) return;
    const auto& test = row.comparison.test;
    const double sign = infoOf(row.comparison.measure).higher_is_better ? 1 : -1;
    const auto isBeyond = [&](double value) {
        return std::abs(value) > axis_limit_ * test->difference.standard_deviation;
    };
    const auto x = [&](double value) {
        const double at =
            std::clamp(sign * value / test->difference.standard_deviation, -axis_limit_, axis_limit_);
        return box.center().x() + at / axis_limit_ * box.width() / 2;
    };
    const QColor color = sign * test->difference.mean >= 0 ? state_.colorB() : state_.colorA();
    const double y = box.center().y();
    painter.setPen(QPen(color, 2.4, Qt::SolidLine, Qt::FlatCap));
    painter.setBrush(color);
    painter.drawLine(QPointF(x(test->interval.low), y), QPointF(x(test->interval.high), y));
    // Interval ends beyond the axis are arrows; a mean beyond it is not drawn.
    for (const double end : {test->interval.low, test->interval.high}) {
        if (!isBeyond(end)) continue;
        const double tip = x(end), back = tip + (tip > box.center().x() ? -kArrow : kArrow);
        painter.drawPolygon(QPolygonF{{tip, y}, {back, y - kArrow * 0.6}, {back, y + kArrow * 0.6}});
    }
    if (!isBeyond(test->difference.mean)) painter.drawEllipse(QPointF(x(test->difference.mean), y), 3.2, 3.2);
    painter.setPen(QPen(theme.frame, 1));
    painter.drawLine(QPointF(box.center().x(), box.top()), QPointF(box.center().x(), box.bottom()));
}

void OutcomeTableView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (rows_.empty()) return paintNote(painter, area.adjusted(kMargin, 0, -kMargin, 0), emptyText(), theme);
    const QFont plain = painter.font();
    const Layout layout = layoutOf(area, plain);
    paintHeader(painter, layout, area.top(), theme);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double top = layout.top + layout.row * static_cast<double>(i);
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(area.left() + kMargin, top), QPointF(area.right() - kMargin, top));
        paintRow(painter, layout, i, theme);
    }
    painter.setFont(plain);
    drawColoredText(painter,
                    QRectF(area.left() + kMargin, layout.foot, area.width() - 2 * kMargin, 2 * kFootLine),
                    Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, footnote(layout), theme.faint_text);
}

void OutcomeTableView::paintHeader(QPainter& painter, const Layout& layout, double top,
                                   const Theme& theme) const {
    const QColor first = theme.readable(state_.colorA()), second = theme.readable(state_.colorB());
    const QFont plain = painter.font();
    painter.setFont(boldFont(plain));
    for (int column = 0; column < plot; ++column) {
        if (layout.width[column] == 0) continue;
        drawColoredText(painter, layout.cell(column, top, kHead),
                        (column == title ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter,
                        layout.heads[column],
                        column == of_a   ? first
                        : column == of_b ? second
                                         : theme.faint_text);
    }
    if (layout.width[plot] > 0) {
        const QRectF head = layout.cell(plot, top, kHead);
        drawColoredText(painter, head, kLeftMiddle, tr("← better"), first);
        drawColoredText(painter, head, kRightMiddle, tr("better →"), second);
    }
    painter.setFont(plain);
}

void OutcomeTableView::paintRow(QPainter& painter, const Layout& layout, std::size_t i,
                                const Theme& theme) const {
    const OutcomeRow& row = rows_[i];
    const QFont plain = painter.font();
    const double top = layout.top + layout.row * static_cast<double>(i);
    painter.setPen(theme.text);
    const QRectF box = layout.cell(title, top, layout.row);
    const QString text = cellText(i, title);
    const bool wraps = wrappedHeight(text, plain, box.width()) <= layout.row;
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter | (wraps ? Qt::TextWordWrap : 0),
                     wraps ? text : QFontMetricsF(plain).elidedText(text, Qt::ElideRight, box.width()));
    for (int column = title + 1; column < plot; ++column) {
        if (layout.width[column] == 0) continue;
        // Bold p values stay significant after the correction for multiple comparisons.
        const bool is_significant = column == holm_p && row.holm_p && *row.holm_p < kSignificance;
        painter.setFont(is_significant ? boldFont(plain) : plain);
        painter.drawText(layout.cell(column, top, layout.row), kRightMiddle, cellText(i, column));
    }
    painter.setFont(plain);
    if (layout.width[plot] > 0) paintInterval(painter, row, layout.cell(plot, top, layout.row), theme);
}

QString OutcomeTableView::footnote(const Layout& layout) const {
    QString note = tr("Means over pairs with equal seeds.");
    if (layout.width[holm_p] > 0)
        note += rows_.front().is_preregistered
                    ? tr(" By Holm: the primary measure, chosen before the runs, is "
                         "tested alone; the others are corrected for their number.")
                    : tr(" By Holm: corrected for the measures in this table.");
    if (layout.width[plot] > 0)
        note += tr(" Right: differences with their 95 % intervals, in standard deviations of the "
                   "differences, from −%1 to %1.")
                    .arg(axis_limit_);
    QStringList dropped;
    for (const int column : {interval, p, holm_p})
        if (layout.width[column] == 0) dropped << layout.heads[column];
    if (!dropped.isEmpty())
        note +=
            tr(" No room for: %1; see a wider figure or the CSV.").arg(dropped.join(QStringLiteral(", ")));
    else if (layout.width[plot] == 0)
        note += tr(" A wider figure also shows the intervals.");
    return note;
}

std::size_t OutcomeTableView::rowAt(const QPointF& at) const {
    if (rows_.empty()) return rows_.size();
    const Layout layout = layoutOf(canvas(), Zoom::instance().figureFont());
    const double row = std::floor((at.y() - layout.top) / layout.row);
    return row >= 0 && row < static_cast<double>(rows_.size()) ? static_cast<std::size_t>(row) : rows_.size();
}

/// Marks a row and shows what follows from it in the readout; clears both without a row.
void OutcomeTableView::setHoveredRow(std::size_t row) {
    hovered_ = row;
    update();
    emit hovered(row < rows_.size() ? QString::fromStdString(conclusionText(rows_[row].comparison))
                                    : QString());
}

void OutcomeTableView::choose(std::size_t row) {
    if (row < rows_.size())
        emit measureChosen(rows_[row].comparison.measure, rows_[row].comparison.solved_fraction);
}

void OutcomeTableView::mouseMoveEvent(QMouseEvent* event) {
    setHoveredRow(rowAt(event->position()));
    setCursor(hovered_ < rows_.size() ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void OutcomeTableView::leaveEvent(QEvent* event) {
    hovered_ = rows_.size();
    update();
    FigureView::leaveEvent(event);
}

void OutcomeTableView::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) choose(rowAt(event->position()));
}

void OutcomeTableView::keyPressEvent(QKeyEvent* event) {
    const bool is_hovered = hovered_ < rows_.size();
    if (event->key() == Qt::Key_Down && !rows_.empty())
        return setHoveredRow(is_hovered ? std::min(hovered_ + 1, rows_.size() - 1) : 0);
    if (event->key() == Qt::Key_Up && !rows_.empty())
        return setHoveredRow(is_hovered ? hovered_ - std::min<std::size_t>(hovered_, 1) : rows_.size() - 1);
    if (is_hovered &&
        (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space))
        return choose(hovered_);
    FigureView::keyPressEvent(event);
}

void OutcomeTableView::paintHovered(QPainter& painter, const Theme& theme) const {
    if (hovered_ >= rows_.size()) return;
    const QRectF area = canvas();
    const Layout layout = layoutOf(area, painter.font());
    const double top = layout.top + layout.row * static_cast<double>(hovered_);
    painter.fillRect(QRectF(area.left() + kMargin / 2, top, area.width() - kMargin, layout.row),
                     QColor(theme.text.red(), theme.text.green(), theme.text.blue(), 18));
}

QString OutcomeTableView::figureCaption() const {
    if (rows_.empty()) return tr("No outcomes to compare");
    const auto [label_a, label_b] = differingLabels(rows_.front().comparison);
    return tr("Outcomes of %1 and %2 over pairs with equal seeds: mean difference with its 95 % interval, "
              "paired t-test (sign test where a run never reached the target), p also corrected by Holm's "
              "method")
        .arg(QString::fromStdString(label_a), QString::fromStdString(label_b));
}

}  // namespace roper
