#include "ui/window/action_lists.h"

#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QGuiApplication>
#include <QIcon>
#include <QKeyEvent>
#include <QMessageBox>
#include <QPushButton>
#include <algorithm>

#include "core/base/this_process.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/plain_text.h"

namespace roper {
namespace {

QString text(const char* source) {
    return QCoreApplication::translate("roper::Help", source);
}

/// A non-modal window with a text.
HtmlView* openText(const QString& title, QWidget* parent) {
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->resize(620, 640);
    auto* browser = new HtmlView;
    browser->setAccessibleName(title);
    browser->document()->setDocumentMargin(16);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    columnOf({browser, buttons}, dialog);
    dialog->show();
    return browser;
}

}  // namespace

void showKeys(const Actions& actions, QWidget* parent) {
    QStringList groups;
    for (const QAction* action : actions.all())
        if (const QString group = actions.groupOf(action); !groups.contains(group)) groups << group;
    QString html;
    for (const QString& group : groups) {
        QString rows;
        for (const QAction* action : actions.inGroup(group))
            if (!action->shortcut().isEmpty())
                rows += QStringLiteral("<tr><td width='150'><b>%1</b></td><td>%2</td></tr>")
                            .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(),
                                 action->iconText().toHtmlEscaped());
        if (!rows.isEmpty())
            html += QStringLiteral("<h3>%1</h3><table cellpadding='3'>%2</table>")
                        .arg(group.toHtmlEscaped(), rows);
    }
    html += text(
        "<h3>Charts</h3>"
        "<p>The wheel zooms at the pointer, dragging zooms into a box, dragging with Shift or the middle "
        "button pans, and a double click shows everything. In the legend, a click hides a curve, and a "
        "double "
        "click hides all others. In a focused chart, + and − zoom, Ctrl + arrow keys pan, 0 shows "
        "everything, "
        "and Left and Right read the values.</p>");
    html += text(
        "<p>The keys of a page work while it is shown. An input field with the focus receives the keys that "
        "it uses itself.</p>");
    openText(text("Keys"), parent)->setHtml(html);
}

void showGlossary(QWidget* parent) {
    QFile file(QStringLiteral(":/help/glossary.md"));
    HtmlView* browser = openText(text("Glossary"), parent);
    if (file.open(QIODevice::ReadOnly)) browser->setMarkdown(QString::fromUtf8(file.readAll()));
}

/// An entry for BibTeX, as in CITATION.cff.
QString bibTexEntry() {
    return QStringLiteral(
               "@software{roper_lab,\n"
               "  title   = {{RoPER Lab}: a laboratory for rotary position embeddings},\n"
               "  author  = {{The authors of RoPER Lab}},\n"
               "  version = {%1},\n"
               "  year    = {2026}\n"
               "}\n")
        .arg(QString::fromStdString(programVersion()));
}

void showAbout(QWidget* parent) {
    QMessageBox box(QMessageBox::NoIcon, text("About RoPER Lab"), {}, QMessageBox::Ok, parent);
    box.setIconPixmap(QGuiApplication::windowIcon().pixmap(64));
    const QPushButton* cite = box.addButton(text("Copy citation (BibTeX)"), QMessageBox::ActionRole);
    box.setTextFormat(Qt::RichText);
    box.setText(text("<h3>%1</h3>"
                     "<p>A laboratory for rotary position embeddings.</p>"
                     "<p>RoPE: Su et al., <i>RoFormer: Enhanced Transformer with Rotary Position "
                     "Embedding</i>, 2021.<br>RoPER: Harik &amp; Jayasiri, <i>Rotary Positional Embeddings "
                     "with Relative distances</i>, 2022; published again as RoVE, arXiv 2606.11275, 2026.</p>"
                     "<p>Free software under the GNU General Public License, version 3 or later. It is built "
                     "on Qt, QCustomPlot, Eigen, LibTorch and other free libraries.</p>")
                    .arg(QString::fromStdString(versionLine("RoPER Lab"))));
    box.exec();
    if (box.clickedButton() == cite) copyCitation();
}

void copyCitation() {
    QGuiApplication::clipboard()->setText(bibTexEntry());
}

CommandPalette::CommandPalette(const Actions& actions, QWidget* parent)
    : QDialog(parent), actions_(actions), input_(new QLineEdit), list_(new QListWidget) {
    setWindowTitle(tr("Commands"));
    resize(480, 360);
    input_->setPlaceholderText(tr("Type a command…"));
    input_->setAccessibleName(tr("Command"));
    list_->setAccessibleName(tr("Matching commands"));
    columnOf({input_, list_}, this);
    input_->installEventFilter(this);
    connect(input_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(input_, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(list_, &QListWidget::itemActivated, this, &CommandPalette::runCurrent);
    filter({});
}

void CommandPalette::filter(const QString& words) {
    list_->clear();
    const QStringList wanted = words.split(' ', Qt::SkipEmptyParts);
    for (QAction* action : actions_.all()) {
        const QString text = actions_.groupOf(action) + ": " + action->iconText();
        const bool matches = std::ranges::all_of(
            wanted, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
        if (!matches || !action->isEnabled()) continue;
        const QString shortcut = action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(shortcut.isEmpty() ? text : text + "    " + shortcut, list_);
        item->setData(Qt::UserRole, QVariant::fromValue<QObject*>(action));
    }
    if (list_->count() == 0) {
        auto* nothing = new QListWidgetItem(
            tr("No command on this page contains these words; other pages have others"), list_);
        nothing->setFlags(Qt::NoItemFlags);
    }
    list_->setCurrentRow(0);
}

void CommandPalette::runCurrent() {
    const QListWidgetItem* item = list_->currentItem();
    if (item == nullptr) return;
    auto* action = qobject_cast<QAction*>(item->data(Qt::UserRole).value<QObject*>());
    if (action == nullptr) return;
    accept();
    action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (step != 0) {
            list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, std::max(0, list_->count() - 1)));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace roper
