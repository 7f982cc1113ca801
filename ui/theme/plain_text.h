#pragma once

#include <QLabel>
#include <QMessageBox>

namespace roper {

// Text that may come from a file is shown as it is: Qt would take what looks like HTML for it, and load the
// images that it names.

/// A label that shows its text as it is.
inline QLabel* makePlainLabel() {
    auto* label = new QLabel;
    label->setTextFormat(Qt::PlainText);
    return label;
}

/// A text for setToolTip, which takes HTML for what it is.
inline QString plainToolTip(const QString& text) {
    return Qt::mightBeRichText(text) ? text.toHtmlEscaped() : text;
}

inline void warnPlainly(QWidget* parent, const QString& title, const QString& text) {
    QMessageBox box(QMessageBox::Warning, title, text, QMessageBox::Ok, parent);
    box.setTextFormat(Qt::PlainText);
    box.exec();
}

}  // namespace roper
