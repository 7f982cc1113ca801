#include "ui/pages/inspect/surprisal_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/view_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kTextMargin = 12, kLegend = 26, kLine = 26, kPadding = 6;
constexpr double kDarkest_nats = 8;   ///< −ln p of the darkest shade: about 1 in 3,000
constexpr double kDarkestChange = 4;  ///< nats: change of −ln p with the darkest shade

/// −ln p of a token; nothing for tokens that are not predicted and while unknown.
std::optional<double> nllOf(const TextPredictions* reading, std::size_t token) {
    const auto index = reading == nullptr ? std::nullopt : reading->indexOf(token);
    return index ? std::optional(reading->nll[*index]) : std::nullopt;
}

}  // namespace

SurprisalView::SurprisalView(InspectState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("surprise"), tr("How well the model predicts each token")),
      state_(state) {
    setFocusPolicy(Qt::StrongFocus);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&state_, &InspectState::answered, this, [this](const AnswerSpec* spec) {
        if (spec == &answers::predictions) choose(-1);
        if (spec == &answers::predictions || spec == &answers::changed_predictions) refresh();
    });
    connect(&state_, &InspectState::modelChanged, this, &SurprisalView::refresh);
    connect(&state_, &InspectState::inputsChanged, this, &SurprisalView::refresh);
    connect(&state_, &InspectState::answerOrProgressChanged, this, [this] {
        if (state_.answer(answers::predictions) == nullptr) update();  // shows the progress
    });
}

void SurprisalView::refresh() {
    updateGeometry();
    update();
}

void SurprisalView::choose(int token) {
    const int tokens = state_.answer(answers::predictions) == nullptr
                           ? 0
                           : static_cast<int>(state_.answer(answers::predictions)->tokens.size());
    chosen_ = token < 0 ? tokens - 1 : std::min(token, tokens - 1);
    emit chosenChanged(chosen_);
    update();
}

std::optional<double> SurprisalView::shadeOf(std::size_t token) const {
    const TextPredictions *before = state_.answer(answers::predictions),
                          *after = state_.answer(answers::changed_predictions);
    const auto a = nllOf(before, token), b = nllOf(after, token);
    if (shade_ == Shade::trained || after == nullptr) return a;
    if (shade_ == Shade::changed) return b;
    return a && b ? std::optional(*b - *a) : std::nullopt;
}

TokenLines SurprisalView::linesIn(const QRectF& area) const {
    const QRectF box = area.adjusted(kTextMargin, kLegend + kTextMargin, -kTextMargin, 0);
    const TextPredictions* reading = state_.answer(answers::predictions);
    const QFontMetricsF metrics(monospaced(font()));
    return layOutTokens(
        reading != nullptr ? reading->tokens : std::vector<std::string>(), box,
        {.line = kLine, .height = kLine - 4, .gap = 1, .breaks = true}, [&](const std::string& token) {
            return std::min(metrics.horizontalAdvance(formatToken(token)) + kPadding, box.width());
        });
}

QSizeF SurprisalView::sizeForWidth(double width) const {
    const double needed = linesIn({0, 0, width, 0}).bottom + kTextMargin;
    return {width, std::max<double>(needed, minFigureSize().height())};
}

int SurprisalView::heightForWidth(int width) const {
    return zoomed(sizeForWidth(width / Zoom::instance().factor()).height());
}

QRectF SurprisalView::tokenRect(int token) const {
    return linesIn(canvas()).cell(token);
}

/// Draws the color scale with the numbers at both ends.
void SurprisalView::paintLegend(QPainter& painter, const QRectF& line, const Theme& theme) const {
    const bool signed_shades =
        shade_ == Shade::difference && state_.answer(answers::changed_predictions) != nullptr;
    const auto colors = signed_shades ? theme.divergingColors() : theme.sequentialColors();
    const QString title = signed_shades ? tr("what the change adds to −ln p")
                          : shade_ == Shade::changed && state_.answer(answers::changed_predictions)
                              ? tr("−ln p with the change")
                              : tr("−ln p of each token");
    const QString low = signed_shades ? QStringLiteral("−%1").arg(kDarkestChange) : QStringLiteral("0");
    const QString high = tr("%1 nats").arg(signed_shades ? kDarkestChange : kDarkest_nats);
    const QFontMetricsF metrics(painter.font());
    painter.setPen(theme.faint_text);
    double x = line.left();
    const auto write = [&](const QString& text) {
        painter.drawText(QRectF(x, line.top(), line.right() - x, line.height()), kLeftMiddle, text);
        x += metrics.horizontalAdvance(text) + 8;
    };
    constexpr double kBar = 90;
    // In a narrow figure, the scale needs its numbers more than its name.
    const double scale = metrics.horizontalAdvance(low) + metrics.horizontalAdvance(high) + kBar + 3 * 8;
    write(metrics.elidedText(title, Qt::ElideRight, std::max(0.0, line.width() - scale)));
    write(low);
    if (x + kBar + metrics.horizontalAdvance(high) + 8 > line.right() + 1) return;
    QLinearGradient gradient(x, 0, x + kBar, 0);
    for (int i = 0; i <= 16; ++i)
        gradient.setColorAt(i / 16.0, QColor(colors[static_cast<std::size_t>(i * 255 / 16)]));
    painter.fillRect(QRectF(x, line.center().y() - 5, kBar, 10), gradient);
    x += kBar + 8;
    write(high);
}

void SurprisalView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const TextPredictions* reading = state_.answer(answers::predictions);
    if (reading == nullptr) {
        paintPlaceholder(
            painter, area, theme,
            state_.placeholder(state_.model().isEmpty() ? tr("Choose a model and type a text for it to read.")
                                                        : tr("Type a text for the model to read.")));
        return;
    }
    paintLegend(
        painter,
        QRectF(area.left() + kTextMargin, area.top() + 4, area.width() - 2 * kTextMargin, kLegend - 4),
        theme);
    const bool signed_shades =
        shade_ == Shade::difference && state_.answer(answers::changed_predictions) != nullptr;
    const auto colors = signed_shades ? theme.divergingColors() : theme.sequentialColors();
    const TokenLines lines = linesIn(area);
    const QFont plain = painter.font(), mono = monospaced(plain);
    painter.setFont(mono);
    const QFontMetricsF metrics(mono);
    for (std::size_t token = 0; token < lines.cells.size(); ++token) {
        const QRectF& cell = lines.cells[token];
        if (cell.bottom() > area.bottom() - kLine && lines.bottom > area.bottom()) {
            painter.setFont(plain);
            drawColoredText(
                painter, QRectF(area.left() + kTextMargin, cell.top(), area.width() - 2 * kTextMargin, kLine),
                kLeftMiddle, tr("… %1 more tokens").arg(lines.cells.size() - token), theme.faint_text);
            break;
        }
        QColor shade = theme.background;
        if (const auto nats = shadeOf(token)) {
            const double share = signed_shades ? 0.5 + 0.5 * *nats / kDarkestChange : *nats / kDarkest_nats;
            shade = QColor(colors[static_cast<std::size_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)))]);
            painter.setPen(Qt::NoPen);
            painter.setBrush(shade);
            painter.drawRect(cell);
        }
        const bool on_light = contrast(shade, QColor(Qt::black)) > contrast(shade, QColor(Qt::white));
        drawColoredText(painter, cell, Qt::AlignCenter,
                        metrics.elidedText(formatToken(reading->tokens[token]), Qt::ElideRight, cell.width()),
                        on_light ? QColor(Qt::black) : QColor(Qt::white));
        if (static_cast<int>(token) == chosen_) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(Theme::roper(), 2));
            painter.drawRect(cell.adjusted(0, -1, 0, 1));
        }
    }
    painter.setFont(plain);
}

QString SurprisalView::describe(int token) const {
    const auto index = static_cast<std::size_t>(token);
    const TextPredictions *before = state_.answer(answers::predictions),
                          *after = state_.answer(answers::changed_predictions);
    QString text = tr("token %1, “%2”").arg(token).arg(formatToken(before->tokens[index]));
    const auto nll = nllOf(before, index);
    if (!nll)
        return text + (before->masked ? tr(": it is not masked") : tr(": the first token is not predicted"));
    text +=
        tr(": −ln p %1 nats, probability %2").arg(fixedNumberText(*nll, 3), probabilityText(std::exp(-*nll)));
    if (const auto changed = nllOf(after, index))
        text += tr("; with the change %1 nats, %2")
                    .arg(fixedNumberText(*changed, 3), probabilityText(std::exp(-*changed)));
    return text;
}

void SurprisalView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return FigureView::mousePressEvent(event);
    if (const int token = linesIn(canvas()).at(event->position()); token >= 0) choose(token);
}

void SurprisalView::mouseMoveEvent(QMouseEvent* event) {
    const int token = linesIn(canvas()).at(event->position());
    emit hovered(token >= 0 ? describe(token) : QString());
}

void SurprisalView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left) return choose(std::max(0, chosen_ - 1));
    if (event->key() == Qt::Key_Right) return choose(chosen_ + 1);
    if (event->key() == Qt::Key_Home) return choose(0);
    if (event->key() == Qt::Key_End) return choose(-1);
    FigureView::keyPressEvent(event);
}

QString SurprisalView::figureCsv() const {
    CsvText csv(QStringLiteral("token,text,nll,changed_nll"));
    const TextPredictions *before = state_.answer(answers::predictions),
                          *after = state_.answer(answers::changed_predictions);
    if (before == nullptr) return csv.text();
    for (std::size_t i = 0; i < before->tokens.size(); ++i)
        csv.line(i, before->tokens[i], nllOf(before, i), nllOf(after, i));
    return csv.text();
}

QString SurprisalView::figureCaption() const {
    const TextPredictions *before = state_.answer(answers::predictions),
                          *after = state_.answer(answers::changed_predictions);
    if (before == nullptr) return {};
    QString caption = (before->masked ? tr("−ln p of each token, masked in turn, %1, mean %2 nats over %3")
                                      : tr("−ln p of each token, %1, mean %2 nats over %3"))
                          .arg(state_.modelName(), fixedNumberText(before->loss, 4),
                               countText(static_cast<int>(before->nll.size()), tr("token")));
    if (after != nullptr) caption += tr("; with the change %1 nats").arg(fixedNumberText(after->loss, 4));
    return caption;
}

}  // namespace roper
