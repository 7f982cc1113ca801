#pragma once

#include <QStringList>

#include "tests/support/text_boxes.h"
#include "ui/charts/figure.h"
#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

namespace roper {

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
