#include "ui/theme/lab_style.h"

#include <QPainter>
#include <QPainterPath>
#include <QStyleFactory>

#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

// Pixels at zoom 1: radius of corners, widths of scroll bars and spin buttons, length of scroll bar handles.
constexpr double kRadius = 4;
constexpr int kScrollBar = 10, kMinHandle = 28, kSpinButtons = 18;

bool is(const QStyleOption& option, QStyle::StateFlag flag) {
    return option.state.testFlag(flag);
}

/// The window color mixed with the text color; `fraction` is that of the text color.
QColor shade(const QPalette& palette, double fraction) {
    return mixed(palette.color(QPalette::Window), palette.color(QPalette::WindowText), fraction);
}

/// The edge of a control in its state: accented with focus, pale if disabled.
QPen edgePen(const QStyleOption& option) {
    const QPalette& palette = option.palette;
    if (!is(option, QStyle::State_Enabled)) return {shade(palette, 0.25), 1};
    if (is(option, QStyle::State_HasFocus)) return {LabStyle::accent(palette), 2};
    return {LabStyle::edge(palette), 1};
}

/// Draws a smooth shape with this pen and brush, and restores those of the painter.
template <class Draw>
void drawShape(QPainter& painter, const QPen& pen, const QBrush& fill, Draw draw) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(pen);
    painter.setBrush(fill);
    draw();
    painter.restore();
}

void drawBox(QPainter& painter, const QRectF& rect, const QPen& pen, const QBrush& fill,
             double radius = kRadius) {
    const double half = pen.style() == Qt::NoPen ? 0 : 0.5 * pen.widthF();
    drawShape(painter, pen, fill,
              [&] { painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius, radius); });
}

/// A line with round ends and corners through these points.
void drawStroke(QPainter& painter, const QPolygonF& points, const QColor& color, double width) {
    QPainterPath path;
    path.addPolygon(points);
    drawShape(painter, QPen(color, width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin), Qt::NoBrush,
              [&] { painter.drawPath(path); });
}

enum class Pointing { up, down };

void drawChevron(QPainter& painter, const QPointF& center, Pointing pointing, const QColor& color,
                 double size) {
    const double down = pointing == Pointing::down ? 1 : -1;
    drawStroke(painter,
               {center + QPointF(-size, -down * size / 2), center + QPointF(0, down * size / 2),
                center + QPointF(size, -down * size / 2)},
               color, 1.5);
}

QColor glyphColor(const QStyleOption& option) {
    return option.palette.color(is(option, QStyle::State_Enabled) ? QPalette::Normal : QPalette::Disabled,
                                QPalette::ButtonText);
}

/// A button: darker under the pointer, filled while pressed or checked.
void drawButton(const QStyleOption& option, QPainter& painter) {
    const QPalette& palette = option.palette;
    QColor fill = palette.color(QPalette::Button);
    if (is(option, QStyle::State_Sunken) || is(option, QStyle::State_On))
        fill = palette.color(QPalette::Highlight);
    else if (is(option, QStyle::State_MouseOver) && is(option, QStyle::State_Enabled))
        fill = mixed(fill, palette.color(QPalette::ButtonText), 0.08);
    drawBox(painter, option.rect, edgePen(option), fill);
}

void drawCheckBox(const QStyleOption& option, QPainter& painter) {
    const QPalette& palette = option.palette;
    const bool on = is(option, QStyle::State_On), enabled = is(option, QStyle::State_Enabled);
    const QColor accent = LabStyle::accent(palette);
    const QPen pen = on && enabled ? QPen(accent, 1) : edgePen(option);
    drawBox(painter, option.rect, pen, on && enabled ? accent : palette.color(QPalette::Base), 3);
    const QRectF box = option.rect;
    if (is(option, QStyle::State_NoChange)) {  // partially checked
        const QRectF inner =
            box.adjusted(0.25 * box.width(), 0.25 * box.height(), -0.25 * box.width(), -0.25 * box.height());
        painter.fillRect(inner, enabled ? accent : LabStyle::edge(palette));
    }
    if (!on) return;
    drawStroke(painter,
               {{box.left() + 0.24 * box.width(), box.top() + 0.52 * box.height()},
                {box.left() + 0.43 * box.width(), box.top() + 0.71 * box.height()},
                {box.left() + 0.77 * box.width(), box.top() + 0.30 * box.height()}},
               enabled ? palette.color(QPalette::Base) : LabStyle::edge(palette), 1.8);
}

void drawRadioButton(const QStyleOption& option, QPainter& painter) {
    const bool on = is(option, QStyle::State_On), enabled = is(option, QStyle::State_Enabled);
    const QColor accent = LabStyle::accent(option.palette);
    const QRectF circle = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
    drawShape(painter, on && enabled ? QPen(accent, 1) : edgePen(option),
              option.palette.color(QPalette::Base), [&] { painter.drawEllipse(circle); });
    if (!on) return;
    const double inset = 0.25 * circle.width();
    drawShape(painter, Qt::NoPen, enabled ? accent : LabStyle::edge(option.palette),
              [&] { painter.drawEllipse(circle.adjusted(inset, inset, -inset, -inset)); });
}

/// The current tab is underlined; the others are plain text.
void drawTab(const QStyleOptionTab& option, QPainter& painter) {
    const bool in_front = is(option, QStyle::State_Selected);
    const QRectF rect = option.rect;
    if (!in_front && is(option, QStyle::State_MouseOver) && is(option, QStyle::State_Enabled))
        drawBox(painter, rect.adjusted(1, 2, -1, -3), Qt::NoPen, shade(option.palette, 0.06));
    if (in_front)
        painter.fillRect(QRectF(rect.left() + 4, rect.bottom() - 2, rect.width() - 8, 3),
                         LabStyle::accent(option.palette));
}

void drawComboBox(const QStyleOptionComboBox& option, QPainter& painter) {
    QColor fill = option.palette.color(QPalette::Base);
    if (is(option, QStyle::State_MouseOver) && is(option, QStyle::State_Enabled) && !option.editable)
        fill = mixed(fill, option.palette.color(QPalette::Text), 0.05);
    drawBox(painter, option.rect, edgePen(option), fill);
    drawChevron(painter, QPointF(option.rect.right() - 10, option.rect.center().y() + 0.5), Pointing::down,
                glyphColor(option), 3.5);
}

}  // namespace

LabStyle::LabStyle() : QProxyStyle(QStyleFactory::create("Fusion")) {}

QColor LabStyle::edge(const QPalette& palette) {
    return shade(palette, 0.52);
}

QColor LabStyle::accent(const QPalette& palette) {
    return palette.color(QPalette::Link);
}

void LabStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                             const QWidget* widget) const {
    switch (element) {
        case PE_PanelButtonCommand:
            return drawButton(*option, *painter);
        case PE_PanelLineEdit:
            // In a spin box or editable combo box, the outer control has drawn the frame.
            if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
                frame && frame->lineWidth <= 0)
                return;
            return drawBox(*painter, option->rect, edgePen(*option), option->palette.color(QPalette::Base));
        case PE_FrameLineEdit:
            return drawBox(*painter, option->rect, edgePen(*option), Qt::NoBrush);
        case PE_IndicatorCheckBox:
            return drawCheckBox(*option, *painter);
        case PE_IndicatorRadioButton:
            return drawRadioButton(*option, *painter);
        case PE_Frame:
        case PE_FrameGroupBox:
            return drawBox(*painter, option->rect, QPen(shade(option->palette, 0.18), 1), Qt::NoBrush);
        case PE_FrameTabWidget:
        case PE_FrameTabBarBase:
            painter->setPen(shade(option->palette, 0.18));
            return painter->drawLine(option->rect.topLeft(), option->rect.topRight());
        case PE_FrameFocusRect:
            return drawBox(*painter, option->rect, QPen(accent(option->palette), 1), Qt::NoBrush, 3);
        default:
            QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void LabStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                           const QWidget* widget) const {
    if (element == CE_TabBarTabShape)
        if (const auto* tab = qstyleoption_cast<const QStyleOptionTab*>(option))
            return drawTab(*tab, *painter);
    QProxyStyle::drawControl(element, option, painter, widget);
}

void LabStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                  QPainter* painter, const QWidget* widget) const {
    const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
    const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
    const auto* slider = qstyleoption_cast<const QStyleOptionSlider*>(option);
    if (control == CC_ComboBox && combo) return drawComboBox(*combo, *painter);
    if (control == CC_SpinBox && spin) return drawSpinBox(*spin, *painter, widget);
    if (control == CC_Slider && slider) return drawSlider(*slider, *painter, widget);
    if (control == CC_ScrollBar && slider) return drawScrollBar(*slider, *painter, widget);
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

void LabStyle::drawSpinBox(const QStyleOptionSpinBox& option, QPainter& painter,
                           const QWidget* widget) const {
    drawBox(painter, option.rect, edgePen(option), option.palette.color(QPalette::Base));
    if (option.buttonSymbols == QAbstractSpinBox::NoButtons) return;
    for (const auto& [sub, pointing, step] :
         {std::tuple{SC_SpinBoxUp, Pointing::up, QAbstractSpinBox::StepUpEnabled},
          {SC_SpinBoxDown, Pointing::down, QAbstractSpinBox::StepDownEnabled}}) {
        const QRectF rect = subControlRect(CC_SpinBox, &option, sub, widget);
        const bool enabled = is(option, State_Enabled) && option.stepEnabled.testFlag(step);
        if (enabled && option.activeSubControls.testFlag(sub) && is(option, State_MouseOver))
            drawBox(painter, rect.adjusted(1, 1, -1, -1), Qt::NoPen,
                    mixed(option.palette.color(QPalette::Base), option.palette.color(QPalette::Text), 0.12),
                    2);
        drawChevron(painter, rect.center(), pointing,
                    option.palette.color(enabled ? QPalette::Normal : QPalette::Disabled, QPalette::Text),
                    2.8);
    }
}

void LabStyle::drawSlider(const QStyleOptionSlider& option, QPainter& painter, const QWidget* widget) const {
    constexpr double kGroove = 4;
    if (option.orientation != Qt::Horizontal || (option.subControls & SC_SliderTickmarks) != 0)
        return QProxyStyle::drawComplexControl(CC_Slider, &option, &painter, widget);
    const QRectF groove = subControlRect(CC_Slider, &option, SC_SliderGroove, widget),
                 handle = subControlRect(CC_Slider, &option, SC_SliderHandle, widget);
    const bool enabled = is(option, State_Enabled);
    const QColor line = enabled ? edge(option.palette) : shade(option.palette, 0.25);
    const double y = groove.center().y() + 0.5 - kGroove / 2;
    drawBox(painter, QRectF(groove.left(), y, groove.width(), kGroove), Qt::NoPen, line, 2);
    if (enabled)
        drawBox(painter, QRectF(groove.left(), y, handle.center().x() - groove.left(), kGroove), Qt::NoPen,
                accent(option.palette), 2);
    const double radius = std::min(handle.width(), handle.height()) / 2 - 1;
    const bool held = is(option, State_Sunken) || is(option, State_HasFocus);
    drawShape(painter, QPen(enabled ? accent(option.palette) : line, held ? 3 : 2),
              option.palette.color(QPalette::Base),
              [&] { painter.drawEllipse(handle.center() + QPointF(0.5, 0.5), radius - 1, radius - 1); });
}

/// Draws only the handle, without arrows or groove; it is more prominent under the pointer.
void LabStyle::drawScrollBar(const QStyleOptionSlider& option, QPainter& painter,
                             const QWidget* widget) const {
    const QRectF handle = subControlRect(CC_ScrollBar, &option, SC_ScrollBarSlider, widget);
    if (!is(option, State_Enabled)) return;
    const bool held = is(option, State_Sunken) || is(option, State_MouseOver);
    const QColor color = shade(option.palette, held ? 0.62 : 0.5);
    const bool across = option.orientation == Qt::Horizontal;
    const QRectF slim = across ? handle.adjusted(1, 2, -1, -2) : handle.adjusted(2, 1, -2, -1);
    drawBox(painter, slim, Qt::NoPen, color, std::min(slim.width(), slim.height()) / 2);
}

QRect LabStyle::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
                               const QWidget* widget) const {
    if (control == CC_ScrollBar) {
        const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
        if (bar == nullptr) return QProxyStyle::subControlRect(control, option, sub, widget);
        const bool across = bar->orientation == Qt::Horizontal;
        const int length = across ? bar->rect.width() : bar->rect.height();
        const int range = bar->maximum - bar->minimum;
        int handle = length;
        if (range > 0) {
            const double fraction =
                static_cast<double>(bar->pageStep) / (static_cast<double>(range) + bar->pageStep);
            handle = std::clamp(static_cast<int>(fraction * length), std::min(kMinHandle, length), length);
        }
        const int at = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition,
                                               length - handle, bar->upsideDown);
        const auto part = [&](int from, int size) {
            const QRect rect =
                across ? QRect(from, 0, size, bar->rect.height()) : QRect(0, from, bar->rect.width(), size);
            return visualRect(bar->direction, bar->rect, rect.translated(bar->rect.topLeft()));
        };
        switch (sub) {
            case SC_ScrollBarSlider:
                return part(at, handle);
            case SC_ScrollBarGroove:
                return bar->rect;
            case SC_ScrollBarSubPage:
                return part(0, at);
            case SC_ScrollBarAddPage:
                return part(at + handle, length - at - handle);
            default:
                return {};  // no arrows
        }
    }
    if (control == CC_SpinBox &&
        (sub == SC_SpinBoxUp || sub == SC_SpinBoxDown || sub == SC_SpinBoxEditField)) {
        const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
        if (spin == nullptr || spin->buttonSymbols == QAbstractSpinBox::NoButtons)
            return QProxyStyle::subControlRect(control, option, sub, widget);
        const QRect rect = spin->rect.adjusted(1, 1, -1, -1);
        QRect up = rect, down = rect;
        up.setLeft(rect.right() - zoomed(kSpinButtons) + 1);
        up.setHeight(rect.height() / 2);
        down.setCoords(up.left(), up.bottom() + 1, rect.right(), rect.bottom());
        return visualRect(spin->direction, spin->rect,
                          sub == SC_SpinBoxUp     ? up
                          : sub == SC_SpinBoxDown ? down
                                                  : rect.adjusted(3, 1, -zoomed(kSpinButtons), -1));
    }
    return QProxyStyle::subControlRect(control, option, sub, widget);
}

int LabStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
    switch (metric) {
        case PM_ScrollBarExtent:
            return zoomed(kScrollBar);
        case PM_ScrollBarSliderMin:
            return zoomed(kMinHandle);
        case PM_TabBarTabShiftVertical:
        case PM_TabBarTabShiftHorizontal:
            return 0;
        case PM_IndicatorWidth:
        case PM_IndicatorHeight:
        case PM_SliderThickness:
        case PM_SliderLength:
        case PM_SliderControlThickness:
            return zoomed(16);
        default:
            return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

}  // namespace roper
