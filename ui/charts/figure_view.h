#pragma once

#include <QMenu>
#include <QWidget>

#include "ui/charts/figure.h"
#include "ui/charts/write_text.h"
#include "ui/theme/zoom.h"

namespace roper {

/// A widget that shows the figure it is. Right-click offers the export.
class FigureView : public QWidget, public Figure {
    Q_OBJECT

  public:
    /// @param name        of the exported file, such as "rotation"
    /// @param accessible  what the picture shows, for screen readers
    explicit FigureView(QWidget* parent, const QString& name = {}, const QString& accessible = {});

    QString figureName() const override { return name_; }
    void setName(const QString& name) { name_ = name; }
    /// What it says while there is nothing to draw.
    void setEmptyText(const QString& text) { redrawWith(empty_text_, text); }

    /// Where it is laid out: the widget, measured in the pixels of zoom 1.
    QRectF canvas() const { return {QPointF(0, 0), QSizeF(size()) / Zoom::instance().factor()}; }

    /// As small as it may become on the screen, at zoom 1, where some labels may be left out.
    virtual QSize leastScreenSize() const { return leastSize(); }
    QSize minimumSizeHint() const final { return zoomed(leastScreenSize()); }
    QSize sizeHint() const final { return zoomed(preferredSize()); }

    /// As on the screen; a view behind a tab that was never opened has no size there yet.
    QSize figureSize() const override {
        constexpr QSize kUnseen{720, 480};
        return testAttribute(Qt::WA_Resized) && !size().isEmpty() ? canvas().size().toSize() : kUnseen;
    }

  signals:
    /// The numbers under the pointer as text; empty when it has left.
    void pointed(const QString& readout);

  protected:
    const QString& emptyText() const { return empty_text_; }

    /// Takes another value of what is drawn, and draws it.
    template <class Value>
    void redrawWith(Value& member, Value value) {
        member = std::move(value);
        update();
    }

    /// Says in the middle of an area why there is no picture, or what to do for one.
    static void paintNote(QPainter& painter, const QRectF& area, const QString& text, const Theme& theme);

    /// The size that it would like to have on the screen, at zoom 1.
    virtual QSize preferredSize() const { return {}; }

    /// Hands on the pointer's events with places on the canvas.
    bool event(QEvent* event) override;

    /// Marks what the pointer is on, here or in another picture; not part of an export.
    virtual void paintPointed(QPainter&, const Theme&) const {}
    /// Such marks: a frame, and a ring about a point, with an edge that can be seen on any colour.
    static void paintFrame(QPainter& painter, const QRectF& frame, const Theme& theme);
    static void paintRing(QPainter& painter, const QPointF& about, const Theme& theme);

    /// Adds what can be chosen of this picture to the menu of the export.
    virtual void addToMenu(QMenu&) {}

    void paintEvent(QPaintEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    QString name_, empty_text_;

    bool deliver(QEvent& translated, QEvent& original);
};

}  // namespace roper
