#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPolygonF>
#include <QStringList>
#include <cmath>
#include <vector>

#include "ui/charts/figure.h"
#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

namespace roper {

/// A text of a figure and its position.
struct TextBox {
    QString text;
    QPolygonF corners;  ///< bounding box of the glyphs, possibly rotated
    QColor color;
    QColor background = {};  ///< background color, if it is uniform

    QRectF bounds() const { return corners.boundingRect(); }
};

/// A paint device that draws nothing but records the position, color and background of texts.
class TextBoxRecorder : public QPaintDevice {
  public:
    explicit TextBoxRecorder(const QSize& size) : size_(size), engine_(boxes_) {}

    QPaintEngine* paintEngine() const override { return &engine_; }
    const std::vector<TextBox>& boxes() const { return boxes_; }

  protected:
    int metric(PaintDeviceMetric metric) const override {
        constexpr int kDotsPerInch = 96;
        switch (metric) {
            case PdmWidth:
                return size_.width();
            case PdmHeight:
                return size_.height();
            case PdmWidthMM:
                return size_.width() * 254 / (10 * kDotsPerInch);
            case PdmHeightMM:
                return size_.height() * 254 / (10 * kDotsPerInch);
            case PdmDpiX:
            case PdmDpiY:
            case PdmPhysicalDpiX:
            case PdmPhysicalDpiY:
                return kDotsPerInch;
            case PdmDepth:
                return 32;
            case PdmDevicePixelRatio:
                return 1;
            case PdmDevicePixelRatioScaled:
                return static_cast<int>(QPaintDevice::devicePixelRatioFScale());
            default:
                return 0;
        }
    }

  private:
    class Engine : public QPaintEngine {
      public:
        explicit Engine(std::vector<TextBox>& boxes) : QPaintEngine(AllFeatures), boxes_(boxes) {}

        bool begin(QPaintDevice*) override { return true; }
        bool end() override { return true; }
        Type type() const override { return User; }
        void updateState(const QPaintEngineState& now) override {
            if (now.state() & DirtyTransform) transform_ = now.transform();
            if (now.state() & DirtyPen) pen_ = now.pen().color();
            if (now.state() & DirtyBrush) brush_ = now.brush();
        }
        void drawPixmap(const QRectF& area, const QPixmap&, const QRectF&) override {
            fill(area, Qt::Dense4Pattern);
        }
        void drawPath(const QPainterPath& path) override { fills_.push_back({transform_.map(path), brush_}); }
        void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override {
            QPainterPath path;
            path.addPolygon(QPolygonF(QList<QPointF>(points, points + count)));
            if (mode != PolylineMode) drawPath(path);
        }
        void drawImage(const QRectF& area, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {
            fill(area, Qt::Dense4Pattern);
        }
        void drawTextItem(const QPointF& at, const QTextItem& item) override {
            // Text in several fonts arrives in parts, each starting where the previous one ends.
            const bool continues = !boxes_.empty() && transform_ == end_transform_ &&
                                   std::abs(at.y() - end_.y()) < 0.5 && std::abs(at.x() - end_.x()) < 1.5;
            end_ = at + QPointF(item.width(), 0);
            end_transform_ = transform_;
            if (item.text().trimmed().isEmpty()) return;
            // Uses the bounding box of the glyphs: digits and capitals are lower than the line, and
            // descenders matter only where they occur.
            const QRectF ink = QFontMetricsF(item.font()).tightBoundingRect(item.text()).translated(at);
            const QPolygonF corners = transform_.map(QPolygonF(ink));
            if (!continues)
                return boxes_.push_back(
                    {item.text(), corners, pen_, background(corners.boundingRect().center())});
            TextBox& whole = boxes_.back();
            whole.text += item.text();
            whole.corners = QPolygonF(whole.bounds() | transform_.map(QPolygonF(ink)).boundingRect());
        }

      private:
        struct Fill {
            QPainterPath path;
            QBrush brush;
        };

        void fill(const QRectF& area, const QBrush& brush) {
            QPainterPath path;
            path.addRect(area);
            fills_.push_back({transform_.map(path), brush});
        }
        /// No color above a pixmap or a gradient.
        QColor background(const QPointF& at) const {
            QColor color;
            for (const Fill& fill : fills_) {
                if (fill.brush.style() == Qt::NoBrush || !fill.path.contains(at)) continue;
                if (fill.brush.style() != Qt::SolidPattern)
                    color = {};
                else
                    color = color.isValid() ? mixed(fill.brush.color(), color) : fill.brush.color();
            }
            return color;
        }
        static QColor mixed(const QColor& above, const QColor& below) {
            const float a = above.alphaF();
            return QColor::fromRgbF(above.redF() * a + below.redF() * (1 - a),
                                    above.greenF() * a + below.greenF() * (1 - a),
                                    above.blueF() * a + below.blueF() * (1 - a));
        }

        std::vector<TextBox>& boxes_;
        std::vector<Fill> fills_;
        QTransform transform_;
        QColor pen_ = Qt::black;
        QBrush brush_;
        QPointF end_;  ///< end of the last text
        QTransform end_transform_;
    };

    QSize size_;
    std::vector<TextBox> boxes_;
    mutable Engine engine_;
};

/// The overlap of two boxes, in square pixels.
inline double sharedArea(const QPolygonF& a, const QPolygonF& b) {
    if (!a.boundingRect().intersects(b.boundingRect())) return 0;
    const QRectF shared = a.intersected(b).boundingRect();
    return shared.width() * shared.height();
}

/// The texts of a figure drawn at this size.
inline std::vector<TextBox> textsOf(const Figure& figure, const QSize& size) {
    TextBoxRecorder recorder(size);
    QPainter painter(&recorder);
    painter.setFont(Zoom::instance().figureFont());
    figure.paintFigure(painter, QRectF(QPointF(0, 0), QSizeF(size)), Theme::light());
    painter.end();
    return recorder.boxes();
}

/// The texts of a figure drawn at this size that are cut off or overlap; empty if there are none.
inline QStringList labelProblems(const Figure& figure, const QSize& size) {
    const QRectF area(QPointF(0, 0), QSizeF(size));
    const QString where =
        QStringLiteral("%1 at %2 × %3: ").arg(figure.figureName()).arg(size.width()).arg(size.height());
    QStringList problems;
    const std::vector<TextBox> boxes = textsOf(figure, size);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        if (!area.adjusted(-1, -1, 1, 1).contains(boxes[i].bounds()))
            problems << where + QStringLiteral("“%1” is cut").arg(boxes[i].text);
        for (std::size_t j = 0; j < i; ++j)
            if (sharedArea(boxes[i].corners, boxes[j].corners) > 2)
                problems << where + QStringLiteral("“%1” lies over “%2”").arg(boxes[i].text, boxes[j].text);
    }
    return problems;
}

/// The single capital letters of a figure drawn at this size.
inline std::vector<TextBox> lettersOf(const Figure& figure, const QSize& size) {
    std::vector<TextBox> letters;
    for (const TextBox& box : textsOf(figure, size))
        if (box.text.size() == 1 && box.text[0].isUpper()) letters.push_back(box);
    return letters;
}

/// The texts of a figure whose contrast with their background is below WCAG 2.1 AA, in both themes.
inline QStringList contrastProblems(const Figure& figure, const QSize& size) {
    constexpr double kMinContrast = 4.5;
    QStringList problems;
    for (const bool dark : {false, true}) {
        const Theme theme = Theme::of(fixedPalette(dark));
        TextBoxRecorder recorder(size);
        QPainter painter(&recorder);
        painter.setFont(Zoom::instance().figureFont());
        painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
        figure.paintFigure(painter, QRectF(QPointF(0, 0), QSizeF(size)), theme);
        painter.end();
        for (const TextBox& box : recorder.boxes())
            if (box.background.isValid() && contrast(box.color, box.background) < kMinContrast)
                problems << QStringLiteral("%1, %2: “%3” in %4 on %5 has %6 : 1")
                                .arg(figure.figureName(), dark ? "dark" : "light", box.text, box.color.name(),
                                     box.background.name())
                                .arg(contrast(box.color, box.background), 0, 'f', 2);
    }
    problems.removeDuplicates();
    return problems;
}

}  // namespace roper
