#!/usr/bin/env bash
# resvg draws no letters of an SVG file whose text is in Qt's default font.
#
# Surprising: if no desktop chooses a font, Qt's default is called "Sans Serif" (two words), and QSvgGenerator writes only
# that name, without a generic family as fallback. CSS has "sans-serif", with a hyphen; "Sans Serif" is the name of a font
# that does not exist. Renderers that use fontconfig draw the text nevertheless, so the file seems fine; resvg does not
# substitute a missing family: it omits the text and reports success.
#
# Versions: Qt 6.4.2 (Debian's qt6-svg-dev 6.4.2-2), resvg-py 0.5.0 (resvg 0.48.1), pillow 12.1.0, fonts-dejavu-core 2.37-6.
# Seen, for the word "Hello", with DejaVu Sans named to resvg as its sans-serif font:
#     Qt writes font-family="Sans Serif"
#     as Qt wrote it: 0 pixels of ink
#     with font-family="sans-serif": 1893 pixels of ink
#     with font-family="Sans Serif, sans-serif": 1893 pixels of ink
# Source: QSvgPaintEngine::qfontToSvg in qtsvg's src/svg/qsvggenerator.cpp; CSS Fonts, "generic font families".
# Ours: ui/charts/svg_text.cpp writes the name of the font that was used, with sans-serif or monospace behind it
# (tests/gui/figures_test.cpp, anSvgNamesTheFontsThatWereUsedAndAGenericOne).
set -euo pipefail
for package in g++ qt6-base-dev qt6-svg-dev fonts-dejavu-core; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet resvg-py==0.5.0 pillow==12.1.0
cat >"$folder/text.cpp" <<'C'
#include <QGuiApplication>
#include <QPainter>
#include <QSvgGenerator>

int main(int count, char** arguments) {
    const QGuiApplication application(count, arguments);
    QSvgGenerator svg;
    svg.setFileName(arguments[1]);
    svg.setSize({200, 100});
    svg.setViewBox(QRect(0, 0, 200, 100));
    QPainter painter(&svg);
    QFont font = painter.font();
    font.setPixelSize(40);
    painter.setFont(font);
    painter.setPen(Qt::black);
    painter.drawText(10, 60, "Hello");
}
C
headers=$(dpkg --listfiles qt6-base-dev | sed -n 's:/QtGui/QPainter$::p')
g++ -std=c++17 -fPIC -isystem "$headers" -isystem "$headers/QtCore" -isystem "$headers/QtGui" -isystem "$headers/QtSvg" \
    "$folder/text.cpp" -o "$folder/text" -lQt6Svg -lQt6Gui -lQt6Core
QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$folder "$folder/text" "$folder/text.svg"

"$folder/python/bin/python" - "$folder/text.svg" "$(dpkg --listfiles fonts-dejavu-core | grep '/DejaVuSans\.ttf$')" <<'PYTHON'
import io
import re
import sys

import resvg_py
from PIL import Image

path, font = sys.argv[1:]
svg = open(path).read()
(family,) = set(re.findall(r'font-family="([^"]*)"', svg))


def ink(text):
    picture = resvg_py.svg_to_bytes(svg_string=text, dpi=96, skip_system_fonts=True, font_files=[font], sans_serif_family="DejaVu Sans")
    alpha = Image.open(io.BytesIO(bytes(picture))).convert("RGBA").getchannel("A")
    return sum(alpha.histogram()[1:])


print(f'resvg {resvg_py.__resvg_version__}\nQt writes font-family="{family}"')
counts = [("as Qt wrote it", ink(svg))]
for other in ("sans-serif", "Sans Serif, sans-serif"):
    counts.append((f'with font-family="{other}"', ink(svg.replace(f'"{family}"', f'"{other}"'))))
for what, count in counts:
    print(f"{what}: {count} pixels of ink")
if family != "Sans Serif":
    sys.exit("Changed: Qt's default font has another name.")
if counts[0][1] > 0 or min(counts[1][1], counts[2][1]) < 500:
    sys.exit("Changed: resvg draws such text in another way.")
PYTHON
