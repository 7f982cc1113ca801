#pragma once

#include <QObject>
#include <QString>

namespace roper {

/// Has texts shown as they are while it lives. Much of what the window says comes from files, and Qt takes
/// what looks like HTML for HTML: it would draw the markup, and open whatever an image names, even a pipe
/// that never answers. With this, labels, tool tips and messages are plain unless their text format says
/// otherwise. It has to be there before the first widget. HTML of ours is shown by `HtmlView`.
class PlainText : public QObject {
  public:
    PlainText();
    bool eventFilter(QObject* watched, QEvent* event) override;
};

/// A text for an action, a button or a tab, where Qt takes "&" for the mark of a key and a tab for the gap
/// before a shortcut.
QString plainCaption(QString text);

/// A text for the title of a window, where Qt takes "[*]" for the place of the mark of unsaved changes.
QString plainTitle(QString text);

}  // namespace roper
