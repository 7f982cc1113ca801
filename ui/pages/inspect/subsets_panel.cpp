#include "ui/pages/inspect/subsets_panel.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/pages/inspect/view_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kSubsetsMargin = 12, kSubsetsTitle = 22, kHeader = 22, kSubsetsRow = 22, kSubsetsNumber = 62,
                 kMinRowHeight = 13;

}  // namespace

SubsetsView::SubsetsView(InspectState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("band-subsets"), tr("Loss with every subset of the bands")),
      state_(state) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    for (auto signal : {&InspectState::modelChanged, &InspectState::answerOrProgressChanged})
        connect(&state_, signal, this, [this] {
            updateGeometry();
            update();
        });
}

QSizeF SubsetsView::sizeForWidth(double width) const {
    const std::size_t rows =
        state_.answer(answers::subsets) == nullptr ? 0 : state_.answer(answers::subsets)->subsets.size();
    return {width, std::max<double>(
                       2 * kSubsetsMargin + kSubsetsTitle + kHeader + kSubsetsRow * static_cast<double>(rows),
                       minFigureSize().height())};
}

int SubsetsView::heightForWidth(int width) const {
    return zoomed(sizeForWidth(width / Zoom::instance().factor()).height());
}

SubsetsView::Rows SubsetsView::rowsIn(const QRectF& area) const {
    Rows rows{state_.answer(answers::subsets)->subsets, area.top() + kSubsetsMargin + kSubsetsTitle + kHeader,
              kSubsetsRow};
    std::ranges::stable_sort(rows.subsets, &hasLowerLoss);
    const double room = area.bottom() - kSubsetsMargin - rows.top;
    rows.height = std::clamp(room / static_cast<double>(rows.subsets.size()), kMinRowHeight, kSubsetsRow);
    // Rows that do not fit are omitted, the worst first.
    const auto max_rows = static_cast<std::size_t>(std::max(1.0, std::floor(room / rows.height + 1e-6)));
    if (rows.subsets.size() > max_rows) rows.subsets.resize(max_rows);
    return rows;
}

QString SubsetsView::namesOf(const std::vector<int>& bands) const {
    QStringList names;
    for (const int band : bands)
        names << QString::fromStdString(
            state_.answer(answers::subsets)->bands.at(static_cast<std::size_t>(band)));
    return names.isEmpty() ? tr("none") : names.join(QStringLiteral(", "));
}

void SubsetsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const SubsetsAnswer* answer = state_.answer(answers::subsets);
    if (answer == nullptr)
        return paintPlaceholder(
            painter, area, theme,
            state_.placeholder(tr("Press “Evaluate every subset” to compute the loss of the text with "
                                  "scores from only some bands of pairs.")));
    const QRectF box = area.adjusted(kSubsetsMargin, kSubsetsMargin, -kSubsetsMargin, -kSubsetsMargin);
    const QFontMetricsF metrics(painter.font());
    painter.setPen(theme.text);
    const Rows rows = rowsIn(area);
    QString title = tr("loss (nats per token) with scores from only these pairs");
    if (rows.subsets.size() < answer->subsets.size())
        title += tr(" (the best %1 of %2)").arg(rows.subsets.size()).arg(answer->subsets.size());
    painter.drawText(QRectF(box.left(), box.top(), box.width(), kSubsetsTitle), kLeftMiddle,
                     metrics.elidedText(title, Qt::ElideRight, box.width()));
    double column = 30;
    for (const std::string& band : answer->bands)
        column = std::max(column, metrics.horizontalAdvance(QString::fromStdString(band)) + 12);
    const auto bands = static_cast<int>(answer->bands.size());
    for (int band = 0; band < bands; ++band)
        painter.drawText(QRectF(box.left() + column * band, rows.top - kHeader, column, kHeader),
                         Qt::AlignCenter,
                         QString::fromStdString(answer->bands[static_cast<std::size_t>(band)]));
    const double left = box.left() + column * bands + 10,
                 max_length = std::max(10.0, box.right() - left - kSubsetsNumber);
    double max_loss = 1e-9;
    for (const BandSubset& subset : rows.subsets)
        if (std::isfinite(subset.loss)) max_loss = std::max(max_loss, subset.loss);
    double y = rows.top;
    for (const BandSubset& subset : rows.subsets) {
        for (int band = 0; band < bands; ++band) {
            const bool kept = std::ranges::find(subset.kept, band) != subset.kept.end();
            const double side = std::min(rows.height - 4, 12.0);
            const QRectF square(box.left() + column * band + (column - side) / 2,
                                y + (rows.height - side) / 2, side, side);
            painter.setPen(QPen(theme.frame, 1));
            painter.setBrush(kept ? QBrush(theme.pair(band, std::max(2, bands))) : QBrush(Qt::NoBrush));
            painter.drawRect(square);
        }
        const double length = std::isfinite(subset.loss) ? max_length * subset.loss / max_loss : max_length;
        painter.setPen(Qt::NoPen);
        painter.setBrush(Theme::query());
        painter.drawRect(QRectF(left, y + 2, std::max(1.0, length), rows.height - 4));
        drawColoredText(painter, QRectF(left + length + 6, y, kSubsetsNumber, rows.height), kLeftMiddle,
                        fixedNumberText(subset.loss, 3), theme.text);
        y += rows.height;
    }
}

void SubsetsView::mouseMoveEvent(QMouseEvent* event) {
    if (state_.answer(answers::subsets) == nullptr) return emit hovered({});
    const Rows rows = rowsIn(canvas());
    const double row = std::floor((event->position().y() - rows.top) / rows.height);
    if (row < 0 || row >= static_cast<double>(rows.subsets.size())) return emit hovered({});
    const BandSubset& subset = rows.subsets[static_cast<std::size_t>(row)];
    emit hovered(tr("pairs kept: %1; loss %2 nats per token, perplexity %3")
                     .arg(namesOf(subset.kept), fixedNumberText(subset.loss, 4),
                          numberText(std::exp(subset.loss), 4)));
}

QString SubsetsView::figureCsv() const {
    CsvText csv(QStringLiteral("kept_pairs,bands_kept,loss"));
    if (state_.answer(answers::subsets) == nullptr) return csv.text();
    for (const BandSubset& subset : state_.answer(answers::subsets)->subsets)
        csv.line(namesOf(subset.kept).remove(','), subset.kept.size(), subset.loss);
    return csv.text();
}

QString SubsetsView::figureCaption() const {
    if (state_.summary() == nullptr) return {};
    return tr("Loss of %1 when the scores of all heads are computed from only some bands of pairs")
        .arg(state_.modelName());
}

SubsetsPanel::SubsetsPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Band subsets"), tr("Subsets of bands"), models, parent),
      subsets_(new SubsetsView(models.state, this)),
      band_count_(named(new QSpinBox, tr("Number of bands"),
                        tr("How many bands the pairs are divided into; n bands take 2ⁿ passes"))),
      compute_(named(new QPushButton, tr("Evaluate every subset"),
                     tr("The loss with scores from only some of the bands, for every choice of bands"))) {
    const auto show_passes = [this](int bands) {
        compute_->setText(tr("Evaluate every subset (%1 passes)").arg(1 << bands));
    };
    band_count_->setRange(1, 8);
    band_count_->setValue(4);
    band_count_->setSuffix(tr(" bands"));
    connect(band_count_, &QSpinBox::valueChanged, this, show_passes);
    show_passes(band_count_->value());
    connect(compute_, &QPushButton::clicked, this, [this] {
        emit requiredAnswersChanged();  // asks a cancelled question again
        Question question{"subsets"};
        question.count = band_count_->value();
        state().request(answers::subsets, question);
    });
    forwardReadouts(subsets_);
    columnOf({makeFlowRow({band_count_, compute_}), {makeScrollArea(subsets_), 1}}, this);
}

void SubsetsPanel::prepare(const QString&, const InspectFigureSettings& settings) {
    Question question = settings.question;
    if (!question.count) question.count = 4;
    state().request(answers::subsets, question);
}

void SubsetsPanel::refresh() {
    const ModelSummary* model = state().summary();
    compute_->setEnabled(model != nullptr);
    if (model != nullptr)
        band_count_->setRange(1, static_cast<int>(std::clamp<std::size_t>(model->theta.size(), 1, 8)));
}

}  // namespace roper
