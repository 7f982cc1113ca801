#pragma once

#include <QImage>
#include <QTextBrowser>
#include <QTextDocument>
#include <QVariant>

namespace roper {

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
