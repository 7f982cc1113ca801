#pragma once

#include <QMimeData>
#include <QPlainTextEdit>
#include <QToolTip>
#include <algorithm>

namespace roper {

/// A field for a text of several lines, of a limited length: to lay out many megabytes would hold up the
/// window.
class TextInput : public QPlainTextEdit {
    Q_OBJECT

  public:
    /// @param most  characters that it holds
    explicit TextInput(qsizetype most, QWidget* parent = nullptr) : QPlainTextEdit(parent), most_(most) {}

    /// Why a text has no room; empty if it has.
    QString refusalOf(const QString& text) const {
        const qsizetype there = document()->characterCount() - textCursor().selectedText().size();
        return there + text.size() <= most_ + 1  // a document counts one that is not there
                   ? QString()
                   : tr("This text has %L1 characters; there is room for %L2 here. Paste a part of it.")
                         .arg(text.size())
                         .arg(std::max<qsizetype>(0, most_ + 1 - there));
    }

  protected:
    /// What is pasted or dropped.
    void insertFromMimeData(const QMimeData* source) override {
        const QString refusal = refusalOf(source->text());
        if (refusal.isEmpty()) return QPlainTextEdit::insertFromMimeData(source);
        QToolTip::showText(mapToGlobal(rect().center()), refusal, this);
    }

  private:
    qsizetype most_;
};

}  // namespace roper
