#include "ui/theme/numbers.h"

#include <QObject>
#include <algorithm>
#include <cmath>

namespace roper {

QString numberText(double value, int digits) {
    return QString::number(value, 'g', digits).replace('-', QChar(0x2212));
}

QString fixedNumberText(double value, int decimals) {
    return QString::number(value, 'f', decimals).replace('-', QChar(0x2212));
}

QString probabilityText(double probability) {
    constexpr double kMinPercent = 0.01;
    const double percent = 100 * probability;
    if (percent > 0 && percent < kMinPercent) return QObject::tr("< 0.01 %");
    if (percent < 100 && percent > 100 - kMinPercent) return QObject::tr("> 99.99 %");
    return QString::number(percent, 'f', percent < 10 ? 2 : 1) + QStringLiteral(" %");
}

QString countText(int count, const QString& noun) {
    return QStringLiteral("%1 %2%3").arg(count).arg(noun, count == 1 ? QString() : QStringLiteral("s"));
}

QString shortDuration(double seconds) {
    const auto count = [](double value) { return QString::number(std::max(1.0, std::round(value)), 'f', 0); };
    if (seconds < 100) return QObject::tr("%1 s").arg(count(seconds));
    if (seconds < 100 * 60) return QObject::tr("%1 min").arg(count(seconds / 60));
    if (seconds < 48 * 3600) return QObject::tr("%1 h").arg(count(seconds / 3600));
    return QObject::tr("%1 days").arg(count(seconds / 86400));
}

QString withSubscript(const QString& symbol, int index) {
    constexpr char16_t kSubscriptZero = 0x2080;
    QString text = symbol;
    for (const QChar digit : QString::number(index))
        text += QChar(static_cast<char16_t>(kSubscriptZero + digit.digitValue()));
    return text;
}

}  // namespace roper
