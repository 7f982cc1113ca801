#include "ui/pages/rotation/four_ways_view.h"

#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kTextWidth = 270;                     // pixels
constexpr double kFullWidth = 230, kFullHeight = 370;  // minimum size of the text with formulas

}  // namespace

FourWaysView::FourWaysView(RotationState& state, QWidget* parent)
    : HeatMapView(QStringLiteral("four-ways"), parent), state_(state) {
    setAccessibleName(tr("The rotation as a full matrix, and four ways to compute it"));
    connect(this, &HeatMapView::cellHovered, this, [this](int row, int column) {
        emit hovered(tr("R(m) row %1, column %2 = %3")
                         .arg(row)
                         .arg(column)
                         .arg(fixedNumberText((*map().values)(row, column), 6)));
    });
    showState();
}

void FourWaysView::showState() {
    const Setup& setup = state_.setup();
    Map map;
    map.setValues(rotationMatrix(state_.rotary(), setup.position));
    map.row_name = tr("output feature");
    map.column_name = tr("input feature");
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
    const auto [first, second] = state_.rotary().plane(state_.setup().pair);
    const QString x = withSubscript(QStringLiteral("x"), first),
                  second_x = withSubscript(QStringLiteral("x"), second);
    const std::pair<QString, QString> texts[] = {
        {tr("2 × 2 matrices"), tr("(%1 cos − %2 sin, %1 sin + %2 cos)").arg(x, second_x)},
        {tr("element-wise"), tr("x ⊗ cos + x̃ ⊗ sin, x̃ of %1 is −%2").arg(x, second_x)},
        {tr("complex"), tr("(%1 + i %2) e^(imθ)").arg(x, second_x)},
        {tr("full matrix"), tr("R(m)x with all %1 entries").arg(state_.x().size() * state_.x().size())}};
    const QRectF text_area(mapArea(area).right() + 6, area.top() + 16,
                           area.right() - mapArea(area).right() - 14, area.height() - 20);
    const bool has_room = text_area.width() >= kFullWidth && text_area.height() >= kFullHeight;
    const QFont plain = has_room ? painter.font() : smallFont(painter.font());
    const int digits = has_room ? 6 : 4;
    double y = text_area.top();
    const auto write = [&](const QString& text, const QColor& color) {
        painter.setPen(color);
        const QRectF box(text_area.left(), y, text_area.width(), text_area.bottom() - y);
        QRectF used;
        painter.drawText(box, Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, text, &used);
        y += used.height() + (has_room ? 5 : 2);
    };
    painter.setFont(boldFont(plain));
    write(tr("R(m)x computed four ways"), theme.text);
    painter.setFont(plain);
    write(tr("features %1 and %2 (pair %3):").arg(first).arg(second).arg(state_.setup().pair),
          theme.faint_text);
    for (std::size_t way = 0; way < 4; ++way) {
        const Eigen::VectorXd& rotated = *ways.all()[way];
        y += has_room ? 4 : 0;
        write(QStringLiteral("%1: %2, %3")
                  .arg(texts[way].first, numberText(rotated[first], digits),
                       numberText(rotated[second], digits)),
              theme.text);
        if (has_room) write(texts[way].second, theme.faint_text);
    }
    y += has_room ? 8 : 4;
    write(tr("largest difference over all features: %1").arg(numberText(ways.largestDifference(), 2)),
          theme.text);
    if (has_room)
        write(tr("The matrix has d² entries, 2d of them neither 0 nor 1: implementations avoid it."),
              theme.faint_text);
}

}  // namespace roper
