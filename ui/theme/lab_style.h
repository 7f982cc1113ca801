#pragma once

#include <QProxyStyle>
#include <QStyleOption>

namespace roper {

/// The style of the window's controls: faint frames, slim scroll bars, and edges with a contrast of at least
/// 3 : 1 (Web Content Accessibility Guidelines, WCAG 2.1, section 1.4.11), light or dark. All colors are
/// derived from the palette.
class LabStyle : public QProxyStyle {
    Q_OBJECT

  public:
    LabStyle();

    /// The edge color of controls on the palette's window color.
    static QColor edge(const QPalette& palette);
    /// The color of selection, pressed controls and focus.
    static QColor accent(const QPalette& palette);

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
    QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
                         const QWidget* widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;

  private:
    void drawSpinBox(const QStyleOptionSpinBox& option, QPainter& painter, const QWidget* widget) const;
    void drawSlider(const QStyleOptionSlider& option, QPainter& painter, const QWidget* widget) const;
    void drawScrollBar(const QStyleOptionSlider& option, QPainter& painter, const QWidget* widget) const;
};

}  // namespace roper
