#pragma once

#include <QEvent>

#include "ui/explorer/selection.h"
#include "ui/page/page.h"

namespace roper {

/// A page about the shared selection: the item under the pointer in one figure is marked in the others.
class ExplorerPage : public Page {
    Q_OBJECT

  public:
    ExplorerPage(const QString& name, const QString& sentence, Selection& selection, QWidget* parent)
        : Page(name, sentence, parent), hover_state_(selection.hoverState()) {}

  protected:
    HoverState& hoverState() { return hover_state_; }

    /// Shows the readout for the pointer; if it is empty, the pointer has left and the mark is removed.
    void showReadout(const QString& text) {
        setReadout(text);
        if (text.isEmpty()) hover_state_.clear();
    }

    /// Figures take their colors from the palette, light or dark.
    void changeEvent(QEvent* event) override {
        Page::changeEvent(event);
        if (event->type() == QEvent::PaletteChange) refreshWhenVisible();
    }

  private:
    HoverState& hover_state_;
};

}  // namespace roper
