#pragma once

#include <QMimeData>
#include <QPlainTextEdit>
#include <QToolTip>
#include <algorithm>

namespace roper {

/// A multi-line text input with a limited length, because laying out many megabytes would block the window.
class TextInput : public QPlainTextEdit {
    Q_OBJECT

  public:
    /// @param most  maximum number of characters
    explicit TextInput(qsizetype most, QWidget* parent = nullptr)
        : QPlainTextEdit(parent), max_length_(most) {}

    /// Why a text does not fit; empty if it does.
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

}  // namespace roper
