#include "ui/pages/mixing/value_chain_view.h"

#include <Eigen/Geometry>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/charts/ticks.h"
#include "ui/pages/mixing/mixing_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr int kMaxGhosts = 24;    // with more arrows, unrotated ones (ghosts) would hide the rotated ones
constexpr double kMaxTrail = 64;  // maximum number of shifts drawn as dots
constexpr int kMaxClockLabels = 24;
constexpr double kTextMargin = 12;  // pixels

QPointF pointOf(const Eigen::Vector2d& v) {
    return {v.x(), v.y()};
}

/// Extends `shown` by all corners of a chain.
void include(QRectF& shown, const ValueChain& chain) {
    for (const ValueArrow& arrow : chain.arrows) {
        const Eigen::Vector2d tip = arrow.tip();
        shown.setLeft(std::min(shown.left(), tip.x()));
        shown.setRight(std::max(shown.right(), tip.x()));
        shown.setTop(std::min(shown.top(), tip.y()));
        shown.setBottom(std::max(shown.bottom(), tip.y()));
    }
}
constexpr double kTick = 5;  // of the clock, in pixels to either side of the circle

}  // namespace

ValueChainView::ValueChainView(AttentionState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("mixing"), tr("Values mixed by RoPE and by RoPER")), state_(state) {
    connect(&state_, &AttentionState::changed, this, qOverload<>(&QWidget::update));
}

AttentionForm ValueChainView::formOf(bool right) const {
    const Setup& s = state_.setup();
    // RoPE as RoPER with blend 0, so that both sides show the same plane, whatever fraction of v rotates.
    return right ? mixingForm(s) : roperForm(s.rotary(), s.valueRotary(), 0.0);
}

ValueChain ValueChainView::chainOf(bool right) const {
    return state_.valueChain(formOf(right), state_.setup().shift);
}

/// Does not depend on blend and shift, so that the scale is stable while they change.
QRectF ValueChainView::shownPlane() const {
    Setup setup = state_.setup();
    if (setup.effectiveMixedTokens() != MixedTokens::all) {
        // Relative to the length of the value, which bounds that of the output; leaves room for marks.
        constexpr double kHalfExtent = 1.25;
        return {-kHalfExtent, -kHalfExtent, 2 * kHalfExtent, 2 * kHalfExtent};
    }
    QRectF shown(-0.05, -0.05, 0.1, 0.1);
    const bool rotates_with_sentence =
        setup.mistake != Mistake::none || setup.shift != 0 || !mixedTensors(setup).outputsAreRelative();
    setup.mistake = Mistake::none;
    for (const double value_rotation_strength : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        setup.value_rotation_strength = value_rotation_strength;
        include(shown, state_.valueChain(mixingForm(setup), 0));
    }
    include(shown, roperChain());
    if (rotates_with_sentence) {
        // The chain keeps its size under shifts and rotates about the origin.
        const double radius =
            std::max({std::hypot(shown.left(), shown.top()), std::hypot(shown.right(), shown.top()),
                      std::hypot(shown.left(), shown.bottom()), std::hypot(shown.right(), shown.bottom())});
        shown = QRectF(-radius, -radius, 2 * radius, 2 * radius);
    }
    const double margin = 0.06 * std::max(shown.width(), shown.height());
    return shown.adjusted(-margin, -margin, margin, margin);
}

QRectF ValueChainView::half(const QRectF& area, bool right) const {
    const double width = area.width() / 2;
    return {area.left() + (right ? width : 0), area.top(), width, area.height()};
}

/// Texts above and below the chain of one side.
ValueChainView::Texts ValueChainView::texts(bool right) const {
    const Setup& s = state_.setup();
    const ValueChain chain = chainOf(right);
    return {right ? mixingTitle(s) : tr("RoPE"),
            right ? mixingFormulas(s).output : QStringLiteral("o = Σ a v"), rotationText(chain),
            tr("o = (%1, %2), length %3")
                .arg(numberText(chain.sum.x(), 5), numberText(chain.sum.y(), 5),
                     numberText(chain.sum.norm(), 5))};
}

/// Heights of the texts above and below, the same on both sides, for halves of this width.
std::pair<double, double> ValueChainView::textHeights(double width, const QFont& font) const {
    const auto height = [&](const QString& text, const QFont& of) {
        return wrappedHeight(text, of, width - 2 * kTextMargin) + 2;
    };
    double above = 0, below = 0;
    for (const bool right : {false, true}) {
        const Texts all = texts(right);
        above = std::max(above, height(all.title, boldFont(font)) + height(all.formula, font) +
                                    height(all.rotation, font));
        below = std::max(below, height(all.output, font));
    }
    return {above + 8, below + 6};
}

PlaneFrame ValueChainView::plane(const QRectF& area, bool right, const QRectF& shown,
                                 const QFont& font) const {
    const QRectF box = half(area, right);
    const auto [above, below] = textHeights(box.width(), font);
    return PlaneFrame::around(box.adjusted(12, above + 6, -12, -below - 4), shown);
}

void ValueChainView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.isReady())
        return paintNote(painter, area.adjusted(20, 20, -20, -20), state_.message(), theme);
    const QRectF shown = shownPlane();
    paintPanel(painter, area, false, shown, theme);
    paintPanel(painter, area, true, shown, theme);
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(area.center().x(), area.top() + 8),
                     QPointF(area.center().x(), area.bottom() - 8));
}

void ValueChainView::paintPanel(QPainter& painter, const QRectF& area, bool right, const QRectF& shown,
                                const Theme& theme) const {
    const QRectF box = half(area, right);
    const PlaneFrame at = plane(area, right, shown, painter.font());
    const ValueChain chain = chainOf(right);
    const auto [above, below] = textHeights(box.width(), painter.font());
    LabelPlacer labels(box.adjusted(4, above, -4, -below));
    paintTexts(painter, box, right, theme);
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(box.left() + 8, at.center.y()), QPointF(box.right() - 8, at.center.y()));
    painter.drawLine(QPointF(at.center.x(), box.top() + above), QPointF(at.center.x(), box.bottom() - below));
    if (showsClock()) paintClock(painter, labels, at, right, theme);
    if (right) paintShiftTrail(painter, at, theme);
    paintChain(painter, at, chain, right, theme);
    const QPointF sum = at.onScreen(pointOf(chain.sum));
    drawArrow(painter, at.center, sum, Theme::output(), 4);
    labels.avoid(at.center, sum);
    labelChain(painter, labels, at, chain, right, theme);
}

void ValueChainView::paintTexts(QPainter& painter, const QRectF& box, bool right, const Theme& theme) const {
    const Texts all = texts(right);
    const QFont plain = painter.font();
    QRectF place = box.adjusted(kTextMargin, 6, -kTextMargin, -5);
    const auto write = [&](const QString& text, const QColor& color) {
        QRectF used;
        painter.setPen(color);
        painter.drawText(place, Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, text, &used);
        place.setTop(used.bottom() + 2);
    };
    painter.setFont(boldFont(plain));
    write(all.title, right ? theme.readable(Theme::roper()) : theme.readable(Theme::rope()));
    painter.setFont(plain);
    write(all.formula, theme.faint_text);
    write(all.rotation, theme.text);
    drawColoredText(painter, place, Qt::AlignBottom | Qt::AlignLeft | Qt::TextWordWrap, all.output,
                    theme.text);
}

/// Draws the chain head to tail, near keys strong and far keys pale. On the right, also each arrow before its
/// rotation, paler, and the rotation as an arc.
void ValueChainView::paintChain(QPainter& painter, const PlaneFrame& at, const ValueChain& chain,
                                bool rotated, const Theme& theme) const {
    constexpr double kArced = 20;  // pixels; shorter arrows get no arc
    const bool few = chain.arrows.size() <= static_cast<std::size_t>(kMaxGhosts);
    const double farthest = std::max(1, chain.arrows.empty() ? 1 : state_.query() - chain.arrows.front().key);
    for (const ValueArrow& arrow : chain.arrows) {
        const QPointF from = at.onScreen(pointOf(arrow.tail)), to = at.onScreen(pointOf(arrow.tip()));
        const double length = at.unit * arrow.rotated.norm();
        const bool is_chosen = arrow.key == state_.key();
        const double near = 1 - 0.5 * std::abs(state_.query() - arrow.key) / farthest;
        if (rotated && (few || is_chosen)) {
            drawArrow(painter, from, at.onScreen(pointOf(arrow.tail + arrow.value)),
                      theme.ghost(Theme::value()), 1.3);
            if (is_chosen || length > kArced) paintRotation(painter, from, arrow, length, is_chosen, theme);
        }
        drawArrow(painter, from, to, theme.faded(Theme::value(), near), is_chosen ? 3.6 : 2.2);
    }
}

Eigen::Vector2d ValueChainView::markOf(const AttentionForm& form, int j) const {
    const auto [first, second] = form.value.rotary.plane(state_.setup().pair);
    const Eigen::Vector2d value(state_.mixed().V(j, first), state_.mixed().V(j, second));
    const Eigen::VectorXd positions = state_.positions();
    const double angle = form.value.angle(state_.setup().pair, positions[j]) +
                         form.output.angle(state_.setup().pair, positions[state_.query()]);
    return Eigen::Rotation2Dd(angle) * value;
}

bool ValueChainView::marksCoincide(bool right) const {
    constexpr double kNoAngle = 1e-9;  // radians; smaller ones are rounding errors
    const AttentionForm form = formOf(right);
    const Eigen::VectorXd positions = state_.positions();
    const int pair = state_.setup().pair;
    return std::abs(form.value.angle(pair, positions[0]) -
                    form.value.angle(pair, positions[state_.tokens() - 1])) < kNoAngle;
}

/// The tokens with marks on the clock: all of a short text, otherwise those at round distances and the key,
/// so few that marks can be told apart. Near ones come first, because their labels matter most if room is
/// short.
std::vector<int> ValueChainView::markedTokens() const {
    constexpr int kMaxMarks = 128;
    const int step = wholeStep(state_.tokens(), kMaxMarks);
    const int label_step = wholeStep(state_.tokens(), kMaxClockLabels);
    std::vector<int> places;
    for (int j = 0; j < state_.tokens(); ++j) {
        const int distance = j - state_.query();
        if (distance % step == 0 || distance % label_step == 0 || j == state_.key()) places.push_back(j);
    }
    std::ranges::stable_sort(places, {}, [this](int j) { return std::abs(j - state_.query()); });
    return places;
}

void ValueChainView::paintClock(QPainter& painter, LabelPlacer& labels, const PlaneFrame& at, bool right,
                                const Theme& theme) const {
    const AttentionForm form = formOf(right);
    const bool is_relative = state_.setup().mistake != Mistake::no_inverse;
    const QFont plain = painter.font();
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.frame, 1));
    const double radius = at.unit * markOf(form, 0).norm();
    painter.drawEllipse(at.center, radius, radius);
    painter.setFont(smallFont(plain));
    const int label_step = wholeStep(state_.tokens(), kMaxClockLabels);
    const bool coincide = marksCoincide(right);
    for (const int j : markedTokens()) {
        const QPointF mark = at.onScreen(pointOf(markOf(form, j)));
        const QPointF away = directionOf(at.center, mark);
        painter.setPen(QPen(j == state_.key() ? theme.text : theme.frame, j == state_.key() ? 2 : 1));
        painter.drawLine(mark - kTick * away, mark + kTick * away);
        labels.avoid(mark - kTick * away, mark + kTick * away);
        if (coincide || j == state_.key()) continue;  // labelChain labels these
        if ((j - state_.query()) % label_step != 0) continue;
        // The query's label says what the numbers mean.
        const QString number = numberText(is_relative ? j - state_.query() : j);
        const QString name = is_relative ? tr("j − n = %1") : tr("j = %1");
        labels.draw(painter, j == state_.query() ? name.arg(number) : number, mark + 2 * kTick * away, away,
                    theme.faint_text);
    }
    painter.setFont(plain);
}

QPointF ValueChainView::markAt(int j) const {
    return plane(canvas(), true, shownPlane(), font()).onScreen(pointOf(markOf(formOf(true), j)));
}

int ValueChainView::nearestMark(const QPointF& point) const {
    const PlaneFrame at = plane(canvas(), true, shownPlane(), font());
    const AttentionForm form = formOf(true);
    int nearest = state_.key();
    double least = 1e300;
    for (int j = 0; j < state_.tokens(); ++j) {
        const QPointF apart = at.onScreen(pointOf(markOf(form, j))) - point;
        // Marks a full rotation apart coincide; the one nearest to the current key is taken.
        const double distance = lengthOf(apart) + 1e-3 * std::abs(j - state_.key());
        if (distance >= least) continue;
        least = distance;
        nearest = j;
    }
    return nearest;
}

/// Labels arrows with the positions of their keys as far as there is room, the chosen one first, then the
/// longest.
void ValueChainView::labelChain(QPainter& painter, LabelPlacer& labels, const PlaneFrame& at,
                                const ValueChain& chain, bool right, const Theme& theme) const {
    constexpr double kNumbered = 15;  // pixels; shorter arrows get no number
    struct Numbered {
        QPointF from, to;
        int key;
        double length;
    };
    std::vector<Numbered> arrows;
    for (const ValueArrow& arrow : chain.arrows) {
        arrows.push_back({at.onScreen(pointOf(arrow.tail)), at.onScreen(pointOf(arrow.tip())), arrow.key,
                          at.unit * arrow.rotated.norm()});
        labels.avoid(arrows.back().from, arrows.back().to);
    }
    std::ranges::stable_sort(arrows, std::ranges::greater(), [this](const Numbered& arrow) {
        return std::pair(arrow.key == state_.key(), arrow.length);
    });
    const bool few = arrows.size() <= static_cast<std::size_t>(kMaxGhosts);
    const QFont plain = painter.font();
    for (const Numbered& arrow : arrows) {
        const bool is_chosen = arrow.key == state_.key();
        if (!is_chosen && (!few || arrow.length <= kNumbered)) continue;
        const QPointF along = directionOf(arrow.from, arrow.to);
        painter.setFont(is_chosen ? plain : smallFont(plain));
        if (is_chosen)
            labels.draw(painter,
                        (showsClock() && marksCoincide(right) ? tr("j = %1, like every j") : tr("j = %1"))
                            .arg(arrow.key),
                        arrow.to + (showsClock() ? 2 * kTick : 0) * along, along, theme.text);
        else
            labels.draw(painter, QString::number(arrow.key), (arrow.from + arrow.to) / 2,
                        {along.y(), -along.x()}, theme.faint_text);
    }
    painter.setFont(plain);
}

/// The rotation of one arrow about its tail; more than a full rotation is drawn as a spiral.
void ValueChainView::paintRotation(QPainter& painter, const QPointF& tail, const ValueArrow& arrow,
                                   double length, bool strong, const Theme& theme) const {
    constexpr double kMaxRotations = 3;
    if (std::abs(arrow.angle) < 0.02) return;
    const double shown = std::clamp(arrow.angle, -2 * M_PI * kMaxRotations, 2 * M_PI * kMaxRotations);
    const double start = std::atan2(arrow.value.y(), arrow.value.x()) + arrow.angle - shown;
    const double inner = std::clamp(0.5 * length, 8.0, 30.0);
    const double growth =
        std::abs(shown) > 2 * M_PI ? 0.5 * inner / (2 * M_PI * kMaxRotations) : 0.0;  // pixels per radian
    const int steps = 8 + static_cast<int>(10 * std::abs(shown));
    QPolygonF arc;
    for (int i = 0; i <= steps; ++i) {
        const double angle = shown * i / steps, radius = inner + growth * std::abs(angle);
        arc << tail + radius * QPointF(std::cos(start + angle), -std::sin(start + angle));
    }
    const QColor color = strong ? theme.text : theme.frame;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, strong ? 1.6 : 1));
    painter.drawPolyline(arc);
    drawArrowHead(painter, arc[arc.size() - 2], arc.back(), color, strong ? 7 : 5);
}

QString ValueChainView::rotationText(const ValueChain& chain) const {
    for (const ValueArrow& arrow : chain.arrows) {
        if (arrow.key != state_.key()) continue;
        const Setup& s = state_.setup();
        const QString key = state_.tokenText(arrow.key);
        if (arrow.angle == 0)
            return arrow.key == state_.query()
                       ? tr("key %1 is the query itself: j − n = 0, nothing to rotate").arg(key)
                       : tr("key %1: not rotated").arg(key);
        return tr("key %1: rotated by %2 = %3 rad")
            .arg(key, mixingFormulas(s).angle, numberText(arrow.angle, 4));
    }
    return tr("key %1 has no weight here").arg(state_.tokenText(state_.key()));
}

/// The tip of the sum for every shift up to S: one point for RoPER, points on a circle without the inverse.
void ValueChainView::paintShiftTrail(QPainter& painter, const PlaneFrame& at, const Theme& theme) const {
    const double shift = state_.setup().shift;
    if (shift == 0) return;
    const AttentionForm form = mixingForm(state_.setup());
    const double last = std::clamp(shift, -kMaxTrail, kMaxTrail);
    const double step = last > 0 ? 1 : -1;
    painter.setPen(Qt::NoPen);
    for (double moved = 0; std::abs(moved) <= std::abs(last); moved += step) {
        painter.setBrush(theme.faded(Theme::output(), 0.25 + 0.4 * std::abs(moved / last)));
        painter.drawEllipse(at.onScreen(pointOf(state_.valueChain(form, moved).sum)), 3.4, 3.4);
    }
}

QString ValueChainView::figureCsv() const {
    if (!state_.isReady()) return QStringLiteral("side,key,distance\n");
    CsvText csv(
        QStringLiteral("side,key,distance,weight,weighted_value1,weighted_value2,angle,rotated1,rotated2"));
    for (const auto& [side, chain] : {std::pair{"rope", ropeChain()}, {"roper", roperChain()}})
        for (const ValueArrow& arrow : chain.arrows)
            csv.line(side, arrow.key, state_.query() - arrow.key, arrow.weight, arrow.value.x(),
                     arrow.value.y(), arrow.angle, arrow.rotated.x(), arrow.rotated.y());
    return csv.text();
}

QString ValueChainView::figureCaption() const {
    const Setup& s = state_.setup();
    return tr("Values mixed for query %1 in the plane of pair %2, RoPE and %3; %4; d = %5, base %6, shift %7")
        .arg(state_.query())
        .arg(s.pair)
        .arg(mixingTitle(s), state_.mixedText())
        .arg(s.head_dim)
        .arg(s.base)
        .arg(s.shift);
}

std::optional<ValueArrow> ValueChainView::nearest(bool right, const QPointF& point) const {
    const PlaneFrame at = plane(canvas(), right, shownPlane(), font());
    std::optional<ValueArrow> found;
    double least = 1e300;
    for (const ValueArrow& arrow : chainOf(right).arrows) {
        const QPointF middle = at.onScreen(pointOf(arrow.tail + arrow.rotated / 2));
        const double distance = lengthOf(middle - point);
        if (distance < least) {
            least = distance;
            found = arrow;
        }
    }
    return found;
}

/// Marks the tip of the arrow of the key under the pointer, on both sides.
void ValueChainView::paintHovered(QPainter& painter, const Theme& theme) const {
    const auto& key = state_.selection().hovered().key;
    if (!key || !state_.isReady()) return;
    for (const bool right : {false, true}) {
        const PlaneFrame at = plane(canvas(), right, shownPlane(), font());
        for (const ValueArrow& arrow : chainOf(right).arrows)
            if (arrow.key == *key) paintRing(painter, at.onScreen(pointOf(arrow.tip())), theme);
    }
}

void ValueChainView::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && state_.isReady()) choose(event->position());
}

/// Chooses the key with the nearest arrow, or on the clock the nearest mark.
void ValueChainView::choose(const QPointF& at) {
    const bool right = at.x() > canvas().center().x();
    Setup next = state_.setup();
    if (showsClock()) {
        if (!right) return;  // the marks of RoPE coincide
        next.key = nearestMark(at);
    } else {
        const auto arrow = nearest(right, at);
        if (!arrow) return;
        next.key = arrow->key;
    }
    state_.selection().set(next, tr("Key"));
}

void ValueChainView::mouseMoveEvent(QMouseEvent* event) {
    if (!state_.isReady()) return;
    if (showsClock() && event->buttons().testFlag(Qt::LeftButton)) choose(event->position());
    const bool right = event->position().x() > canvas().center().x();
    const auto arrow = nearest(right, event->position());
    if (!arrow) return emit hovered({});
    state_.selection().hoverState().set({.key = arrow->key, .distance = state_.query() - arrow->key});
    emit hovered(tr("key %1    distance %2    weight %3    a·v = (%4, %5)    rotated by %6 rad: (%7, %8)")
                     .arg(state_.tokenText(arrow->key), numberText(state_.query() - arrow->key),
                          numberText(arrow->weight, 5), numberText(arrow->value.x(), 5),
                          numberText(arrow->value.y(), 5), numberText(arrow->angle, 5),
                          numberText(arrow->rotated.x(), 5), numberText(arrow->rotated.y(), 5)));
}

}  // namespace roper
