#pragma once

#include <QPointer>
#include <QWidget>

namespace roper {

/// The control of a page that has an accessible name, or a button that has it as its text; the visible one
/// where there are several. Null if there is none.
QWidget* controlNamed(const QWidget& page, const QString& name);

/// Draws a frame around a control, wherever it is moved and scrolled to. Takes no clicks.
class ControlMarker : public QWidget {
    Q_OBJECT

  public:
    explicit ControlMarker(QWidget* window);

    /// Unfolds and scrolls to a control and frames it; null: frames nothing.
    void mark(QWidget* control);
    QWidget* marked() const { return control_; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void follow();

    QPointer<QWidget> control_;
    QList<QPointer<QWidget>> watched_;  ///< the control and what it stands in
};

}  // namespace roper
