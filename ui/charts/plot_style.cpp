#include "ui/charts/plot_style.h"

#include <array>

namespace roper {

QColor translucent(QColor color) {
    color.setAlpha(200);
    return color;
}

Qt::PenStyle dashOf(int number) {
    constexpr std::array kDashes = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine,
                                    Qt::DashDotDotLine};
    return kDashes[static_cast<std::size_t>(number) % kDashes.size()];
}

}  // namespace roper
