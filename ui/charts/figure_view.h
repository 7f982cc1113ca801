#pragma once

#include <QMenu>
#include <QWidget>

#include "ui/charts/figure.h"

namespace roper {

/// A widget that shows the figure it is. Right-click offers the export.
class FigureView : public QWidget, public Figure {
    Q_OBJECT

  public:
    explicit FigureView(QWidget* parent);

    QSize leastSize() const override { return minimumSizeHint(); }

    /// As on the screen; a view behind a tab that was never opened has no size there yet.
    QSize figureSize() const override {
        constexpr QSize kUnseen{720, 480};
        return testAttribute(Qt::WA_Resized) && !size().isEmpty() ? size() : kUnseen;
    }

  signals:
    /// The numbers under the pointer as text; empty when it has left.
    void pointed(const QString& readout);

  protected:
    /// Adds what can be chosen of this picture to the menu of the export.
    virtual void addToMenu(QMenu&) {}

    void paintEvent(QPaintEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;
};

}  // namespace roper
