#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QHash>
#include <QPixmap>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/methods/position_method.h"

namespace roper {

QColor mixed(const QColor& a, const QColor& b, double fraction_of_b) {
    const auto blend = [&](int x, int y) {
        return static_cast<int>(std::lround(x + (y - x) * fraction_of_b));
    };
    return QColor(blend(a.red(), b.red()), blend(a.green(), b.green()), blend(a.blue(), b.blue()));
}

namespace {

/// Nine evenly spaced colors of viridis (van der Walt & Smith 2015), perceptually uniform and safe for
/// color-blind readers.
constexpr std::array<QRgb, 9> kViridis = {0xff440154, 0xff472d7b, 0xff3b528b, 0xff2c728e, 0xff21918c,
                                          0xff28ae80, 0xff5ec962, 0xffaddc30, 0xfffde725};

/// Interpolates between evenly spaced stops, at a position from 0 to 1.
template <class Stops>
QColor colorAlong(const Stops& stops, double at) {
    const double place = at * static_cast<double>(stops.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), stops.size() - 2);
    return mixed(QColor(stops[below]), QColor(stops[below + 1]), place - static_cast<double>(below));
}

QColor viridis(double at) {
    return colorAlong(kViridis, std::clamp(at, 0.0, 1.0));
}

/// 256 colors interpolated between evenly spaced stops.
std::array<QRgb, 256> tableOf(const std::vector<QColor>& stops) {
    std::array<QRgb, 256> table;
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = colorAlong(stops, static_cast<double>(i) / 255).rgb();
    return table;
}

}  // namespace

Theme Theme::of(const QPalette& palette) {
    Theme theme;
    // Figures do not become paler when the page is disabled.
    theme.background = palette.color(QPalette::Active, QPalette::Base);
    theme.text = palette.color(QPalette::Active, QPalette::Text);
    theme.dark = theme.background.lightness() < 128;
    theme.faint_text = mixed(theme.background, theme.text, 0.68);
    theme.grid = mixed(theme.background, theme.text, 0.14);
    theme.frame = mixed(theme.background, theme.text, 0.52);
    return theme;
}

Theme Theme::light() {
    return of(fixedPalette(false));
}

QColor Theme::pair(int i, int n) const {
    const double along = n > 1 ? static_cast<double>(i) / (n - 1) : 0.0;
    // The colors near the background color are not used.
    return dark ? viridis(0.95 - 0.70 * along) : viridis(0.80 * along);
}

std::array<QRgb, 256> Theme::divergingColors() const {
    return dark ? tableOf({"#f6d99b", "#bf812d", "#6b4a1c", background, "#14564f", "#35978f", "#b9ebe2"})
                : tableOf({"#543005", "#a8681d", "#e3c688", background, "#94d1c6", "#20837a", "#003c30"});
}

std::array<QRgb, 256> Theme::sequentialColors() const {
    // Magma (van der Walt & Smith 2015), with the end near the background replaced by the background.
    return dark ? tableOf({background, "#331067", "#641a80", "#982d80", "#cd4071", "#f1605d", "#fc9f6f",
                           "#fcfdbf"})
                : tableOf({background, "#fec98d", "#fd9668", "#f1605d", "#cd4071", "#982d80", "#641a80",
                           "#1c1044"});
}

std::array<QRgb, 256> Theme::categoryColors() const {
    // Hues a golden section apart, so that neighbors differ.
    constexpr double kGoldenSection = 0.6180339887;
    constexpr float kSaturation = 0.55F;
    const auto lightness = dark ? std::array{0.62F, 0.48F, 0.74F} : std::array{0.58F, 0.72F, 0.46F};
    std::array<QRgb, 256> table;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const double hue = std::fmod(static_cast<double>(i) * kGoldenSection, 1);
        table[i] =
            QColor::fromHslF(static_cast<float>(hue), kSaturation, lightness[i % lightness.size()]).rgb();
    }
    return table;
}

QColor Theme::method(const std::string& position) {
    for (const PositionMethod& method : positionMethods())
        if (method.name == position) return QColor(QRgb(method.color));
    return QColor(QRgb(PositionMethod{}.color));  // imported metrics may name an unknown method
}

QColor Theme::run(const std::string& position, int number) const {
    const QColor base = method(position);
    constexpr std::array kSteps = {0.0, 0.35, -0.30, 0.58, -0.15, 0.18, -0.42, 0.47};
    const double step = kSteps[static_cast<std::size_t>(number) % kSteps.size()];
    return step >= 0 ? mixed(base, Qt::white, step) : mixed(base, Qt::black, -step);
}

QColor Theme::firstWithContrast(const Mixes& mixes, double least) const {
    constexpr double kStep = 0.05;
    for (double fraction = mixes.first_fraction; fraction < 1; fraction += kStep) {
        const QColor tried = mixed(mixes.from, mixes.to, fraction);
        if (contrast(tried, background) >= least) return tried;
    }
    return mixes.to;
}

QColor Theme::readable(const QColor& color) const {
    constexpr double kTextContrast = 4.5;
    return firstWithContrast({.from = color, .to = text}, kTextContrast);
}

QColor Theme::visible(const QColor& color) const {
    constexpr double kLineContrast = 3;
    return firstWithContrast({.from = color, .to = text}, kLineContrast);
}

QColor Theme::ghost(const QColor& color) const {
    // On a light background, colors themselves have little more than 3 : 1.
    const double min_contrast = dark ? 3 : 1.8;
    return firstWithContrast({.from = background, .to = color, .first_fraction = 0.3}, min_contrast);
}

double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& color) {
        const auto linear = [](double value) {
            return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
               0.0722 * linear(color.blueF());
    };
    const double first = luminance(a), second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

QColor Theme::faded(const QColor& color, double fraction) const {
    return mixed(background, color, fraction);
}

QPalette fixedPalette(bool dark) {
    QPalette palette;
    const QColor window = dark ? QColor(0x24, 0x26, 0x2a) : QColor(0xf4, 0xf5, 0xf6);
    const QColor base = dark ? QColor(0x1b, 0x1c, 0x1f) : QColor(0xff, 0xff, 0xff);
    const QColor text = dark ? QColor(0xe6, 0xe7, 0xe9) : QColor(0x1c, 0x1e, 0x21);
    const QColor button = dark ? QColor(0x31, 0x34, 0x39) : QColor(0xea, 0xec, 0xee);
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::AlternateBase, mixed(base, text, 0.04));
    palette.setColor(QPalette::Text, text);
    palette.setColor(QPalette::Button, button);
    palette.setColor(QPalette::ButtonText, text);
    palette.setColor(QPalette::ToolTipBase, button);
    palette.setColor(QPalette::ToolTipText, text);
    palette.setColor(QPalette::PlaceholderText, mixed(window, text, 0.68));
    // Not the color of a position method.
    palette.setColor(QPalette::Highlight, dark ? QColor(0x4a, 0x54, 0x66) : QColor(0xcf, 0xd8, 0xe6));
    palette.setColor(QPalette::HighlightedText, text);
    palette.setColor(QPalette::Link, dark ? Theme::query() : Theme::rope());
    palette.setColor(QPalette::Mid, mixed(window, text, 0.25));
    palette.setColor(QPalette::Dark, mixed(window, text, 0.4));
    palette.setColor(QPalette::Light, mixed(window, dark ? text : QColor(Qt::white), dark ? 0.12 : 0.8));
    for (const auto role : {QPalette::Text, QPalette::ButtonText, QPalette::WindowText})
        palette.setColor(QPalette::Disabled, role, mixed(window, text, 0.4));
    return palette;
}

QIcon swatch(const QColor& color) {
    constexpr int kSide = 12, kMaxIcons = 1000;
    static QHash<QRgb, QIcon> made;
    // Icons must be destroyed before Qt's application object.
    [[maybe_unused]] static const bool cleared_in_time = [] {
        qAddPostRoutine([] { made.clear(); });
        return true;
    }();
    const auto known = made.constFind(color.rgba());
    if (known != made.constEnd()) return *known;
    if (made.size() >= kMaxIcons) made.clear();
    QPixmap square(kSide, kSide);
    square.fill(color);
    return made[color.rgba()] = QIcon(square);
}

}  // namespace roper
