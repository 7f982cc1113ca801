#pragma once

#include <QImage>
#include <QTextBrowser>
#include <QTextDocument>
#include <QVariant>

namespace roper {

/// What HTML of ours gets in place of a picture or a file that it names: an empty picture. It must be one,
/// for where a document gets nothing, Qt opens the file itself.
inline QVariant noResource() {
    QImage empty(1, 1, QImage::Format_ARGB32);
    empty.fill(Qt::transparent);
    return empty;
}

/// A text of ours in HTML. It may hold texts from files, so whatever it says, it opens nothing.
class HtmlView : public QTextBrowser {
  public:
    HtmlView() { setOpenLinks(false); }  // they lead to files, too
    QVariant loadResource(int, const QUrl&) override { return noResource(); }
};

/// The same for what is drawn without a view.
class HtmlDocument : public QTextDocument {
  protected:
    QVariant loadResource(int, const QUrl&) override { return noResource(); }
};

}  // namespace roper
