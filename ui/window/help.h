#pragma once

#include <QWidget>

#include "ui/page/actions.h"

namespace roper {

// Items of the Help menu, each in its own non-modal window.

/// All shortcuts, by menu.
void showKeys(const Actions& actions, QWidget* parent);

/// docs/glossary.md: the terms used by the program.
void showGlossary(QWidget* parent);

/// Version, sources and licence.
void showAbout(QWidget* parent);

}  // namespace roper
