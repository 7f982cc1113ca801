#include "ui/pages/inspect/sizes_panel.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// Minimum and maximum over all sizes of one of their two numbers.
std::pair<std::int64_t, std::int64_t> rangeOf(const std::vector<SizeScore>& scores,
                                              std::int64_t ProblemSize::*number) {
    const auto [low, high] = std::ranges::minmax_element(
        scores, {}, [number](const SizeScore& score) { return score.size.*number; });
    return {low->size.*number, high->size.*number};
}

QStringList labelsInRange(const std::pair<std::int64_t, std::int64_t>& range) {
    QStringList labels;
    for (std::int64_t i = range.first; i <= range.second; ++i)
        labels << QString::number(i);
    return labels;
}

double percent(std::int64_t correct, std::int64_t total) {
    return 100.0 * static_cast<double>(correct) / static_cast<double>(total);
}

std::int64_t countedOf(const SizeScore& score, bool fully) {
    return fully ? score.fully_correct.value_or(0) : score.correct;
}

/// @param fully  count only problems with every step of the working correct
HeatMapView::Map mapOf(const SizeTable& table, bool fully) {
    const auto rows = rangeOf(table.scores, &ProblemSize::first),
               columns = rangeOf(table.scores, &ProblemSize::second);
    // Sizes that do not exist, such as an index beyond the string, stay empty.
    Eigen::MatrixXd values =
        Eigen::MatrixXd::Constant(rows.second - rows.first + 1, columns.second - columns.first + 1,
                                  std::numeric_limits<double>::quiet_NaN());
    for (const SizeScore& score : table.scores)
        values(score.size.first - rows.first, score.size.second - columns.first) =
            percent(countedOf(score, fully), score.total);
    HeatMapView::Map map;
    map.scale = HeatMapView::Scale::sequential;
    map.limit = 100;
    map.has_gaps = true;
    map.setValues(std::move(values));
    map.row_name = table.names.value(0);
    map.column_name = table.names.value(1);
    map.value_name = fully ? SizesView::tr("fully solved, %") : SizesView::tr("solved, %");
    map.row_labels = labelsInRange(rows);
    map.column_labels = labelsInRange(columns);
    return map;
}

}  // namespace

SizesView::SizesView(InspectState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      total_(new QLabel),
      map_(new HeatMapView(QStringLiteral("solved-by-size"), this)) {
    // Long names must not widen the panel.
    total_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    map_->setEmptyText(tr("“Solve” tests a model that was trained on problems of several sizes."));
    columnOf({total_, {map_, 1}}, this)->setContentsMargins(0, 0, 0, 0);
    connect(map_, &HeatMapView::cellHovered, this,
            [this](int row, int column) { emit hovered(textAt(row, column)); });
    connect(map_, &FigureView::hovered, this, &SizesView::hovered);
}

bool SizesView::hasWorking() const {
    const auto& table = state_.sizes().table();
    return table && !table->scores.empty() && table->scores.front().fully_correct;
}

void SizesView::showTable(bool shows_name, bool whole_working) {
    QStringList parts;
    if (shows_name) parts << state_.title();
    const auto& table = state_.sizes().table();
    const bool fully = whole_working && hasWorking();
    if (!table || table->scores.empty()) {
        map_->setMap({});
    } else {
        std::int64_t correct = 0, total = 0;
        for (const SizeScore& score : table->scores) {
            correct += countedOf(score, fully);
            total += score.total;
        }
        parts << (fully ? tr("step %1: %2 of %3 fully solved, %4 %") : tr("step %1: %2 of %3 solved, %4 %"))
                     .arg(table->step)
                     .arg(correct)
                     .arg(total)
                     .arg(fixedNumberText(percent(correct, total), 1));
        map_->setCaption(
            (fully ? tr("Share of the problems of each size that %1 solves with every step of the working "
                        "right, at step %2, %3 problems per size; sizes with fewer than 1,000 "
                        "possible problems include problems seen in training")
                   : tr("Share of the problems of each size that %1 solves at step %2, %3 problems per size; "
                        "sizes with fewer than 1,000 possible problems include problems seen in training"))
                .arg(state_.title())
                .arg(table->step)
                .arg(table->scores.front().total));
        map_->setMap(mapOf(*table, fully));
    }
    total_->setText(parts.join(QStringLiteral(" · ")));
}

QString SizesView::textAt(int row, int column) const {
    const auto& table = state_.sizes().table();
    if (!table || row < 0) return {};
    for (const SizeScore& score : table->scores)
        if (score.size.first == map_->map().row_labels[row].toLongLong() &&
            score.size.second == map_->map().column_labels[column].toLongLong())
            return tr("%1 %2, %3 %4: %5 of %6 solved")
                       .arg(table->names.value(0))
                       .arg(score.size.first)
                       .arg(table->names.value(1))
                       .arg(score.size.second)
                       .arg(score.correct)
                       .arg(score.total) +
                   (score.fully_correct ? tr(", %1 fully solved").arg(*score.fully_correct) : QString());
    return {};
}

SizesPanel::SizesPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Problem sizes"), tr("Solved by size"), models, parent),
      sizes_(new SizesView(models.state, this)),
      comparison_sizes_(new SizesView(models.comparison, this)),
      problems_(named(new QSpinBox, tr("Problems of each size"),
                      tr("More take longer but give more precise results"))),
      count_(named(new QPushButton(tr("Solve")), tr("Solve"),
                   tr("Let the model solve problems of every size, which takes seconds to minutes"))),
      with_working_(named(new QCheckBox(tr("Fully solved")), tr("Fully solved"),
                          tr("Count only problems with every step of the working right"))) {
    problems_->setRange(1, 1024);
    problems_->setValue(16);
    problems_->setSuffix(tr(" problems of each size"));
    connect(count_, &QPushButton::clicked, this, &SizesPanel::count);
    with_working_->hide();
    connect(with_working_, &QCheckBox::toggled, this, &SizesPanel::refresh);
    for (InspectState* one : {&state(), &comparison()})
        connect(&one->sizes(), &SolvedBySize::changed, this, &SizesPanel::refreshWhenVisible);
    forwardReadouts(sizes_, comparison_sizes_);
    columnOf({makeFlowRow({problems_, count_, with_working_}),
              {makeSplitter(Qt::Horizontal, {sizes_, comparison_sizes_}, {}), 1}},
             this);
    SizesPanel::refresh();  // hides the comparison until there is one
}

PageFigures::Figures SizesPanel::figures() const {
    PageFigures::Figures all{&sizes_->map()};
    if (hasComparison()) all.push_back(&comparison_sizes_->map());
    return all;
}

void SizesPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    state().setStep(picture.step);
    state().countSizes(static_cast<int>(picture.problems));
    const SolvedBySize& sizes = state().sizes();
    waitWhile([&] { return sizes.isCounting(); }, "the answer of the model");
    if (!sizes.message().isEmpty()) throw Error(ErrorKind::usage, sizes.message().toStdString());
}

void SizesPanel::count() {
    const bool stops = isCounting();
    for (InspectState* one : {&state(), &comparison()}) {
        if (stops)
            one->sizes().stop();
        else if (!one->model().isEmpty())
            one->countSizes(problems_->value());
    }
}

void SizesPanel::refresh() {
    const RunWatcher* run = state().run();
    const bool has_problems =
        run != nullptr && run->specification() && run->specification()->task.hasProblems();
    count_->setEnabled(has_problems);
    problems_->setEnabled(has_problems);
    count_->setText(isCounting() ? tr("Cancel") : tr("Solve"));
    with_working_->setVisible(sizes_->hasWorking() || comparison_sizes_->hasWorking());
    comparison_sizes_->setVisible(hasComparison());
    for (SizesView* view : {sizes_, comparison_sizes_})
        view->showTable(hasComparison(), with_working_->isChecked());
}

}  // namespace roper
