#include "ui/theme/plain_text.h"

#include <QCoreApplication>
#include <QEvent>
#include <QLabel>

namespace roper {

PlainText::PlainText() {
    QCoreApplication::instance()->installEventFilter(this);
}

/// A label is reached when it finds its place, and again before it is first shown. Tool tips and the texts of
/// message boxes are labels, too.
bool PlainText::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::Polish && event->type() != QEvent::ParentChange) return false;
    auto* label = qobject_cast<QLabel*>(watched);
    if (label != nullptr && label->textFormat() == Qt::AutoText) label->setTextFormat(Qt::PlainText);
    return false;
}

QString plainCaption(QString text) {
    return text.replace('&', QStringLiteral("&&")).replace('\t', ' ');
}

QString plainTitle(QString text) {
    return text.replace(QStringLiteral("[*]"), QStringLiteral("[*][*]"));
}

}  // namespace roper
