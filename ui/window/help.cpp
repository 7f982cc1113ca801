#include "ui/window/help.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QMessageBox>

#include "core/base/this_process.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/html_view.h"

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
        "button moves, a double click shows all. In the legend, a click hides a curve, and a double click "
        "hides all others. In a focused chart, + and − zoom, Ctrl + arrow keys move, 0 shows all, and Left "
        "and Right read the values.</p>");
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

void showAbout(QWidget* parent) {
    QMessageBox box(QMessageBox::NoIcon, text("About RoPER Lab"), {}, QMessageBox::Ok, parent);
    box.setTextFormat(Qt::RichText);
    box.setText(text("<h3>RoPER Lab %1</h3>"
                     "<p>A laboratory for rotary position embeddings.</p>"
                     "<p>RoPE: Su et al., <i>RoFormer: Enhanced Transformer with Rotary Position "
                     "Embedding</i>, 2021.<br>RoPER: Harik &amp; Jayasiri, <i>Rotary Positional Embeddings "
                     "with Relative distances</i>, 2022; published again as RoVE, arXiv 2606.11275, 2026.</p>"
                     "<p>Free software under the GNU General Public License, version 3 or later. It is built "
                     "on Qt, QCustomPlot, Eigen, LibTorch and other free libraries.</p>")
                    .arg(QString::fromStdString(programVersion())));
    box.exec();
}

}  // namespace roper
