#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

#include "ui/page/actions.h"

namespace roper {

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
