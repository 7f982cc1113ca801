#include "ui/controls/text_inputs.h"

#include <QKeyEvent>
#include <QToolTip>
#include <cmath>

#include "core/base/text.h"

namespace roper {
namespace {

/// A number as text, without an exponent if that is exact: 500000, not 5e+05.
QString plainText(double value) {
    constexpr int kDigits = 15;
    const QString plain = QString::number(value, 'g', kDigits);
    return plain.toDouble() == value ? plain : QString::fromStdString(formatNumber(value));
}

}  // namespace

NumberEdit::NumberEdit(double low, double high, QWidget* parent) : QLineEdit(parent), low_(low), high_(high) {
    connect(this, &QLineEdit::textEdited, this, &NumberEdit::read);
    setValue(low);
}

void NumberEdit::setUnset(double value, const QString& placeholder) {
    unset_ = value;
    setPlaceholderText(placeholder);
    setValue(value_);
}

std::optional<double> NumberEdit::number() const {
    const QString given = text().trimmed();
    return given.isEmpty() && unset_ ? unset_ : parseNumber(given.toStdString());
}

QString NumberEdit::textOf(double value) const {
    return value == unset_ ? QString() : plainText(value);
}

void NumberEdit::setValue(double value) {
    value_ = value;
    if (!hasFocus() || number() != value) setText(textOf(value));
    markInvalid({});
}

void NumberEdit::read() {
    const auto given = number();
    if (!given || !std::isfinite(*given) || *given < low_ || *given > high_) {
        markInvalid(tr("a number from %1 to %2").arg(low_).arg(high_));
        return;
    }
    markInvalid({});
    value_ = *given;
    emit edited(value_);
}

void NumberEdit::markInvalid(const QString& why) {
    setToolTip(why.isEmpty() ? help_ : why);
    setAccessibleDescription(toolTip());
    if (!why.isEmpty() && isVisible()) QToolTip::showText(mapToGlobal(QPoint(0, height())), why, this);
    setStyleSheet(why.isEmpty() ? QString() : QStringLiteral("border: 1px solid #D55E00;"));
}

void NumberEdit::focusOutEvent(QFocusEvent* event) {
    QLineEdit::focusOutEvent(event);
    setText(textOf(value_));
    markInvalid({});
}

void NumberEdit::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) setText(textOf(value_));
    QLineEdit::keyPressEvent(event);
}

}  // namespace roper
