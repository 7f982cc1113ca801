#pragma once

#include <QLabel>
#include <QPointer>
#include <QWidget>

namespace roper {

/// The control of a page with this accessible name, or the button with this text; the visible one if there
/// are several. Null if there is none.
QWidget* controlNamed(const QWidget& page, const QString& name);

/// Draws a frame around a control and follows it when it is moved or scrolled. Ignores clicks.
class ControlMarker : public QWidget {
    Q_OBJECT

  public:
    explicit ControlMarker(QWidget* window);

    /// Scrolls to a control, unfolding its group, and frames it; null: frames nothing.
    void mark(QWidget* control);
    QWidget* marked() const { return control_; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void trackControl();

    QPointer<QWidget> control_;
    QList<QPointer<QWidget>> watched_;  ///< the control and its ancestors
};

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
