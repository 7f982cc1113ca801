#!/usr/bin/env bash
# QSvgGenerator of Qt 6.4 silently writes everything that QPainter's clip region should hide.
#
# Surprising: on pixels and in PDF files the same painter respects its clip region; here hasClipping() and
# clipBoundingRect() return as if it were in force, and there is no warning, unlike for conical gradients and composition
# modes. A curve clipped to the frame of its chart extends over the whole page.
#
# Versions: Qt 6.4.2 (Debian's qt6-base-dev 6.4.2+dfsg-10, qt6-svg-dev 6.4.2-2), g++ 12.2.
# Seen, for a rectangle of 200 × 100 filled with a clip of 50 × 100 (red pixels; the file is drawn by Qt's own QSvgRenderer):
#     painter on SVG: hasClipping 1, clip 50 x 100
#     drawn on a QImage: 5000
#     drawn on a QSvgGenerator, then the file: 20000
#     the file speaks of a clip: 0
# Source: QSvgPaintEngine::updateState in qtsvg's src/svg/qsvggenerator.cpp writes brush, pen, transformation, font and opacity.
# Ours: ui/charts/heat_map_paint.cpp sets a clip region, and so does QCustomPlot around each curve;
# tests/gui/figures_test.cpp reads the SVG files of all figures, but none of our tests checks for content outside a frame.
set -euo pipefail
for package in g++ qt6-base-dev qt6-svg-dev; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/clip.cpp" <<'C'
#include <QBuffer>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSvgGenerator>
#include <QSvgRenderer>
#include <cstdio>

void draw(QPainter& painter) {
    painter.setClipRect(0, 0, 50, 100);
    painter.fillRect(0, 0, 200, 100, Qt::red);
}

QImage blank() {
    QImage image(200, 100, QImage::Format_RGB32);
    image.fill(Qt::white);
    return image;
}

int red(const QImage& image) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == QColor(Qt::red);
    return count;
}

int main(int count, char** arguments) {
    const QGuiApplication application(count, arguments);
    QImage direct = blank(), from_file = blank();
    QPainter painter(&direct);
    draw(painter);
    painter.end();
    QBuffer file;
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setSize({200, 100});
    svg.setViewBox(QRect(0, 0, 200, 100));
    painter.begin(&svg);
    draw(painter);
    const QSizeF clip = painter.clipBoundingRect().size();
    std::printf("Qt %s\npainter on SVG: hasClipping %d, clip %g x %g\n", qVersion(), painter.hasClipping(), clip.width(), clip.height());
    painter.end();
    painter.begin(&from_file);
    QSvgRenderer(file.data()).render(&painter);
    painter.end();
    std::printf("drawn on a QImage: %d\ndrawn on a QSvgGenerator, then the file: %d\n", red(direct), red(from_file));
    std::printf("the file speaks of a clip: %d\n", file.data().contains("clip"));
    return red(direct) == 5000 && red(from_file) == 20000 ? 0 : 1;
}
C
headers=$(dpkg --listfiles qt6-base-dev | sed -n 's:/QtGui/QPainter$::p')
g++ -std=c++17 -fPIC -isystem "$headers" -isystem "$headers/QtCore" -isystem "$headers/QtGui" -isystem "$headers/QtSvg" \
    "$folder/clip.cpp" -o "$folder/clip" -lQt6Svg -lQt6Gui -lQt6Core
QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$folder "$folder/clip" || {
    echo "Changed: an SVG file of Qt now stays within the clip, or the comparison no longer holds."
    exit 1
}
