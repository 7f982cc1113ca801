#include "ui/pages/rotation/four_ways_view.h"

namespace roper {
namespace {

constexpr double kTextWidth = 250;

}  // namespace

FourWaysView::FourWaysView(RotationState& state, QWidget* parent)
    : HeatMapView(QStringLiteral("four-ways"), parent), state_(state) {
    setAccessibleName(tr("The rotation as a full matrix, and four ways to compute it"));
    connect(this, &HeatMapView::cellPointed, this, [this](int row, int column) {
        emit pointed(tr("R(m) row %1, column %2 = %3")
                         .arg(row)
                         .arg(column)
                         .arg((*map().values)(row, column), 0, 'f', 6)
                         .replace('-', QChar(0x2212)));
    });
    showState();
}

void FourWaysView::showState() {
    const Setup& setup = state_.setup();
    Map map;
    auto matrix = std::make_shared<Eigen::MatrixXd>(rotationMatrix(state_.rotary(), setup.position));
    map.pyramid = makePyramid(*matrix, Scale::diverging, 1.0, false);
    map.values = std::move(matrix);
    map.row_name = tr("feature out");
    map.column_name = tr("feature in");
    map.value_name = QStringLiteral("R(m)");
    setMap(std::move(map));
    const auto [first, second] = state_.rotary().plane(setup.pair);
    setMarked(first, second);
    setCaption(tr("R(%1) as a full matrix, d = %2, %3 pairing")
                   .arg(setup.position)
                   .arg(setup.head_dim)
                   .arg(setup.pairing == Pairing::half ? tr("half-split") : tr("interleaved")));
}

QRectF FourWaysView::mapArea(const QRectF& area) const {
    return area.adjusted(0, 0, -std::min(kTextWidth, 0.45 * area.width()), 0);
}

void FourWaysView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    painter.save();
    HeatMapView::paintFigure(painter, area, theme);
    painter.restore();
    const FourWays ways = rotateFourWays(state_.rotary(), state_.x(), state_.setup().position);
    const QString names[] = {tr("2 × 2 matrices"), tr("element-wise"), tr("complex"), tr("full matrix")};
    const QRectF place(mapArea(area).right() + 6, area.top() + 16, area.right() - mapArea(area).right() - 14,
                       area.height() - 20);
    const double line = painter.fontMetrics().height() + 5;
    double y = place.top();
    const auto write = [&](const QString& text, const QColor& color) {
        painter.setPen(color);
        const QRectF box(place.left(), y, place.width(), place.bottom() - y);
        QRectF used;
        painter.drawText(box, Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, text, &used);
        y += std::max(line, used.height() + 5);
    };
    QFont bold = painter.font();
    bold.setBold(true);
    painter.setFont(bold);
    write(tr("R(m)x computed four ways"), theme.text);
    bold.setBold(false);
    painter.setFont(bold);
    write(tr("largest difference between two of them"), theme.faint_text);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = i + 1; j < 4; ++j) {
            const double difference = (*ways.all()[i] - *ways.all()[j]).cwiseAbs().maxCoeff();
            write(QStringLiteral("%1 – %2:  %3").arg(names[i], names[j]).arg(difference, 0, 'g', 2),
                  theme.text);
        }
    }
    y += 6;
    write(tr("largest of all: %1").arg(ways.largestDifference(), 0, 'g', 2), theme.text);
    write(tr("The matrix has d² entries for 2d that are not 0 or 1: nobody multiplies by it."),
          theme.faint_text);
}

}  // namespace roper
