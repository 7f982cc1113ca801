#include "ui/charts/curve_letters.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/drawing.h"

namespace roper {
namespace {

constexpr double kMinSeparation = 10;  // distance between curves for a letter to be unambiguous, pixels

double firstX(const QCPGraph& graph) {
    return graph.keyAxis()->coordToPixel(graph.data()->constBegin()->key);
}

double lastX(const QCPGraph& graph) {
    return graph.keyAxis()->coordToPixel((graph.data()->constEnd() - 1)->key);
}

bool isDrawn(const CurveLetters::Letter& letter) {
    return letter.graph != nullptr && letter.graph->visible() && !letter.graph->data()->isEmpty();
}

/// The point of a curve at an x within its range, in pixels; nothing if it has no value there.
std::optional<QPointF> pointAt(const QCPGraph& graph, double x) {
    const QCPGraphDataContainer& points = *graph.data();
    const auto begin = points.constBegin(), last = points.constEnd() - 1;
    const double key = std::clamp(graph.keyAxis()->pixelToCoord(x), begin->key, last->key);
    auto after = points.findBegin(key, false);
    if (after > last) after = last;
    const auto before = after == begin ? begin : after - 1;
    const QPointF from = graph.coordsToPixels(before->key, before->value),
                  to = graph.coordsToPixels(after->key, after->value);
    const double at = graph.keyAxis()->coordToPixel(key);
    const double fraction = to.x() > from.x() ? (at - from.x()) / (to.x() - from.x()) : 1;
    const QPointF point(at, from.y() + fraction * (to.y() - from.y()));
    return std::isfinite(point.y()) ? std::optional(point) : std::nullopt;
}

bool isFree(const QRectF& box, const std::vector<QRectF>& drawn) {
    return std::ranges::none_of(drawn, [&](const QRectF& other) { return other.intersects(box); });
}

/// The box, moved as little as possible so that it overlaps no drawn one and stays inside the area; the box
/// itself if that is impossible.
QRectF nearestFree(const QRectF& box, const QRectF& area, const std::vector<QRectF>& drawn) {
    if (isFree(box, drawn)) return box;
    constexpr double kGap = 2;
    QRectF nearest = box;
    double least = std::numeric_limits<double>::infinity();
    const double across = box.width() + kGap, down = box.height() + kGap;
    const int columns = static_cast<int>(area.width() / across),
              rows = static_cast<int>(area.height() / down);
    for (int row = -rows; row <= rows; ++row)
        for (int column = -columns; column <= columns; ++column) {
            const QPointF offset(column * across, row * down);
            const double distance = std::hypot(offset.x(), offset.y());
            const QRectF moved = box.translated(offset);
            if (distance < least && area.contains(moved) && isFree(moved, drawn)) {
                nearest = moved;
                least = distance;
            }
        }
    return nearest;
}

}  // namespace

CurveLetters::CurveLetters(QCustomPlot& plot) : QCPAbstractItem(&plot) {
    setLayer(QStringLiteral("axes"));  // above all curves
    setClipAxisRect(plot.axisRect());
    setSelectable(false);
}

void CurveLetters::setCurveStyle(const QFont& font, const QColor& text, const QColor& background) {
    font_ = font;
    font_.setBold(true);
    text_ = text;
    background_ = background;
}

QString CurveLetters::letterLabel(int number) {
    constexpr int kLetters = 26;
    const QString last(QChar('A' + number % kLetters));
    return number < kLetters ? last : letterLabel(number / kLetters - 1) + last;
}

bool CurveLetters::isBefore(const QString& a, const QString& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
}

QString CurveLetters::labeled(const QString& letter, const QString& label) {
    return letter.isEmpty() ? label : letter + QStringLiteral("  ") + label;
}

std::pair<double, double> CurveLetters::reach(const QRectF& area) const {
    double left = area.right(), right = area.left();
    for (const Letter& letter : letters_) {
        if (!isDrawn(letter)) continue;
        left = std::min(left, firstX(*letter.graph));
        right = std::max(right, lastX(*letter.graph));
    }
    return {std::max(left, area.left()), std::min(right, area.right())};
}

QRectF CurveLetters::boxOf(const QString& letter, const QPointF& at, const QRectF& area) const {
    const QFontMetricsF metrics(font_);
    const double width = std::max(metrics.horizontalAdvance(letter), 0.7 * metrics.height()) + 4;
    QRectF box(0, 0, width, metrics.height());
    if (!area.contains(at) || area.width() < box.width() || area.height() < box.height()) return {};
    // Keeps the letter whole if its curve runs along the edge.
    box.moveCenter(at);
    box.moveLeft(std::clamp(box.left(), area.left(), area.right() - box.width()));
    box.moveTop(std::clamp(box.top(), area.top(), area.bottom() - box.height()));
    return box;
}

void CurveLetters::drawLetter(QCPPainter& painter, const Letter& letter, const QRectF& box) const {
    painter.setPen(QPen(letter.color, 1.4));
    painter.setBrush(background_);
    painter.drawRoundedRect(box, 4, 4);
    drawColoredText(painter, box, Qt::AlignCenter | Qt::TextDontClip, letter.text, text_);
}

CurveLetters::Places CurveLetters::placesIn(const QRectF& area) const {
    constexpr double kApart = 46;  // pixels between letters if there is room for several per curve
    Places places;
    for (const Letter& letter : letters_)
        if (isDrawn(letter) && !places.texts.contains(letter.text)) places.texts << letter.text;
    const auto [left, right] = reach(area);
    if (places.texts.isEmpty() || left > right) return places;
    const auto count = static_cast<int>(places.texts.size());
    places.repeats = std::max(1, static_cast<int>((right - left) / (count * kApart)));
    const int all = count * places.repeats;
    for (int i = 0; i < all; ++i)
        places.xs.push_back(left + (right - left) * (i + 0.5) / all);
    for (const Letter& letter : letters_) {
        auto& ys = places.ys.emplace_back(places.xs.size(), std::nullopt);
        if (!isDrawn(letter)) continue;
        for (std::size_t i = 0; i < places.xs.size(); ++i)
            if (places.xs[i] >= firstX(*letter.graph) && places.xs[i] <= lastX(*letter.graph))
                if (const auto at = pointAt(*letter.graph, places.xs[i])) ys[i] = at->y();
    }
    return places;
}

/// Distance of a text's curves from all others at a position, in pixels; −1 if none of them reaches it.
double CurveLetters::separation(const Places& places, const QString& text, std::size_t place) const {
    double least = std::numeric_limits<double>::infinity();
    bool is_there = false;
    for (std::size_t own = 0; own < letters_.size(); ++own) {
        if (letters_[own].text != text || !places.ys[own][place]) continue;
        is_there = true;
        for (std::size_t other = 0; other < letters_.size(); ++other)
            if (letters_[other].text != text && places.ys[other][place])
                least = std::min(least, std::abs(*places.ys[own][place] - *places.ys[other][place]));
    }
    return is_there ? least : -1;
}

/// Texts whose curves are separate at few positions choose first; those that are never separate choose last.
std::vector<CurveLetters::Choice> CurveLetters::choicesOf(const Places& places) const {
    std::vector<Choice> choices;
    for (const QString& text : places.texts) {
        Choice choice{text, {}, 0};
        for (std::size_t place = 0; place < places.xs.size(); ++place) {
            const double distance = separation(places, text, place);
            if (distance < 0) continue;
            choice.places.emplace_back(distance, place);
            choice.clear_positions += distance >= kMinSeparation;
        }
        std::ranges::stable_sort(choice.places, std::ranges::greater(),
                                 &std::pair<double, std::size_t>::first);
        choices.push_back(std::move(choice));
    }
    std::ranges::stable_sort(choices, {}, [](const Choice& choice) {
        return std::pair(choice.clear_positions == 0, choice.clear_positions);
    });
    return choices;
}

void CurveLetters::draw(QCPPainter* painter) {
    const QRectF area = mParentPlot->axisRect()->rect();
    const Places places = placesIn(area);
    if (places.xs.empty()) return;
    std::vector<bool> taken(places.xs.size());
    std::vector<QRectF> drawn;
    painter->setFont(font_);
    const auto draw_at = [&](const Letter& letter, const QPointF& at, bool must_draw) {
        QRectF box = boxOf(letter.text, at, area);
        if (box.isNull() || !(must_draw || isFree(box, drawn))) return false;
        if (must_draw) box = nearestFree(box, area, drawn);
        drawLetter(*painter, letter, box);
        drawn.push_back(box);
        return true;
    };
    const auto draw_all = [&](const QString& text, std::size_t place, bool must_draw) {
        bool any = false;
        for (std::size_t i = 0; i < letters_.size(); ++i)
            if (letters_[i].text == text && places.ys[i][place])
                any =
                    draw_at(letters_[i], {places.xs[place], *places.ys[i][place]}, must_draw && !any) || any;
        taken[place] = taken[place] || any;
        return any;
    };
    const std::vector<Choice> choices = choicesOf(places);
    for (int repeat = 0; repeat < places.repeats; ++repeat) {
        for (const Choice& choice : choices) {
            bool is_named = false;
            // Every text gets one letter, and more where its curves are separate from others.
            for (const bool must_draw : {false, true})
                for (const auto& [distance, place] : choice.places)
                    if (!is_named && !taken[place] && (repeat == 0 || distance >= kMinSeparation))
                        is_named = draw_all(choice.text, place, must_draw && repeat == 0);
            if (is_named || repeat > 0) continue;
            // A curve too short for every position has its letter at its end.
            for (const Letter& letter : letters_) {
                if (letter.text != choice.text || !isDrawn(letter)) continue;
                if (const auto at = pointAt(*letter.graph, std::min(lastX(*letter.graph), area.right())))
                    draw_at(letter, *at, true);
            }
        }
    }
}

}  // namespace roper
