#pragma once

#include <QLabel>
#include <QPointer>

namespace roper {

/// Hides a page until it may be seen, and keeps keys and clicks from it: what is to be predicted is not shown
/// before.
class PageCover : public QLabel {
    Q_OBJECT

  public:
    PageCover();

    /// Covers a page, and whatever was covered before no more; null: nothing.
    void cover(QWidget* page);
    /// What is covered; null if nothing is.
    const QWidget* covered() const { return page_; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QPointer<QWidget> page_;
};

}  // namespace roper
