#include "ui/pages/inspect/pair_arrows.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/charts/plane_frame.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kArrowsMargin = 10, kDialLine = 18;
constexpr double kMaxSide = 190;       // of a dial, in pixels at zoom 1
constexpr double kSideWithLabel = 44;  // smaller dials have no numbers

/// The angle from one arrow to another, −180 to 180 degrees, counterclockwise.
double turnBetween(const QPointF& from, const QPointF& to) {
    const double cross = from.x() * to.y() - from.y() * to.x(), dot = QPointF::dotProduct(from, to);
    return std::atan2(cross, dot) * 180 / M_PI;
}

}  // namespace

PairArrows::PairArrows(const QString& name, QWidget* parent)
    : FigureView(parent, name, tr("Rotated pairs of features")) {}

void PairArrows::setVectors(Pairs pairs, std::vector<Vector> vectors, std::vector<double> contributions,
                            const QString& meaning) {
    pairs_ = std::move(pairs);
    vectors_ = std::move(vectors);
    contributions_ = std::move(contributions);
    meaning_ = meaning;
    longest_.clear();
    for (const Vector& vector : vectors_) {
        double longest = 0;
        for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
            longest = std::max(
                {longest, lengthOf(arrowOf(vector.before, pair)), lengthOf(arrowOf(vector.after, pair))});
        longest_.push_back(longest);
    }
    update();
}

QPointF PairArrows::arrowOf(const std::vector<double>& vector, std::size_t pair) const {
    return {vector.at(static_cast<std::size_t>(pairs_[pair][0])),
            vector.at(static_cast<std::size_t>(pairs_[pair][1]))};
}

QRectF PairArrows::Grid::cell(int pair) const {
    return {box.left() + side * (pair % columns), box.top() + side * (pair / columns), side, side};
}

double PairArrows::layLegend(QPainter* painter, const QRectF& area, const Theme* theme) const {
    const QFontMetricsF metrics(smallFont(font()));
    double x = area.left(), y = area.top();
    const auto item = [&](const QString& text, const auto& draw) {
        const double width = metrics.horizontalAdvance(text) + 42;
        if (x > area.left() && x + width > area.right()) {
            x = area.left();
            y += kDialLine;
        }
        if (painter != nullptr) {
            draw(QPointF(x, y + kDialLine / 2), QPointF(x + 20, y + kDialLine / 2));
            drawColoredText(*painter, QRectF(x + 26, y, width, kDialLine), kLeftMiddle, text, theme->text);
        }
        x += width;
    };
    for (const Vector& vector : vectors_) {
        item(tr("%1, before").arg(vector.name), [&](const QPointF& from, const QPointF& to) {
            drawArrow(*painter, from, to, theme->ghost(vector.color), 2);
        });
        item(tr("after the rotation"), [&](const QPointF& from, const QPointF& to) {
            drawArrow(*painter, from, to, theme->visible(vector.color), 2);
        });
    }
    return y + kDialLine - area.top();
}

PairArrows::Grid PairArrows::gridIn(const QRectF& area, bool legend) const {
    QRectF box = area.adjusted(kArrowsMargin, 6, -kArrowsMargin, -6);
    box.setTop(box.top() + wrappedHeight(headline_, smallFont(font()), box.width()) + 4);
    if (legend) box.setTop(box.top() + layLegend(nullptr, box, nullptr) + 4);
    Grid grid{box};
    const auto count = std::max(1, static_cast<int>(pairs_.size()));
    for (int columns = 1; columns <= count; ++columns) {
        const int rows = (count + columns - 1) / columns;
        const double side = std::min({box.width() / columns, box.height() / rows, kMaxSide});
        if (side >= grid.side) {
            grid.side = side;
            grid.columns = columns;
        }
    }
    // Makes the rows as equal in length as possible, and centers them.
    const int rows = (count + grid.columns - 1) / grid.columns;
    grid.columns = (count + rows - 1) / rows;
    grid.box.setLeft(grid.box.left() + (grid.box.width() - grid.side * grid.columns) / 2);
    return grid;
}

void PairArrows::paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                 const Theme& theme) const {
    painter.setFont(smallFont(painter.font()));
    if (pairs_.empty() || vectors_.empty()) return paintNote(painter, area, emptyText(), theme);
    const QRectF inner = area.adjusted(kArrowsMargin, 6, -kArrowsMargin, -6);
    const double height = wrappedHeight(headline_, painter.font(), inner.width());
    drawColoredText(painter, QRectF(inner.left(), inner.top(), inner.width(), height),
                    Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, headline_, theme.text);
    if (legend) layLegend(&painter, inner.adjusted(0, height + 4, 0, 0), &theme);
    const Grid grid = gridIn(area, legend);
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
        paintDial(painter, grid.cell(static_cast<int>(pair)), pair, theme);
}

void PairArrows::paintDial(QPainter& painter, const QRectF& cell, std::size_t pair,
                           const Theme& theme) const {
    const bool has_label = cell.width() >= kSideWithLabel;
    QRectF round = cell.adjusted(3, 3, -3, has_label ? -kDialLine : -3);
    const double radius = std::min(round.width(), round.height()) / 2;
    const QPointF center = round.center();
    painter.setPen(QPen(theme.grid, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(center, radius, radius);
    for (std::size_t v = 0; v < vectors_.size(); ++v) {
        const auto tip = [&](const std::vector<double>& vector) {
            const QPointF arrow = arrowOf(vector, pair);
            const double length = lengthOf(arrow);
            if (length == 0) return center;
            // √length, because a few pairs are often ten times as long as the others.
            return center +
                   QPointF(arrow.x(), -arrow.y()) / length * radius * std::sqrt(length / longest_[v]);
        };
        drawArrow(painter, center, tip(vectors_[v].before), theme.ghost(vectors_[v].color), 1.5);
        drawArrow(painter, center, tip(vectors_[v].after), theme.visible(vectors_[v].color), 2);
    }
    if (!has_label) return;
    QString label = QString::number(pair);
    if (!contributions_.empty() && cell.width() >= 1.6 * kSideWithLabel)
        label = tr("%1: %2").arg(label, numberText(contributions_[pair], 2));
    drawColoredText(painter, QRectF(cell.left(), cell.bottom() - kDialLine, cell.width(), kDialLine),
                    Qt::AlignCenter, label, theme.faint_text);
}

QString PairArrows::describe(std::size_t pair) const {
    QStringList parts{tr("pair %1").arg(pair)};
    for (const Vector& vector : vectors_) {
        const QPointF before = arrowOf(vector.before, pair), after = arrowOf(vector.after, pair);
        parts << tr("%1: length %2, %3° from before to after")
                     .arg(vector.name, numberText(lengthOf(after), 3),
                          numberText(turnBetween(before, after), 3));
    }
    if (!contributions_.empty()) parts << meaning_ + ' ' + numberText(contributions_[pair], 3);
    return parts.join(QStringLiteral("    "));
}

void PairArrows::mouseMoveEvent(QMouseEvent* event) {
    const Grid grid = gridIn(canvas(), true);
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
        if (grid.cell(static_cast<int>(pair)).contains(event->position()))
            return emit hovered(describe(pair));
    emit hovered({});
}

QString PairArrows::figureCsv() const {
    CsvText csv(QStringLiteral("pair,vector,before_x,before_y,after_x,after_y,adds_to_score"));
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
        for (const Vector& vector : vectors_) {
            const QPointF before = arrowOf(vector.before, pair), after = arrowOf(vector.after, pair);
            csv.line(static_cast<int>(pair), vector.key, before.x(), before.y(), after.x(), after.y(),
                     contributions_.empty() ? std::nullopt : std::optional(contributions_[pair]));
        }
    return csv.text();
}

}  // namespace roper
