#include "ui/theme/zoom.h"

#include <QApplication>
#include <QSettings>
#include <QWidget>
#include <algorithm>

namespace roper {
namespace {

const char* const kZoomKey = "zoom";
constexpr double kFactors[] = {0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5};

/// Titles and small print have explicit sizes, which do not follow the program's font.
void scaleOwnFonts(double by) {
    for (QWidget* widget : QApplication::allWidgets())
        if (widget->testAttribute(Qt::WA_SetFont) &&
            (widget->font().resolveMask() & QFont::SizeResolved) != 0)
            widget->setFont(scaledFont(widget->font(), by));
}

}  // namespace

// Scaled by 1, so that the font has an explicit size.
Zoom::Zoom() : QObject(qApp), figure_font_(scaledFont(QApplication::font(), 1)) {}

Zoom& Zoom::instance() {
    static auto* zoom = new Zoom;  // owned by the application
    return *zoom;
}

void Zoom::restore() {
    set(QSettings().value(kZoomKey, 1.0).toDouble());
}

void Zoom::set(double factor) {
    if (!std::isfinite(factor)) return;
    factor = std::clamp(factor, kMinFactor, kMaxFactor);
    QSettings().setValue(kZoomKey, factor);
    if (factor == factor_) return;
    const double by = factor / factor_;
    factor_ = factor;
    scaleOwnFonts(by);
    QApplication::setFont(scaledFont(figure_font_, factor));
    emit changed();
}

void Zoom::step(int direction) {
    constexpr double kSame = 1e-6;
    const auto* next = direction > 0
                           ? std::upper_bound(std::begin(kFactors), std::end(kFactors), factor_ + kSame)
                           : std::lower_bound(std::begin(kFactors), std::end(kFactors), factor_ - kSame);
    if (direction < 0) next = next == std::begin(kFactors) ? next : next - 1;
    if (next != std::end(kFactors)) set(*next);
}

}  // namespace roper
