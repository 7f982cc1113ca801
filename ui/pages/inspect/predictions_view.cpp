#include "ui/pages/inspect/predictions_view.h"

#include <QMouseEvent>
#include <algorithm>

#include "ui/charts/csv_text.h"
#include "ui/live/token_texts.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kMargin = 12, kTitle = 22, kRow = 26, kNumber = 64;

}  // namespace

PredictionsView::PredictionsView(InspectState& state, QWidget* parent) : FigureView(parent), state_(state) {
    setAccessibleName(tr("What may come next"));
    connect(&state_, &InspectState::answered, this, qOverload<>(&QWidget::update));
    connect(&state_, &InspectState::inputsChanged, this, qOverload<>(&QWidget::update));
    connect(&state_, &InspectState::modelChanged, this, qOverload<>(&QWidget::update));
}

void PredictionsView::setToken(int token) {
    token_ = token;
    update();
}

std::vector<PredictionsView::Row> PredictionsView::rows() const {
    std::vector<Row> rows;
    const TextReading* before = state_.answer(need::reading);
    const auto index = static_cast<std::size_t>(token_);
    if (before == nullptr || token_ < 0 || index >= before->predictions.size()) return rows;
    const std::int64_t next = index + 1 < before->ids.size() ? before->ids[index + 1] : -1;
    std::vector<std::int64_t> ids;
    for (const Prediction& prediction : before->predictions[index]) {
        rows.push_back({prediction.token, prediction.probability, {}, prediction.id == next});
        ids.push_back(prediction.id);
    }
    const TextReading* after = state_.answer(need::changed);
    if (after == nullptr || index >= after->predictions.size()) return rows;
    for (const Prediction& prediction : after->predictions[index]) {
        const auto found = std::find(ids.begin(), ids.end(), prediction.id);
        if (found != ids.end())
            rows[static_cast<std::size_t>(found - ids.begin())].after = prediction.probability;
        else
            rows.push_back({prediction.token, {}, prediction.probability, prediction.id == next});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        const auto larger = [](const Row& row) {
            return std::max(row.before.value_or(0), row.after.value_or(0));
        };
        return larger(a) > larger(b);
    });
    return rows;
}

QString PredictionsView::title() const {
    const TextReading* reading = state_.answer(need::reading);
    if (reading == nullptr || token_ < 0 || token_ >= static_cast<int>(reading->tokens.size())) return {};
    return tr("after token %1, “%2”")
        .arg(token_)
        .arg(shownToken(reading->tokens[static_cast<std::size_t>(token_)]));
}

void PredictionsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const std::vector<Row> rows = this->rows();
    const QRectF box = area.adjusted(kMargin, 6, -kMargin, -6);
    if (rows.empty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(box, Qt::AlignCenter | Qt::TextWordWrap,
                         tr("What may come after a token of the text is shown here."));
        return;
    }
    const QFontMetricsF metrics(painter.font());
    painter.setPen(theme.text);
    painter.drawText(QRectF(box.left(), box.top(), box.width(), kTitle), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(title(), Qt::ElideMiddle, box.width()));
    const bool two = state_.answer(need::changed) != nullptr;
    double widest = 24;
    for (const Row& row : rows)
        widest = std::max(widest, metrics.horizontalAdvance(shownToken(row.token)));
    widest = std::min(widest + 8, 0.4 * box.width());
    const double full = std::max(10.0, box.width() - widest - kNumber - 6);
    double y = box.top() + kTitle;
    double legend = 0;
    if (two) {
        painter.setPen(theme.faint_text);
        legend = kTitle;
        painter.drawText(QRectF(box.left(), box.bottom() - kTitle, box.width(), kTitle),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(
                             tr("above: as trained; below: with the change; –: not among the ten likeliest"),
                             Qt::ElideRight, box.width()));
    }
    const double row_height = two ? 1.5 * kRow : kRow;
    for (const Row& row : rows) {
        if (y + row_height > box.bottom() - legend + 1) break;
        painter.setPen(row.is_next ? theme.readable(Theme::value()) : theme.text);
        painter.drawText(QRectF(box.left(), y, widest, row_height), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(shownToken(row.token), Qt::ElideRight, widest - 4));
        const auto bar = [&](std::optional<double> p, double top, double height, const QColor& color) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            const double length = p ? std::max(1.0, full * *p) : 0;
            if (p) painter.drawRect(QRectF(box.left() + widest, top + 3, length, height - 6));
            painter.setPen(theme.faint_text);
            painter.drawText(QRectF(box.left() + widest + length + 6, top, kNumber, height),
                             Qt::AlignLeft | Qt::AlignVCenter, p ? probabilityText(*p) : QStringLiteral("–"));
        };
        const double height = two ? row_height / 2 : row_height;
        bar(row.before, y, height, Theme::output());
        if (two) bar(row.after, y + height, height, theme.frame);
        y += row_height;
    }
}

void PredictionsView::mouseMoveEvent(QMouseEvent*) {
    emit pointed(title().isEmpty()
                     ? QString()
                     : tr("The likeliest tokens %1; green: what the text goes on with").arg(title()));
}

QString PredictionsView::figureCsv() const {
    QString csv = QStringLiteral("candidate,probability,changed_probability\n");
    const auto number = [](std::optional<double> p) { return p ? QString::number(*p, 'g', 17) : QString(); };
    for (const Row& row : rows())
        csv += QStringLiteral("%1,%2,%3\n")
                   .arg(quoted(QString::fromStdString(row.token)), number(row.before), number(row.after));
    return csv;
}

QString PredictionsView::figureCaption() const {
    return tr("The likeliest tokens %1").arg(title());
}

}  // namespace roper
