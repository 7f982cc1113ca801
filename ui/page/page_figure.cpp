#include "ui/page/page_figure.h"

#include <QAbstractScrollArea>
#include <algorithm>

#include "ui/charts/drawing.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kLetter = 18;  // height of the line with the letter above a part, in pixels

/// The innermost scroll area of the page that contains a widget; null if there is none.
const QWidget* scrollAreaAround(const QWidget& widget, const QWidget& page) {
    for (const QWidget* around = widget.parentWidget(); around != nullptr && around != &page;
         around = around->parentWidget())
        if (qobject_cast<const QAbstractScrollArea*>(around) != nullptr) return around;
    return nullptr;
}

/// "(a)"
QString letterOf(std::size_t part) {
    return QStringLiteral("(%1)").arg(QChar(static_cast<char16_t>(u'a' + part)));
}

}  // namespace

PageFigure::PageFigure(const Page& page) : page_(page.name()) {
    const double zoom = Zoom::instance().factor();
    QRectF all;
    for (const Figure* figure : page.figures()) {
        const auto* widget = dynamic_cast<const QWidget*>(figure);
        if (widget == nullptr || !widget->isVisibleTo(&page)) continue;
        // A figure in a scroll area is as large as the scroll area.
        const QWidget* area = scrollAreaAround(*widget, page);
        const QWidget* frame = area != nullptr ? area : widget;
        const QRectF place(QPointF(frame->mapTo(&page, QPoint(0, 0))) / zoom, QSizeF(frame->size()) / zoom);
        if (place.isEmpty()) continue;
        parts_.push_back({figure, place, area != nullptr});
        all |= place;
    }
    for (Part& part : parts_)
        part.place.translate(-all.topLeft());
    size_ = all.size();
}

QString PageFigure::figureName() const {
    return page_.toLower().replace(' ', '-') + QStringLiteral("-page");
}

QSize PageFigure::minFigureSize() const {
    double scale = 0;
    for (const Part& part : parts_) {
        const QSize least = part.figure->minFigureSize();
        scale = std::max(scale, least.width() / part.place.width());
        if (!part.is_scrolled) scale = std::max(scale, (least.height() + kLetter) / part.place.height());
    }
    return (size_ * scale).toSize();
}

bool PageFigure::hasLegend() const {
    return std::ranges::any_of(parts_, [](const Part& part) { return part.figure->hasLegend(); });
}

QRectF PageFigure::partRect(const QRectF& area, const Part& part) const {
    const double x = area.width() / size_.width(), y = area.height() / size_.height();
    const QRectF& place = part.place;
    return QRectF(area.left() + place.left() * x, area.top() + place.top() * y, place.width() * x,
                  place.height() * y)
        .adjusted(0, kLetter, 0, 0);
}

void PageFigure::paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                 const Theme& theme) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const QRectF place = partRect(area, parts_[i]);
        painter.save();
        painter.setFont(boldFont(painter.font()));
        drawColoredText(painter, QRectF(place.left() + 4, place.top() - kLetter, place.width() - 4, kLetter),
                        kLeftMiddle, letterOf(i), theme.text);
        painter.restore();
        painter.save();
        painter.setClipRect(place);
        // Only the beginning of a long scrolled figure fits.
        const QRectF whole = parts_[i].is_scrolled
                                 ? QRectF(place.topLeft(), parts_[i].figure->sizeForWidth(place.width()))
                                 : place;
        if (legend)  // or not, as on the screen
            parts_[i].figure->paintFigure(painter, whole, theme);
        else
            parts_[i].figure->paintWithLegend(false, painter, whole, theme);
        painter.restore();
    }
}

QString PageFigure::figureCsv() const {
    QString csv;
    for (std::size_t i = 0; i < parts_.size(); ++i)
        csv += QStringLiteral("# %1 %2\n").arg(letterOf(i), parts_[i].figure->figureName()) +
               parts_[i].figure->figureCsv();
    return csv;
}

QString PageFigure::figureCaption() const {
    QStringList captions;
    for (std::size_t i = 0; i < parts_.size(); ++i)
        captions << letterOf(i) + ' ' + parts_[i].figure->figureCaption();
    return captions.join(QStringLiteral(". "));
}

}  // namespace roper
