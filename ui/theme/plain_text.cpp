#include "ui/theme/plain_text.h"

#include <QCoreApplication>
#include <QEvent>
#include <QLabel>

namespace roper {

PlainText::PlainText() {
    QCoreApplication::instance()->installEventFilter(this);
}

/// Handles labels when they get a parent, and again before they are first shown. Tooltips and the texts of
/// message boxes are labels as well.
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
