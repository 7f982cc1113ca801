#pragma once

#include <QLabel>
#include <QPointer>

namespace roper {

/// Covers a page and blocks its keys and clicks, so that the reader predicts a result before seeing it.
class PageCover : public QLabel {
    Q_OBJECT

  public:
    PageCover();

    /// Covers a page instead of the previous one; null: none.
    void cover(QWidget* page);
    /// The covered page; null if there is none.
    const QWidget* covered() const { return page_; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QPointer<QWidget> page_;
};

}  // namespace roper
