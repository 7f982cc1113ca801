#include "ui/theme/appearance.h"

#include <QApplication>
#include <QSettings>

#include "ui/theme/lab_style.h"
#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

const char* const kAppearanceKey = "appearance";
const QStringList kNames{"system", "light", "dark"};

/// Whether the desktop was dark at program start; later the palette is the program's own.
bool isDesktopDark() {
    static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    return dark;
}

void apply(Appearance appearance) {
    const bool desktop = isDesktopDark();
    QApplication::setPalette(
        fixedPalette(appearance == Appearance::system ? desktop : appearance == Appearance::dark));
}

}  // namespace

Appearance savedAppearance() {
    const auto found = kNames.indexOf(QSettings().value(kAppearanceKey).toString());
    return found < 0 ? Appearance::system : static_cast<Appearance>(found);
}

void setAppearance(Appearance appearance) {
    QSettings().setValue(kAppearanceKey, kNames[static_cast<int>(appearance)]);
    apply(appearance);
}

void applyApplicationStyle() {
    isDesktopDark();
    QApplication::setStyle(new LabStyle);
    apply(savedAppearance());
    Zoom::instance().restore();
}

}  // namespace roper
