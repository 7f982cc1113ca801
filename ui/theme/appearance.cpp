#include "ui/theme/appearance.h"

#include <QApplication>
#include <QSettings>
#include <algorithm>

#include "ui/theme/lab_style.h"
#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

const char* const kAppearanceKey = "appearance";
const QStringList kNames{"system", "light", "dark"};

/// Whether the desktop's palette was dark at program start. Later the palette is the program's own.
bool isDesktopDark() {
    static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    return dark;
}

void apply(Appearance appearance) {
    const bool desktop = isDesktopDark();
    QApplication::setPalette(
        fixedPalette(appearance == Appearance::system ? desktop : appearance == Appearance::dark));
}

const char* const kMotionKey = "reduce_motion";

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

bool isMotionReduced() {
    return QSettings().value(kMotionKey, false).toBool();
}

void setMotionReduced(bool reduced) {
    QSettings().setValue(kMotionKey, reduced);
}

int frameInterval(int usual_ms) {
    constexpr int kStep_ms = 800;
    return isMotionReduced() ? std::max(usual_ms, kStep_ms) : usual_ms;
}

}  // namespace roper
