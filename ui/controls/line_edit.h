#pragma once

#include <QLineEdit>

namespace roper {

/// A line of text that emits `edited` when it loses focus or Return is pressed, and is not overwritten while
/// the user types.
class LineEdit : public QLineEdit {
    Q_OBJECT

  public:
    explicit LineEdit(QWidget* parent = nullptr) : QLineEdit(parent) {
        connect(this, &QLineEdit::editingFinished, this, [this] {
            if (text() != shown_) emit edited(text());
        });
    }

    void showText(const QString& text) {
        shown_ = text;
        if ((hasFocus() && isModified()) || this->text() == text) return;
        setText(text);
        setCursorPosition(0);  // shows the beginning of a long text
    }

  signals:
    void edited(const QString& text);

  private:
    QString shown_;
};

}  // namespace roper
