#include "ui/page/page_figure.h"

#include <algorithm>
#include <cmath>

#include "ui/theme/type_scale.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kLetter = 18;  // the height of the line above a part, in pixels

}  // namespace

PageFigure::PageFigure(const Page& page) : page_(page) {
    const double zoom = Zoom::instance().factor();
    QRectF all;
    for (const Figure* figure : page.figures()) {
        const auto* widget = dynamic_cast<const QWidget*>(figure);
        if (widget == nullptr || !widget->isVisibleTo(&page)) continue;
        // Of one that is scrolled, the part that is seen.
        const QRect seen = widget->visibleRegion().boundingRect();
        const QRect shown = seen.isEmpty() ? widget->rect() : seen;
        const QRectF place(QPointF(widget->mapTo(&page, shown.topLeft())) / zoom,
                           QSizeF(shown.size()) / zoom);
        parts_.push_back({figure, place});
        all |= place;
    }
    for (Part& part : parts_)
        part.place.translate(-all.topLeft());
    size_ = all.size();
}

QString PageFigure::figureName() const {
    return page_.name().toLower().replace(' ', '-') + QStringLiteral("-page");
}

QSize PageFigure::leastSize() const {
    double scale = 0;
    for (const Part& part : parts_)
        scale = std::max({scale, part.figure->leastSize().width() / part.place.width(),
                          (part.figure->leastSize().height() + kLetter) / part.place.height()});
    return (size_ * scale).toSize();
}

bool PageFigure::hasLegend() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.figure->hasLegend(); });
}

QRectF PageFigure::placeIn(const QRectF& area, const Part& part) const {
    const double x = area.width() / size_.width(), y = area.height() / size_.height();
    const QRectF& place = part.place;
    return QRectF(area.left() + place.left() * x, area.top() + place.top() * y, place.width() * x,
                  place.height() * y)
        .adjusted(0, kLetter, 0, 0);
}

QString PageFigure::letterOf(std::size_t part) const {
    return QString(QChar(static_cast<char16_t>(u'a' + part)));
}

void PageFigure::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    paintParts(painter, area, theme,
               [&](const Figure& figure, const QRectF& place) { figure.paintFigure(painter, place, theme); });
}

void PageFigure::paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                 const Theme& theme) const {
    paintParts(painter, area, theme, [&](const Figure& figure, const QRectF& place) {
        figure.paintWithLegend(legend, painter, place, theme);
    });
}

void PageFigure::paintParts(QPainter& painter, const QRectF& area, const Theme& theme,
                            const std::function<void(const Figure&, const QRectF&)>& paint) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const QRectF place = placeIn(area, parts_[i]);
        painter.save();
        painter.setFont(boldFont(painter.font()));
        painter.setPen(theme.text);
        painter.drawText(QRectF(place.left() + 4, place.top() - kLetter, place.width() - 4, kLetter),
                         Qt::AlignLeft | Qt::AlignVCenter, letterOf(i));
        painter.restore();
        painter.save();
        painter.setClipRect(place);
        paint(*parts_[i].figure, place);
        painter.restore();
    }
}

QString PageFigure::figureCsv() const {
    QString csv;
    for (std::size_t i = 0; i < parts_.size(); ++i)
        csv += QStringLiteral("# %1: %2\n").arg(letterOf(i), parts_[i].figure->figureName()) +
               parts_[i].figure->figureCsv();
    return csv;
}

QString PageFigure::figureCaption() const {
    QStringList captions;
    for (std::size_t i = 0; i < parts_.size(); ++i)
        captions << QStringLiteral("(%1) %2").arg(letterOf(i), parts_[i].figure->figureCaption());
    return captions.join(QStringLiteral(". "));
}

}  // namespace roper
