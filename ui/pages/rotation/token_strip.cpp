#include "ui/pages/rotation/token_strip.h"

#include <QMouseEvent>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr int kMaxStripTokens = 64;
constexpr double kMaxCellWidth = 110, kMinRowHeight = 56, kMargin = 6;  // pixels

}  // namespace

TokenStrip::TokenStrip(RotationState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("tokens"),
                 tr("The sentence, with the pair rotated by the position of each token")),
      state_(state) {
    setEmptyText(
        tr("Type a sentence under “Sentence”: each of its words appears here, rotated by its position."));
    connect(&state_, &RotationState::changed, this, qOverload<>(&QWidget::update));
}

QStringList TokenStrip::tokens() const {
    return QString::fromStdString(state_.setup().words)
        .split(' ', Qt::SkipEmptyParts)
        .mid(0, kMaxStripTokens);
}

/// The number of tokens per row at which each word fits, up to kMaxCellWidth.
int TokenStrip::columns(double width) const {
    const QFontMetricsF metrics(smallFont(font()));
    double widest = 0;
    for (const QString& word : tokens())
        widest = std::max(widest, metrics.horizontalAdvance(word));
    return std::max(1, static_cast<int>((width - 2 * kMargin) / std::min(widest + 6, kMaxCellWidth)));
}

QRectF TokenStrip::cell(const QRectF& area, int token) const {
    const int count = std::max(1, static_cast<int>(tokens().size())), fitting = columns(area.width());
    const int most = std::max(1, static_cast<int>(area.height() / kMinRowHeight));
    const int rows = std::min((count + fitting - 1) / fitting, most);
    const int across = (count + rows - 1) / rows;
    const double width = std::min(kMaxCellWidth, (area.width() - 2 * kMargin) / across);
    const double height = (area.height() - 6) / rows;
    return {area.left() + kMargin + token % across * width, area.top() + 3 + token / across * height, width,
            height};
}

QSizeF TokenStrip::sizeForWidth(double width) const {
    const auto rows = static_cast<double>((tokens().size() + columns(width) - 1) / columns(width));
    return {width, std::max(1.0, rows) * (minFigureSize().height() + 6)};
}

int TokenStrip::tokenAt(const QPointF& at) const {
    for (int token = 0; token < tokens().size(); ++token)
        if (cell(canvas(), token).contains(at)) return token;
    return -1;
}

QPointF TokenStrip::rotatedTo(double position) const {
    const auto [first, second] = state_.rotary().plane(state_.setup().pair);
    const double angle = position * state_.rotary().frequency(state_.setup().pair);
    return rotatedBy({state_.x()[first], state_.x()[second]}, angle);
}

void TokenStrip::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const QStringList words = tokens();
    painter.setFont(smallFont(painter.font()));
    const QFontMetrics metrics = painter.fontMetrics();
    if (words.isEmpty()) return paintNote(painter, area.adjusted(8, 4, -8, -4), emptyText(), theme);
    for (int token = 0; token < words.size(); ++token) {
        const QRectF box = cell(area, token);
        const bool current = std::lround(state_.setup().position) == token;
        if (current) {
            painter.setPen(QPen(Theme::output(), 1.4));
            painter.setBrush(theme.faded(Theme::output(), 0.12));
            painter.drawRoundedRect(box.adjusted(1, 0, -1, 0), 4, 4);
        }
        const double text = metrics.height();
        const double radius = std::min(box.width(), box.height() - 2 * text) / 2 - 2;
        const QPointF center(box.center().x(), box.top() + text + (box.height() - 2 * text) / 2);
        drawColoredText(painter, QRectF(box.left(), box.top(), box.width(), text), Qt::AlignCenter,
                        metrics.elidedText(words[token], Qt::ElideRight, static_cast<int>(box.width())),
                        current ? theme.text : theme.faint_text);
        painter.drawText(QRectF(box.left(), box.bottom() - text, box.width(), text), Qt::AlignCenter,
                         QString::number(token));
        if (radius < 3) continue;
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme.grid, 1));
        painter.drawEllipse(center, radius, radius);
        const QPointF rotated = rotatedTo(token);
        const double length = std::hypot(rotated.x(), rotated.y());
        if (length > 0)
            drawArrow(painter, center, center + radius / length * QPointF(rotated.x(), -rotated.y()),
                      Theme::output(), 1.8);
    }
}

QString TokenStrip::figureCsv() const {
    CsvText csv(QStringLiteral("position,token,rotated1,rotated2"));
    const QStringList words = tokens();
    for (int token = 0; token < words.size(); ++token) {
        const QPointF rotated = rotatedTo(token);
        csv.line(token, words[token], rotated.x(), rotated.y());
    }
    return csv.text();
}

QString TokenStrip::figureCaption() const {
    return tr("Pair %1 of one vector at the position of each token").arg(state_.setup().pair);
}

void TokenStrip::mousePressEvent(QMouseEvent* event) {
    const int token = tokenAt(event->position());
    if (event->button() != Qt::LeftButton || token < 0) return;
    state_.selection().change(tr("Position m"), [&](Setup& s) { s.position = token; });
}

void TokenStrip::paintHovered(QPainter& painter, const Theme& theme) const {
    const auto& position = state_.selection().hovered().position;
    if (!position || *position < 0 || *position >= tokens().size()) return;
    paintFrame(painter, cell(canvas(), *position).adjusted(1, 0, -1, 0), theme);
}

void TokenStrip::mouseMoveEvent(QMouseEvent* event) {
    const int token = tokenAt(event->position());
    if (token < 0) return emit hovered({});
    state_.selection().hoverState().set({.position = token});
    const QPointF rotated = rotatedTo(token);
    emit hovered(tr("“%1” at position %2    R(%2)x in pair %3 = (%4, %5)")
                     .arg(tokens()[token], QString::number(token), QString::number(state_.setup().pair),
                          fixedNumberText(rotated.x(), 4), fixedNumberText(rotated.y(), 4)));
}

}  // namespace roper
