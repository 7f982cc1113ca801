#pragma once

#include <QEvent>

#include "ui/explorer/selection.h"
#include "ui/page/page.h"

namespace roper {

/// A page about the shared selection: what the pointer is on in one of its pictures is marked on the others.
class ExplorerPage : public Page {
    Q_OBJECT

  public:
    ExplorerPage(const QString& name, const QString& sentence, Selection& selection, QWidget* parent)
        : Page(name, sentence, parent), pointing_(selection.pointing()) {}

  protected:
    Pointing& pointing() { return pointing_; }

    /// Shows the numbers under the pointer; empty when it has left, and then nothing is marked.
    void tell(const QString& text) {
        setReadout(text);
        if (text.isEmpty()) pointing_.clear();
    }

    /// Colours of what was computed are those of the palette, light or dark.
    void changeEvent(QEvent* event) override {
        Page::changeEvent(event);
        if (event->type() == QEvent::PaletteChange) refreshWhenSeen();
    }

  private:
    Pointing& pointing_;
};

}  // namespace roper
