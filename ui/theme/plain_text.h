#pragma once

#include <QObject>
#include <QString>

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

}  // namespace roper
