#pragma once

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QMenu>
#include <QPointer>
#include <QTabBar>
#include <QTreeView>

#include "ui/theme/plain_text.h"

namespace roper {

/// Text as a malicious file may contain it: markup, an image in the parent of the working folder, and a
/// keyboard mnemonic.
inline const QString kMarkup = QStringLiteral("<b>x&y<img src=picture.png>");

/// Searches all text of all widgets of the program, visible or not, for markup that was interpreted.
class MarkupSearch {
  public:
    QStringList problems;
    /// Number of texts where the markup was shown literally.
    int labels = 0, tool_tips = 0, documents = 0, captions = 0;

    void look() {
        QList<QPointer<QWidget>> widgets;
        for (QWidget* widget : QApplication::allWidgets())
            widgets << widget;
        for (const QPointer<QWidget>& alive : widgets) {
            QWidget* widget = alive;  // a tool tip may replace another one
            if (widget == nullptr || widget->inherits("QTipLabel")) continue;
            checkToolTip(*widget, widget->rect().center(), widget->toolTip());
            if (const auto* label = qobject_cast<QLabel*>(widget)) checkLabel(*label);
            if (auto* text = qobject_cast<QTextEdit*>(widget)) checkView(*text);
            if (const auto* button = qobject_cast<QAbstractButton*>(widget))
                checkCaption(*button, button->text());
            if (const auto* tabs = qobject_cast<QTabBar*>(widget)) checkTabs(*tabs);
            if (auto* box = qobject_cast<QComboBox*>(widget)) checkItems(*box->view());
            if (auto* view = qobject_cast<QAbstractItemView*>(widget)) checkItems(*view);
            for (const QAction* action : widget->actions())
                checkCaption(*widget, action->text());
        }
    }

    /// Checks HTML written by us, such as a page's explanation.
    void checkHtml(const QWidget& where, const QString& html) {
        HtmlDocument document;
        document.setHtml(html);
        checkDocument(where, document);
    }

  private:
    static bool isMarkup(const QString& text) { return text.contains(kMarkup.left(4)); }

    void addProblem(const QWidget& where, const QString& what, const QString& text) {
        problems << QStringLiteral("%1 %2: %3: %4")
                        .arg(where.metaObject()->className(), where.accessibleName(), what, text.left(200));
    }

    void checkLabel(const QLabel& label) {
        if (label.textFormat() == Qt::RichText) return checkHtml(label, label.text());
        if (!isMarkup(label.text())) return;
        ++labels;
        if (label.textFormat() != Qt::PlainText) addProblem(label, "label with markup", label.text());
    }

    /// Checks that a document of ours contains foreign text literally, without effects of its markup.
    void checkDocument(const QWidget& where, const QTextDocument& document) {
        const QString text = document.toPlainText();
        if (isMarkup(text)) ++documents;
        if (text.contains(QChar::ObjectReplacementCharacter) ||
            text.count(QStringLiteral("x&y")) != text.count(QStringLiteral("<b>x&y")))
            addProblem(where, "document with markup", text);
    }

    void checkView(QTextEdit& view) {
        checkDocument(view, *view.document());
        if (view.loadResource(QTextDocument::ImageResource, QUrl(QStringLiteral("picture.png"))).isNull())
            addProblem(view, QStringLiteral("leaves pictures to Qt, which opens them"), {});
    }

    void checkCaption(const QWidget& where, const QString& text) {
        if (!isMarkup(text)) return;
        ++captions;
        if (!text.contains(QStringLiteral("x&&y"))) addProblem(where, "caption with the mark of a key", text);
    }

    void checkTabs(const QTabBar& tabs) {
        for (int i = 0; i < tabs.count(); ++i)
            checkCaption(tabs, tabs.tabText(i));
    }

    /// Requests the tool tip like a resting pointer.
    void checkToolTip(QWidget& at, const QPoint& place, const QString& text) {
        if (!isMarkup(text)) return;
        ++tool_tips;
        QHelpEvent event(QEvent::ToolTip, place, at.mapToGlobal(place));
        QApplication::sendEvent(&at, &event);
        const QLabel* tip = nullptr;
        for (const QWidget* widget : QApplication::topLevelWidgets())
            if (widget->inherits("QTipLabel")) tip = qobject_cast<const QLabel*>(widget);
        if (tip == nullptr || tip->text() != text)
            addProblem(at, "tool tip that does not come", text);
        else if (tip->textFormat() != Qt::PlainText)
            addProblem(at, "tool tip with markup", text);
    }

    void checkItems(QAbstractItemView& view) {
        if (view.model() == nullptr) return;
        if (auto* tree = qobject_cast<QTreeView*>(&view)) tree->expandAll();
        if (auto* header = qobject_cast<QHeaderView*>(&view)) return checkHeader(*header);
        checkItemsBelow(view, view.rootIndex());
    }

    void checkItemsBelow(QAbstractItemView& view, const QModelIndex& parent) {
        const QAbstractItemModel& model = *view.model();
        for (int row = 0; row < model.rowCount(parent); ++row)
            for (int column = 0; column < model.columnCount(parent); ++column) {
                const QModelIndex index = model.index(row, column, parent);
                const QString tip = index.data(Qt::ToolTipRole).toString();
                if (isMarkup(tip)) {
                    view.scrollTo(index);
                    const QRect place = view.visualRect(index);
                    if (view.isVisible() && !place.isEmpty())
                        checkToolTip(*view.viewport(), place.center(), tip);
                }
                checkItemsBelow(view, index);
            }
    }

    void checkHeader(QHeaderView& header) {
        for (int section = 0; section < header.count(); ++section) {
            const QString tip =
                header.model()->headerData(section, header.orientation(), Qt::ToolTipRole).toString();
            const QPoint place(header.sectionViewportPosition(section) + 2, header.height() / 2);
            if (header.isVisible() && isMarkup(tip)) checkToolTip(*header.viewport(), place, tip);
        }
    }
};

}  // namespace roper
