#pragma once

#include <QMenu>
#include <QWidget>
#include <functional>

#include "ui/charts/drawing.h"
#include "ui/charts/figure.h"
#include "ui/theme/zoom.h"

namespace roper {

/// A widget that is a figure and shows itself. Its context menu offers the export.
class FigureView : public QWidget, public Figure {
    Q_OBJECT

  public:
    /// @param name        of the exported file, such as "rotation"
    /// @param accessible  description for screen readers
    explicit FigureView(QWidget* parent, const QString& name = {}, const QString& accessible = {});

    QString figureName() const override { return name_; }
    void setName(const QString& name) { name_ = name; }
    /// Text shown while there is nothing to draw.
    void setEmptyText(const QString& text) { setAndUpdate(empty_text_, text); }

    /// Adds entries to the context menu, for what is at a point of the canvas.
    using MenuEntries = std::function<void(QMenu& menu, const QPointF& at)>;
    void setMenuEntries(MenuEntries entries) { menu_entries_ = std::move(entries); }

    /// Layout area: the widget, in pixels at zoom 1.
    QRectF canvas() const { return {QPointF(0, 0), QSizeF(size()) / Zoom::instance().factor()}; }

    /// Minimum size on the screen at zoom 1, where some labels may be omitted.
    virtual QSize minScreenSize() const { return minFigureSize(); }
    QSize minimumSizeHint() const final { return zoomed(minScreenSize()); }
    QSize sizeHint() const final { return zoomed(preferredSize()); }

    /// Size on the screen; a default for a view in a tab that was never opened.
    QSize figureSize() const override {
        constexpr QSize kDefaultSize{720, 480};
        return testAttribute(Qt::WA_Resized) && !size().isEmpty() ? canvas().size().toSize() : kDefaultSize;
    }

  signals:
    /// Emitted with the readout for the pointer; empty when it has left.
    void hovered(const QString& readout);

  protected:
    const QString& emptyText() const { return empty_text_; }

    /// Sets a value that is drawn, and repaints.
    template <class Value>
    void setAndUpdate(Value& member, Value value) {
        member = std::move(value);
        update();
    }

    /// Draws a note in the middle of an area: why there is no figure, or what to do.
    static void paintNote(QPainter& painter, const QRectF& area, const QString& text, const Theme& theme);

    /// Preferred size on the screen at zoom 1.
    virtual QSize preferredSize() const { return {}; }

    /// Forwards pointer events with positions on the canvas.
    bool event(QEvent* event) override;

    /// Marks the item under the pointer, here or in another figure; not exported.
    virtual void paintHovered(QPainter&, const Theme&) const {}
    /// Draws such a mark, with an edge visible on any color: a frame, or a ring around a point.
    static void paintFrame(QPainter& painter, const QRectF& frame, const Theme& theme);
    static void paintRing(QPainter& painter, const QPointF& about, const Theme& theme);

    /// Adds entries for this figure to the export menu.
    virtual void addToMenu(QMenu&) {}

    void paintEvent(QPaintEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent*) override { emit hovered({}); }

  private:
    QString name_, empty_text_;
    MenuEntries menu_entries_;
};

}  // namespace roper
