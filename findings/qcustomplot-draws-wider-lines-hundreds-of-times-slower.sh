#!/usr/bin/env bash
# QCustomPlot takes hundreds of times as long for a line of 1.01 pixels as for one of 1 pixel.
#
# Surprising: one expects a line of 1.5 or 2 pixels to cost about twice as much. But a width of exactly 1 becomes a Qt pen
# of width 0, which has a fast path; any other width, even 1.01, is drawn as one polyline that Qt's raster engine strokes
# into an outline and fills, including self-intersections. The plotting hint phFastPolylines draws solid lines segment by
# segment. It is off by default; its documentation warns of worse joins, but does not say that it decides between
# milliseconds and seconds.
#
# Versions: QCustomPlot 2.1.0 (Debian's libqcustomplot2.1-qt6 2.1.0+dfsg1-3.1), Qt 6.4.2, g++ 12.2.
# Seen, 5000 random points in 800 × 400 pixels, best of two, milliseconds:
#     width 1: 12.4
#     width 1.01: 2464.4
#     width 2: 2494.0
#     width 2 with phFastPolylines: 16.1
# Source: QCPAbstractPlottable1D::drawPolyline in qcustomplot.h, line 4636; phFastPolylines there, line 239.
# Ours: ui/charts/plot_style.cpp sets the hint for every plot; tests/bench/charts_bench.cpp measures charts that have it.
set -euo pipefail
for package in g++ qt6-base-dev libqcustomplot-dev libqcustomplot2.1-qt6; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/draw.cpp" <<'C'
#include <qcustomplot.h>

#include <QElapsedTimer>
#include <algorithm>
#include <cstdio>
#include <random>

double milliseconds(double width, bool fast) {
    QCustomPlot plot;
    plot.resize(800, 400);
    plot.setPlottingHint(QCP::phFastPolylines, fast);
    QVector<double> x, y;
    std::mt19937 random(1);
    for (int i = 0; i < 5000; ++i) {
        x.append(i);
        y.append(double(random() % 1000));
    }
    QCPGraph* graph = plot.addGraph();
    graph->setAdaptiveSampling(false);
    graph->setData(x, y, true);
    graph->setPen(QPen(Qt::blue, width));
    plot.rescaleAxes();
    double best = 1e9;
    for (int i = 0; i < 2; ++i) {
        QElapsedTimer timer;
        timer.start();
        plot.replot(QCustomPlot::rpImmediateRefresh);
        best = std::min(best, double(timer.nsecsElapsed()) / 1e6);
    }
    return best;
}

int main(int count, char** arguments) {
    const QApplication application(count, arguments);
    std::printf("QCustomPlot %s, Qt %s\n", QCUSTOMPLOT_VERSION_STR, qVersion());
    const double thin = milliseconds(1, false), hardly = milliseconds(1.01, false), thick = milliseconds(2, false),
                 fast = milliseconds(2, true);
    std::printf("width 1: %.1f\nwidth 1.01: %.1f\nwidth 2: %.1f\n", thin, hardly, thick);
    std::printf("width 2 with phFastPolylines: %.1f\n", fast);
    return thick > 5 * thin && hardly > 5 * thin && thick > 5 * fast ? 0 : 1;
}
C
headers=$(dpkg --listfiles qt6-base-dev | sed -n 's:/QtWidgets/QApplication$::p')
g++ -std=c++17 -O1 -fPIC -I"$headers" -I"$headers"/QtCore -I"$headers"/QtGui -I"$headers"/QtWidgets -I"$headers"/QtPrintSupport \
    "$folder/draw.cpp" -o "$folder/draw" -lQCustomPlotQt6 -lQt6PrintSupport -lQt6Widgets -lQt6Gui -lQt6Core
QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$folder timeout 300 "$folder/draw" || {
    echo "Changed: a thick line takes less than five times as long as a thin one, or the hint helps less than that."
    exit 1
}
