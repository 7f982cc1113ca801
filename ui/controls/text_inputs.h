#pragma once

#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QToolTip>
#include <algorithm>
#include <optional>

namespace roper {

/// A line of text that emits `edited` if it has changed when it loses focus or Return is pressed.
class LineEdit : public QLineEdit {
    Q_OBJECT

  public:
    explicit LineEdit(QWidget* parent = nullptr) : QLineEdit(parent) {
        connect(this, &QLineEdit::editingFinished, this, [this] {
            if (text() != shown_) emit edited(text());
        });
    }

    /// Replaces the text, unless the user is editing it.
    void showText(const QString& text) {
        shown_ = text;
        if ((hasFocus() && isModified()) || this->text() == text) return;
        setText(text);
        setCursorPosition(0);  // shows the beginning of a long text
    }

  signals:
    void edited(const QString& text);

  private:
    QString shown_;  ///< last argument of `showText`
};

/// A multi-line text input with a limited length, because laying out many megabytes would block the window.
class TextInput : public QPlainTextEdit {
    Q_OBJECT

  public:
    /// @param most  maximum number of characters
    explicit TextInput(qsizetype most, QWidget* parent = nullptr)
        : QPlainTextEdit(parent), max_length_(most) {}

    /// Why a text to be inserted does not fit; empty if it fits.
    QString lengthError(const QString& text) const {
        const qsizetype there = document()->characterCount() - textCursor().selectedText().size();
        return there + text.size() <= max_length_ + 1  // a QTextDocument counts one character too many
                   ? QString()
                   : tr("This text has %L1 characters; only %L2 more fit here. Paste a part of it.")
                         .arg(text.size())
                         .arg(std::max<qsizetype>(0, max_length_ + 1 - there));
    }

  protected:
    /// Dropped files are left to the window, which opens them.
    bool canInsertFromMimeData(const QMimeData* source) const override {
        return !source->hasUrls() && QPlainTextEdit::canInsertFromMimeData(source);
    }
    /// Handles pasted and dropped text.
    void insertFromMimeData(const QMimeData* source) override {
        const QString refusal = lengthError(source->text());
        if (refusal.isEmpty()) return QPlainTextEdit::insertFromMimeData(source);
        QToolTip::showText(mapToGlobal(rect().center()), refusal, this);
    }

  private:
    qsizetype max_length_;
};

/// An input for a number in any notation ("1e-3", "0.001"), always with a decimal point. Emits `edited` after
/// a valid number was entered; invalid input is marked, with the reason, and reverted when the focus leaves.
class NumberEdit : public QLineEdit {
    Q_OBJECT

  public:
    /// @param low, high  smallest and largest valid number
    NumberEdit(double low, double high, QWidget* parent = nullptr);

    /// Sets the tooltip for valid input.
    void setHelp(const QString& help) { help_ = help; }

    /// From now on, an empty input means this value, and shows this placeholder.
    void setUnset(double value, const QString& placeholder);

    double value() const { return value_; }
    void setValue(double value);

  signals:
    void edited(double value);

  protected:
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void read();
    void markInvalid(const QString& why);  ///< empty: valid
    /// The number in the input; nothing if it holds none.
    std::optional<double> number() const;
    QString textOf(double value) const;

    QString help_;
    double low_, high_;
    std::optional<double> unset_ = {};
    double value_ = 0;
};

}  // namespace roper
