#include "ui/pages/inspect/view_text.h"

#include <QFontDatabase>
#include <algorithm>

namespace roper {

void paintPlaceholder(QPainter& painter, const QRectF& area, const Theme& theme, const QString& text) {
    constexpr double kMargin = 12;
    painter.setPen(theme.faint_text);
    painter.drawText(area.adjusted(kMargin, kMargin, -kMargin, -kMargin), Qt::AlignCenter | Qt::TextWordWrap,
                     text);
}

QFont monospaced(const QFont& base, double times) {
    QFont mono = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    mono.setPointSizeF(base.pointSizeF() * times);
    return mono;
}

int TokenLines::at(const QPointF& point) const {
    const auto found = std::ranges::find_if(cells, [&](const QRectF& cell) { return cell.contains(point); });
    return found == cells.end() ? -1 : static_cast<int>(found - cells.begin());
}

TokenLines layOutTokens(const std::vector<std::string>& tokens, const QRectF& box,
                        const TokenSpacing& spacing,
                        const std::function<double(const std::string& token)>& width_of) {
    TokenLines lines;
    double x = box.left(), y = lines.bottom = box.top();
    const auto end_line = [&] {
        x = box.left();
        y += spacing.line;
    };
    for (const std::string& token : tokens) {
        const double width = width_of(token);
        if (x > box.left() && x + width > box.right()) end_line();
        lines.cells.emplace_back(x, y, width, spacing.height);
        lines.bottom = y + spacing.line;
        x += width + spacing.gap;
        if (spacing.breaks && token.find('\n') != std::string::npos) end_line();
    }
    return lines;
}

}  // namespace roper
