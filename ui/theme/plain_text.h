#pragma once

#include <QImage>
#include <QObject>
#include <QString>
#include <QTextBrowser>
#include <QTextDocument>
#include <QVariant>

namespace roper {

/// Makes widgets show texts literally while an object of this class exists. Many texts come from files, and
/// Qt would interpret anything that looks like HTML: it would render the markup and open any file named by an
/// image, even a pipe that blocks. Labels, tooltips and messages are plain unless their text format is set
/// explicitly. Create it before the first widget. HTML made by the program is shown by `HtmlView`.
class PlainText : public QObject {
  public:
    PlainText();
    bool eventFilter(QObject* watched, QEvent* event) override;
};

/// Escapes a text for an action, a button or a tab, where Qt interprets "&" as a mnemonic and a tab character
/// as the start of a shortcut.
QString plainCaption(QString text);

/// Escapes a text for a window title, where Qt interprets "[*]" as the mark of unsaved changes.
QString plainTitle(QString text);

/// An empty picture as a substitute for any resource named in HTML. It must be a valid picture: if a document
/// receives nothing, Qt opens the file itself.
inline QVariant noResource() {
    QImage empty(1, 1, QImage::Format_ARGB32);
    empty.fill(Qt::transparent);
    return empty;
}

/// A view of HTML made by the program. Such HTML may contain texts from files, so it never opens resources.
class HtmlView : public QTextBrowser {
  public:
    HtmlView() { setOpenLinks(false); }  // links could lead to files
    QVariant loadResource(int, const QUrl&) override { return noResource(); }
};

/// The same for HTML drawn without a view.
class HtmlDocument : public QTextDocument {
  protected:
    QVariant loadResource(int, const QUrl&) override { return noResource(); }
};

}  // namespace roper
