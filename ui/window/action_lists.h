#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QWidget>

#include "ui/page/page.h"

namespace roper {

// Items of the Help menu, each in its own non-modal window.

/// All keyboard shortcuts, by menu.
void showKeys(const Actions& actions, QWidget* parent);

/// docs/glossary.md: the terms used by the program.
void showGlossary(QWidget* parent);

/// Version, sources and license.
void showAbout(QWidget* parent);

/// Puts the program's BibTeX entry on the clipboard.
void copyCitation();

/// Command palette (Ctrl+K): type a few letters of any action and press Enter.
class CommandPalette : public QDialog {
    Q_OBJECT

  public:
    CommandPalette(const Actions& actions, QWidget* parent);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void filter(const QString& words);
    void runCurrent();

    const Actions& actions_;
    QLineEdit* input_;
    QListWidget* list_;
};

}  // namespace roper
