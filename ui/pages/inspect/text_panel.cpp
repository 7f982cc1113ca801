#include "ui/pages/inspect/text_panel.h"

#include <QLabel>
#include <QMouseEvent>
#include <algorithm>

#include "ui/charts/csv_text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/pages/inspect/view_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kPredictionsMargin = 12, kPredictionsTitle = 22, kPredictionsRow = 26,
                 kPredictionsNumber = 64;

}  // namespace

PredictionsView::PredictionsView(InspectState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("predictions"), tr("Candidates for a token")), state_(state) {
    connect(&state_, &InspectState::answered, this, qOverload<>(&QWidget::update));
    for (auto signal : {&InspectState::inputsChanged, &InspectState::modelChanged})
        connect(&state_, signal, this, qOverload<>(&QWidget::update));
}

std::vector<PredictionsView::Row> PredictionsView::rows() const {
    std::vector<Row> rows;
    const TextPredictions* as_trained = state_.answer(answers::predictions);
    if (as_trained == nullptr || token_ < 0) return rows;
    const auto token = static_cast<std::size_t>(token_);
    const std::size_t index =
        as_trained->masked ? as_trained->indexOf(token).value_or(as_trained->predictions.size()) : token;
    if (index >= as_trained->predictions.size()) return rows;
    const std::size_t predicted = as_trained->masked ? token : token + 1;
    const std::int64_t next = predicted < as_trained->ids.size() ? as_trained->ids[predicted] : -1;
    std::vector<std::int64_t> ids;
    for (const Prediction& prediction : as_trained->predictions[index]) {
        rows.push_back({prediction.token, prediction.probability, {}, prediction.id == next});
        ids.push_back(prediction.id);
    }
    const TextPredictions* with_change = state_.answer(answers::changed_predictions);
    if (with_change == nullptr || index >= with_change->predictions.size()) return rows;
    for (const Prediction& prediction : with_change->predictions[index]) {
        const auto found = std::ranges::find(ids, prediction.id);
        if (found != ids.end())
            rows[static_cast<std::size_t>(found - ids.begin())].with_change = prediction.probability;
        else
            rows.push_back({prediction.token, {}, prediction.probability, prediction.id == next});
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), [](const Row& row) {
        return std::max(row.as_trained.value_or(0), row.with_change.value_or(0));
    });
    return rows;
}

QString PredictionsView::title() const {
    const TextPredictions* reading = state_.answer(answers::predictions);
    if (reading == nullptr || token_ < 0 || token_ >= static_cast<int>(reading->tokens.size())) return {};
    return (reading->masked ? tr("in place of token %1, “%2”") : tr("after token %1, “%2”"))
        .arg(token_)
        .arg(formatToken(reading->tokens[static_cast<std::size_t>(token_)]));
}

void PredictionsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const std::vector<Row> rows = this->rows();
    const QRectF box = area.adjusted(kPredictionsMargin, 6, -kPredictionsMargin, -6);
    if (rows.empty())
        return paintPlaceholder(painter, area, theme, tr("Candidates for a token are shown here."));
    const QFontMetricsF metrics(painter.font());
    drawColoredText(painter, QRectF(box.left(), box.top(), box.width(), kPredictionsTitle), kLeftMiddle,
                    metrics.elidedText(title(), Qt::ElideMiddle, box.width()), theme.text);
    const bool two = state_.answer(answers::changed_predictions) != nullptr;
    double widest = 24;
    for (const Row& row : rows)
        widest = std::max(widest, metrics.horizontalAdvance(formatToken(row.token)));
    widest = std::min(widest + 8, 0.4 * box.width());
    const double full_length = std::max(10.0, box.width() - widest - kPredictionsNumber - 6);
    double y = box.top() + kPredictionsTitle;
    double legend = 0;
    if (two) {
        painter.setPen(theme.faint_text);
        const QString text =
            tr("above: as trained; below: with the change; –: not among the ten most likely");
        legend = std::max(kPredictionsTitle, wrappedHeight(text, painter.font(), box.width()));
        painter.drawText(QRectF(box.left(), box.bottom() - legend, box.width(), legend),
                         Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap, text);
    }
    const double row_height = two ? 1.5 * kPredictionsRow : kPredictionsRow;
    for (const Row& row : rows) {
        if (y + row_height > box.bottom() - legend + 1) break;
        drawColoredText(painter, QRectF(box.left(), y, widest, row_height), kLeftMiddle,
                        metrics.elidedText(formatToken(row.token), Qt::ElideRight, widest - 4),
                        row.is_next ? theme.readable(Theme::value()) : theme.text);
        const auto bar = [&](std::optional<double> p, double top, double height, const QColor& color) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            const double length = p ? std::max(1.0, full_length * *p) : 0;
            if (p) painter.drawRect(QRectF(box.left() + widest, top + 3, length, height - 6));
            drawColoredText(painter,
                            QRectF(box.left() + widest + length + 6, top, kPredictionsNumber, height),
                            kLeftMiddle, p ? probabilityText(*p) : QStringLiteral("–"), theme.faint_text);
        };
        const double height = two ? row_height / 2 : row_height;
        bar(row.as_trained, y, height, Theme::output());
        if (two) bar(row.with_change, y + height, height, theme.frame);
        y += row_height;
    }
}

void PredictionsView::mouseMoveEvent(QMouseEvent*) {
    emit hovered(title().isEmpty() ? QString()
                                   : tr("The most likely tokens %1; green: the actual token").arg(title()));
}

QString PredictionsView::figureCsv() const {
    CsvText csv(QStringLiteral("candidate,probability,changed_probability"));
    for (const Row& row : rows())
        csv.line(row.token, row.as_trained, row.with_change);
    return csv.text();
}

QString PredictionsView::figureCaption() const {
    return tr("The most likely tokens %1").arg(title());
}

TextPanel::TextPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Text"), tr("How well each token is predicted"), models, parent),
      surprisal_(new SurprisalView(models.state, this)),
      predictions_(new PredictionsView(models.state, this)) {
    shade_ = named(new QComboBox, tr("Quantity of the shading"),
                   tr("With a change: before it, after it, or the difference"));
    shade_->addItems({tr("as trained"), tr("with the change"), tr("what the change adds")});
    connect(shade_, &QComboBox::currentIndexChanged, this,
            [this](int index) { surprisal_->setShade(static_cast<SurprisalView::Shade>(index)); });
    columnOf({makeFlowRow({new QLabel(tr("Shaded:")), shade_}),
              {makeSplitter(Qt::Horizontal, {makeScrollArea(surprisal_), predictions_}, {640, 320}), 1}},
             this);
    connect(surprisal_, &SurprisalView::chosenChanged, predictions_, &PredictionsView::setToken);
    connect(surprisal_, &SurprisalView::chosenChanged, &state(), [this](int token) {
        if (token >= 0) state().setToken(token);  // for the Walkthrough panel
    });
    forwardReadouts(surprisal_, predictions_);
}

void TextPanel::setShade(SurprisalView::Shade shade) {
    shade_->setCurrentIndex(static_cast<int>(shade));
}

void TextPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    setShade(picture.shade);
    disconnect(token_of_figure_);
    if (picture.token) {
        const auto token = static_cast<int>(*picture.token);
        token_of_figure_ = connect(&state(), &InspectState::answered, surprisal_,
                                   [this, token] { surprisal_->choose(token); });
    }
}

}  // namespace roper
