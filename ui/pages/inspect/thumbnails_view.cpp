#include "ui/pages/inspect/thumbnails_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/live/published_models.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kGap = 10, kTitleHeight = 17, kThumbnailMargin = 8;
constexpr int kMostCells = 40;  // a side of a thumbnail: what a small picture can show

/// The largest weight of each of at most `kMostCells`² squares.
Eigen::MatrixXd reduced(const Eigen::MatrixXd& weights) {
    const auto T = static_cast<int>(weights.rows());
    const int span = (T + kMostCells - 1) / kMostCells, cells = (T + span - 1) / span;
    Eigen::MatrixXd small = Eigen::MatrixXd::Zero(cells, cells);
    for (int n = 0; n < T; ++n)
        for (int j = 0; j < T; ++j)
            small(n / span, j / span) = std::max(small(n / span, j / span), weights(n, j));
    return small;
}

}  // namespace

QString headTitle(const HeadMaps& maps, std::size_t head) {
    return ThumbnailsView::tr("layer %1, head %2").arg(maps.layerOf(head)).arg(maps.headOf(head));
}

ThumbnailsView::ThumbnailsView(InspectState& state, QWidget* parent) : FigureView(parent), state_(state) {
    setAccessibleName(tr("Attention of all heads"));
    setFocusPolicy(Qt::StrongFocus);
    for (auto signal :
         {&InspectState::mapsChanged, &InspectState::headChanged, &InspectState::messageChanged})
        connect(&state_, signal, this, qOverload<>(&QWidget::update));
}

/// By layer and head a row is a layer; in another order as many columns as make the maps largest.
ThumbnailsView::Grid ThumbnailsView::grid(const QRectF& area) const {
    const HeadMaps& maps = *state_.maps();
    const auto count = static_cast<int>(maps.count());
    const QRectF box =
        area.adjusted(kThumbnailMargin, kThumbnailMargin, -kThumbnailMargin, -kThumbnailMargin);
    const auto fit = [&](int columns) {
        Grid grid;
        grid.columns = columns;
        grid.rows = (count + columns - 1) / columns;
        grid.side = std::min((box.width() - kGap * (columns - 1)) / columns,
                             (box.height() - kGap * (grid.rows - 1)) / grid.rows - kTitleHeight);
        grid.cell = {grid.side + kGap, grid.side + kTitleHeight + kGap};
        grid.origin = box.topLeft();
        return grid;
    };
    if (state_.order() == HeadOrder::place) return fit(maps.heads);
    Grid best = fit(1);
    for (int columns = 2; columns <= count; ++columns)
        if (const Grid next = fit(columns); next.side > best.side) best = next;
    return best;
}

QRectF ThumbnailsView::mapRect(const Grid& grid, std::size_t place) const {
    const auto index = static_cast<int>(place);
    return {grid.origin.x() + grid.cell.width() * (index % grid.columns),
            grid.origin.y() + grid.cell.height() * (index / grid.columns) + kTitleHeight, grid.side,
            grid.side};
}

QRectF ThumbnailsView::headRect(std::size_t head) const {
    const auto order = state_.ordered();
    const auto place = std::find(order.begin(), order.end(), head) - order.begin();
    return mapRect(grid(canvas()), static_cast<std::size_t>(place));
}

void ThumbnailsView::paintMap(QPainter& painter, const Eigen::MatrixXd& weights, const QRectF& box,
                              const Theme& theme) const {
    const Eigen::MatrixXd small = reduced(weights);
    const auto colors = theme.sequentialColors();
    const double side = box.width() / static_cast<double>(small.rows());
    const double largest = std::max(small.maxCoeff(), 1e-12);
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (Eigen::Index row = 0; row < small.rows(); ++row) {
        for (Eigen::Index column = 0; column < small.cols(); ++column) {
            const double share = small(row, column) / largest;
            if (!(share > 0)) continue;  // the future, or what is not a number
            const auto index = static_cast<std::size_t>(std::lround(255 * std::min(share, 1.0)));
            painter.fillRect(QRectF(box.left() + side * static_cast<double>(column),
                                    box.top() + side * static_cast<double>(row), side + 0.2, side + 0.2),
                             QColor(colors[index]));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing);
}

void ThumbnailsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.maps()) {
        painter.setPen(theme.faint_text);
        const QString what =
            !state_.message().isEmpty() ? state_.message()
            : state_.run().isEmpty()
                ? tr("Choose a run.\nWithout runs: train one on the Training page first.")
            : isPublishedModel(state_.run())
                ? tr("Type a text and press “Look”: every head's attention to it is shown here.")
                : tr("This run has no snapshots (its setting snapshots.every is 0).\nType a text "
                     "and press “Look” to see its newest model's attention to it.");
        painter.drawText(area.adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap, what);
        return;
    }
    const Grid grid = this->grid(area);
    const auto order = state_.ordered();
    for (std::size_t place = 0; place < order.size(); ++place) {
        const std::size_t head = order[place];
        const QRectF box = mapRect(grid, place);
        paintMap(painter, *state_.maps()->weights[head], box, theme);
        const bool chosen = head == state_.head();
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(chosen ? Theme::roper() : theme.frame, chosen ? 2.4 : 1));
        painter.drawRect(box);
        painter.setPen(chosen ? theme.text : theme.faint_text);
        painter.drawText(
            QRectF(box.left(), box.top() - kTitleHeight, box.width(), kTitleHeight - 2),
            Qt::AlignLeft | Qt::AlignVCenter,
            box.width() > 90
                ? headTitle(*state_.maps(), head)
                : QStringLiteral("%1·%2").arg(state_.maps()->layerOf(head)).arg(state_.maps()->headOf(head)));
    }
}

QString ThumbnailsView::describe(std::size_t head) const {
    const HeadStatistics& s = state_.maps()->statistics[head];
    return tr("%1: entropy %2 nats, mean distance %3, at distance %4 on average %5 % of the weight")
        .arg(headTitle(*state_.maps(), head), noteNumber(s.entropy, 4), noteNumber(s.mean_distance, 4))
        .arg(s.diagonal_distance)
        .arg(noteNumber(100 * s.diagonal, 3));
}

std::optional<std::size_t> ThumbnailsView::placeAt(const QPointF& at) const {
    if (!state_.maps()) return std::nullopt;
    const Grid grid = this->grid(canvas());
    for (std::size_t place = 0; place < state_.maps()->count(); ++place)
        if (mapRect(grid, place).adjusted(0, -kTitleHeight, 0, 0).contains(at)) return place;
    return std::nullopt;
}

void ThumbnailsView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return FigureView::mousePressEvent(event);
    if (const auto place = placeAt(event->position())) state_.setHead(state_.ordered()[*place]);
}

void ThumbnailsView::mouseMoveEvent(QMouseEvent* event) {
    const auto place = placeAt(event->position());
    emit pointed(place ? describe(state_.ordered()[*place]) : QString());
}

void ThumbnailsView::keyPressEvent(QKeyEvent* event) {
    if (!state_.maps()) return FigureView::keyPressEvent(event);
    const auto order = state_.ordered();
    const auto at = std::find(order.begin(), order.end(), state_.head()) - order.begin();
    const int columns = grid(canvas()).columns;
    const int step = event->key() == Qt::Key_Right  ? 1
                     : event->key() == Qt::Key_Left ? -1
                     : event->key() == Qt::Key_Down ? columns
                     : event->key() == Qt::Key_Up   ? -columns
                                                    : 0;
    if (step == 0) return FigureView::keyPressEvent(event);
    const auto next = std::clamp<std::ptrdiff_t>(at + step, 0, std::ssize(order) - 1);
    state_.setHead(order[static_cast<std::size_t>(next)]);
}

QString ThumbnailsView::figureCsv() const {
    QString csv = QStringLiteral("layer,head,entropy_nats,mean_distance,diagonal_share,diagonal_distance\n");
    if (!state_.maps()) return csv;
    for (const std::size_t head : state_.ordered()) {
        const HeadStatistics& s = state_.maps()->statistics[head];
        csv += QStringLiteral("%1,%2,%3,%4,%5,%6\n")
                   .arg(state_.maps()->layerOf(head))
                   .arg(state_.maps()->headOf(head))
                   .arg(s.entropy, 0, 'g', 17)
                   .arg(s.mean_distance, 0, 'g', 17)
                   .arg(s.diagonal, 0, 'g', 17)
                   .arg(s.diagonal_distance);
    }
    return csv;
}

QString ThumbnailsView::figureCaption() const {
    if (!state_.maps()) return {};
    return tr("Attention of all heads of %1, each scaled to its largest weight; text “%2”")
        .arg(modelAtStep(state_.run(), state_.maps()->step), QString::fromStdString(state_.maps()->text));
}

}  // namespace roper
