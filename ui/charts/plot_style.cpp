#include "ui/charts/plot_style.h"

#include <QPicture>
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

void applyPlotTheme(QCustomPlot& plot, const Theme& theme, const QFont& font) {
    plot.setPlottingHint(QCP::phFastPolylines, true);
    plot.setBackground(theme.background);
    plot.setFont(font);
    for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
        axis->setBasePen(QPen(theme.frame, 1));
        axis->setTickPen(QPen(theme.frame, 1));
        axis->setSubTickPen(QPen(theme.grid, 1));
        axis->setTickLabelColor(theme.faint_text);
        axis->setLabelColor(theme.text);
        axis->grid()->setPen(QPen(theme.grid, 1));
        axis->grid()->setZeroLinePen(QPen(theme.grid, 1));
        axis->setTickLabelFont(font);
        axis->setLabelFont(font);
    }
    plot.legend->setBrush(translucent(theme.background));
    plot.legend->setFont(font);
    plot.legend->setTextColor(theme.text);
}

void paintPlot(QCustomPlot& plot, QPainter& painter, const QRectF& area) {
    // QCustomPlot draws only with a painter of its own; a picture carries what it drew over, still as lines
    // and text.
    QPicture picture;
    QCPPainter recorder(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    recorder.setMode(QCPPainter::pmNoCaching);
    plot.toPainter(&recorder, static_cast<int>(area.width()), static_cast<int>(area.height()));
    recorder.end();
    painter.drawPicture(area.topLeft(), picture);
}

}  // namespace roper
