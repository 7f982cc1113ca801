#include "ui/theme/numbers.h"

namespace roper {

QString noteNumber(double value, int digits) {
    return QString::number(value, 'g', digits).replace('-', QChar(0x2212));
}

QString fixedNumber(double value, int decimals) {
    return QString::number(value, 'f', decimals).replace('-', QChar(0x2212));
}

QString counted(int count, const QString& noun) {
    return QStringLiteral("%1 %2%3").arg(count).arg(noun, count == 1 ? QString() : QStringLiteral("s"));
}

QString withSubscript(const QString& symbol, int index) {
    constexpr char16_t kSubscriptZero = 0x2080;
    QString text = symbol;
    for (const QChar digit : QString::number(index))
        text += QChar(static_cast<char16_t>(kSubscriptZero + digit.digitValue()));
    return text;
}

}  // namespace roper
