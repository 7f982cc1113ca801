#include "ui/pages/inspect/head_scatter_view.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/charts/ticks.h"
#include "ui/pages/inspect/view_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kLeft = 56, kBottom = 44, kTop = 12, kRight = 14, kLegendLine = 20, kRadius = 4.2;

struct LabelColor {
    const char* label;
    QColor color;
};

/// Colors of Okabe and Ito, distinct for color-blind readers, in the order in which `labelOf` tries labels.
const std::vector<LabelColor>& labelColors() {
    static const std::vector<LabelColor> colors = {
        {"induction", QColor(0xD5, 0x5E, 0x00)},  {"previous token", QColor(0x00, 0x72, 0xB2)},
        {"same token", QColor(0xCC, 0x79, 0xA7)}, {"first token", QColor(0x8C, 0x8C, 0x8C)},
        {"local", QColor(0x56, 0xB4, 0xE9)},      {"content", QColor(0x00, 0x9E, 0x73)},
        {"mixed", QColor(0xE6, 0x9F, 0x00)}};
    return colors;
}

/// Logarithmic scale of distances that includes 0.
double along(double distance) {
    return std::log2(1 + distance);
}

}  // namespace

QString titleOfHead(const HeadReport& report) {
    QString text = HeadScatterView::tr("layer %1, head %2: %3")
                       .arg(report.layer)
                       .arg(report.head)
                       .arg(QString::fromStdString(labelOf(report)));
    if (evidenceOf(report) > 0)
        text += HeadScatterView::tr(" (score %1)").arg(numberText(evidenceOf(report), 3));
    return text;
}

QString describeHead(const HeadReport& report, const InspectState& state) {
    QString text = titleOfHead(report) +
                   HeadScatterView::tr(
                       "; entropy %1 nats, mean distance %2; share of the scores' variance from pairs "
                       "that complete no turn in this text, and from unrotated features: %3")
                       .arg(numberText(report.entropy, 3), numberText(report.mean_distance, 3),
                            numberText(report.slow_share, 3));
    for (const HeadScore& score : headScores())
        if (const auto number = score.of(state, report))
            text += QStringLiteral("; %1 %2").arg(score.name, numberText(*number, 3));
    return text;
}

HeadScatterView::HeadScatterView(InspectState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("head-atlas"), tr("All heads by mean distance and entropy")),
      state_(state) {
    for (auto signal :
         {&InspectState::headChanged, &InspectState::modelChanged, &InspectState::answerOrProgressChanged})
        connect(&state_, signal, this, qOverload<>(&QWidget::update));
}

std::vector<std::pair<std::string, int>> HeadScatterView::countedLabels(const HeadsAnswer& heads) {
    std::vector<std::pair<std::string, int>> counted;
    for (const LabelColor& one : labelColors()) {
        const auto count = std::ranges::count(heads.heads, std::string(one.label), labelOf);
        if (count > 0) counted.emplace_back(one.label, static_cast<int>(count));
    }
    return counted;
}

QColor HeadScatterView::colorOf(const std::string& label) {
    for (const LabelColor& one : labelColors())
        if (one.label == label) return one.color;
    return labelColors().back().color;
}

bool HeadScatterView::isShown(const HeadReport& report) const {
    return label_.empty() || labelOf(report) == label_;
}

QColor HeadScatterView::colorOf(const HeadReport& report, const Theme& theme) const {
    constexpr int kSteps = 64;
    const auto shade = [&](double share) {
        return theme.pair(static_cast<int>(std::lround((kSteps - 1) * std::clamp(share, 0.0, 1.0))), kSteps);
    };
    if (const HeadScore* score = shownScore()) {
        const auto number = score->of(state_, report);
        return number ? shade((*number - score->low) / (score->high - score->low)) : theme.frame;
    }
    if (color_by_ == ColorBy::label) return colorOf(labelOf(report));
    if (color_by_ == ColorBy::slow_share) return shade(report.slow_share);
    return theme.pair(static_cast<int>(report.layer),
                      state_.summary() != nullptr ? static_cast<int>(state_.summary()->layers) : 1);
}

QPointF HeadScatterView::Frame::at(const HeadReport& report) const {
    return {box.left() + box.width() * along(report.mean_distance) / along(max_distance),
            box.bottom() - box.height() * report.entropy / max_entropy};
}

/// 0 if the legend would take more than half of the view: the readout names the label of a dot, too.
double HeadScatterView::legendHeight(const QRectF& area) const {
    if (state_.reports().empty()) return 0;
    const double height = legendIn(area, Theme::light()).back().place.bottom() - area.top();
    return height <= area.height() / 2 ? height : 0;
}

HeadScatterView::Frame HeadScatterView::frame(const QRectF& area, bool legend) const {
    Frame frame;
    const double below = legend ? legendHeight(area) : 0;
    frame.box = area.adjusted(kLeft, kTop + below, -kRight, -kBottom);
    for (const HeadReport& report : state_.reports()) {
        frame.max_distance = std::max(frame.max_distance, 1.1 * report.mean_distance);
        frame.max_entropy = std::max(frame.max_entropy, 1.06 * report.entropy);
    }
    return frame;
}

QPointF HeadScatterView::dotOf(int layer, int head) const {
    const HeadReport* report = state_.report(layer, head);
    return report != nullptr ? frame(canvas(), true).at(*report) : QPointF();
}

void HeadScatterView::paintAxes(QPainter& painter, const Frame& frame, const Theme& theme) const {
    const QRectF& box = frame.box;
    painter.setPen(QPen(theme.frame, 1));
    painter.drawLine(box.bottomLeft(), box.bottomRight());
    painter.drawLine(box.bottomLeft(), box.topLeft());
    const QFontMetricsF metrics(painter.font());
    double last_label_end = -1e9;
    for (double distance = 0; distance <= frame.max_distance; distance = distance < 1 ? 1 : 2 * distance) {
        const double x = box.left() + box.width() * along(distance) / along(frame.max_distance);
        const QString text = numberText(distance, 4);
        const double width = metrics.horizontalAdvance(text);
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
        if (x - width / 2 < last_label_end + 6) continue;
        last_label_end = x + width / 2;
        drawColoredText(painter, QRectF(x - width, box.bottom() + 3, 2 * width, 18),
                        Qt::AlignHCenter | Qt::AlignTop, text, theme.faint_text);
    }
    for (const double tick : niceTicks(0, frame.max_entropy, 5)) {
        const double y = box.bottom() - box.height() * tick / frame.max_entropy;
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
        drawColoredText(painter, QRectF(box.left() - kLeft, y - 9, kLeft - 6, 18), kRightMiddle,
                        numberText(tick, 3), theme.faint_text);
    }
    drawColoredText(
        painter, QRectF(box.left(), box.bottom() + 22, box.width(), 20), Qt::AlignHCenter | Qt::AlignVCenter,
        metrics.elidedText(state_.change().isEmpty() ? tr("mean distance |n − j|, tokens")
                                                     : tr("mean distance |n − j|, tokens (with the change)"),
                           Qt::ElideRight, box.width()),
        theme.text);
    painter.save();
    painter.translate(box.left() - kLeft + 12, box.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-box.height() / 2, -10, box.height(), 20), Qt::AlignCenter,
                     metrics.elidedText(tr("entropy, nats"), Qt::ElideRight, box.height()));
    painter.restore();
}

/// Texts for the first and last color of a continuous color scale.
std::pair<QString, QString> HeadScatterView::scaleEndLabels() const {
    if (const HeadScore* score = shownScore())
        return {QStringLiteral("%1 %2").arg(score->name, numberText(score->low)), numberText(score->high)};
    if (color_by_ == ColorBy::layer)
        return {tr("layer 0"),
                tr("layer %1").arg(state_.summary() != nullptr ? state_.summary()->layers - 1 : 1)};
    return {tr("fast pairs dominate"), tr("slow pairs dominate")};
}

std::vector<HeadScatterView::LegendEntry> HeadScatterView::legendIn(const QRectF& area,
                                                                    const Theme& theme) const {
    std::vector<LegendEntry> entries;
    if (color_by_ == ColorBy::label) {
        for (const auto& [label, count] : countedLabels(*state_.answer(answers::heads)))
            entries.push_back(
                {colorOf(label), QStringLiteral("%1 %2").arg(QString::fromStdString(label)).arg(count), {}});
    } else {
        const auto [low, high] = scaleEndLabels();
        entries.push_back({theme.pair(0, 2), low, {}});
        entries.push_back({theme.pair(1, 2), high, {}});
    }
    const QFontMetricsF metrics(font());
    double x = area.left() + kLeft, y = area.top() + 4;
    for (LegendEntry& entry : entries) {
        const double width = metrics.horizontalAdvance(entry.text) + 30;
        if (x + width > area.right() && x > area.left() + kLeft) {
            x = area.left() + kLeft;
            y += kLegendLine;
        }
        entry.place = {x, y, width, kLegendLine};
        x += width;
    }
    return entries;
}

void HeadScatterView::paintLegend(QPainter& painter, const QRectF& area, const Theme& theme) const {
    for (const LegendEntry& entry : legendIn(area, theme)) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(entry.color);
        painter.drawEllipse(QPointF(entry.place.left() + 6, entry.place.center().y()), kRadius, kRadius);
        drawColoredText(painter, entry.place.adjusted(14, 0, 0, 0), kLeftMiddle, entry.text, theme.text);
    }
}

void HeadScatterView::paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                      const Theme& theme) const {
    if (state_.answer(answers::heads) == nullptr) {
        paintPlaceholder(
            painter, area, theme,
            state_.placeholder(state_.model().isEmpty()
                                   ? tr("Choose a model and type a text for it to read.")
                                   : tr("The mean distance and entropy of all heads are shown here.")));
        return;
    }
    const Frame frame = this->frame(area, legend);
    paintAxes(painter, frame, theme);
    if (legend && legendHeight(area) > 0) paintLegend(painter, area, theme);
    const auto dot = [&](const HeadReport& report) {
        painter.setPen(QPen(theme.background, 0.8));
        painter.setBrush(colorOf(report, theme));
        painter.drawEllipse(frame.at(report), kRadius, kRadius);
    };
    for (const HeadReport& report : state_.reports())
        if (isShown(report)) dot(report);
    if (const HeadReport* chosen = state_.report()) {
        dot(*chosen);
        paintRing(painter, frame.at(*chosen), theme);
    }
}

const HeadReport* HeadScatterView::nearest(const QPointF& at) const {
    constexpr double kReach = 14;
    const Frame frame = this->frame(canvas(), true);
    const HeadReport* best = nullptr;
    double least = kReach;
    for (const HeadReport& report : state_.reports()) {
        if (!isShown(report)) continue;
        const QPointF apart = frame.at(report) - at;
        const double distance = std::hypot(apart.x(), apart.y());
        if (distance >= least) continue;
        least = distance;
        best = &report;
    }
    return best;
}

std::optional<std::pair<int, int>> HeadScatterView::headAt(const QPointF& at) const {
    const HeadReport* report = nearest(at);
    if (report == nullptr) return std::nullopt;
    return std::pair(static_cast<int>(report->layer), static_cast<int>(report->head));
}

void HeadScatterView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return FigureView::mousePressEvent(event);
    if (const auto head = headAt(event->position())) state_.setHead(head->first, head->second);
}

void HeadScatterView::mouseMoveEvent(QMouseEvent* event) {
    const HeadReport* report = nearest(event->position());
    emit hovered(report != nullptr ? describeHead(*report, state_) : QString());
}

QString HeadScatterView::figureCsv() const {
    CsvText csv(QStringLiteral(
        "layer,head,label,label_score,entropy,mean_distance,first,self,previous,local,same,induction,slow_"
        "share"));
    for (const HeadReport& r : state_.reports())
        csv.line(r.layer, r.head, labelOf(r), evidenceOf(r), r.entropy, r.mean_distance, r.first, r.self,
                 r.previous, r.local, r.same, r.induction, r.slow_share);
    return csv.text();
}

QString HeadScatterView::figureCaption() const {
    if (state_.answer(answers::heads) == nullptr || state_.summary() == nullptr) return {};
    return tr("All %1 heads of %2 on %3 tokens: mean distance and entropy of the attention weights%4")
        .arg(state_.reports().size())
        .arg(state_.modelName())
        .arg(state_.answer(answers::heads)->tokens.size())
        .arg(state_.change().isEmpty() ? QString() : tr(", with the change"));
}

}  // namespace roper
