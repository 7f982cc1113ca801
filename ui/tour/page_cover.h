#pragma once

#include <QLabel>
#include <QPointer>

namespace roper {

/// Hides a widget until it may be seen: what is to be predicted is not shown before.
class PageCover : public QLabel {
    Q_OBJECT

  public:
    PageCover();

    /// Covers a widget, and whatever was covered before no more; null: nothing.
    void cover(QWidget* widget);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace roper
