#pragma once

#include <QWidget>

#include "ui/page/actions.h"

namespace roper {

// What the Help menu shows, each in a window of its own beside the program's.

/// Every shortcut by its menu.
void showKeys(const Actions& actions, QWidget* parent);

/// docs/glossary.md: what the words of the program mean.
void showGlossary(QWidget* parent);

/// Version, sources and licence.
void showAbout(QWidget* parent);

}  // namespace roper
