#include "ui/pages/compare/compare_page.h"

#include <QApplication>
#include <QClipboard>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/base/machine_load.h"
#include "ui/controls/folding_group.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/run_texts.h"
#include "ui/pages/compare/compare_state.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/numbers.h"
#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

QStringList labelsOf(const std::vector<ComparedGroup>& groups) {
    QStringList labels;
    for (const ComparedGroup& group : groups)
        labels << group.label();
    return labels;
}

/// Range of the curves with a margin. Their bands are ignored: an interval from two runs may be very wide.
std::optional<std::pair<double, double>> lossLimits(const std::vector<CurveChart::Curve>& curves) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const CurveChart::Curve& curve : curves) {
        for (const double y : curve.y) {
            low = std::min(low, y);
            high = std::max(high, y);
        }
    }
    if (!(low <= high)) return std::nullopt;
    const double room = 0.5 * (high - low);
    return std::pair{std::max(0.0, low - room), high + room};
}

}  // namespace

ComparePage::ComparePage(RunStore& store, QWidget* parent)
    : Page(tr("Compare"),
           tr("Runs that differ only in their seeds form a group. Is the difference between two groups "
              "larger than variation between seeds would explain?"),
           parent),
      store_(store),
      state_(new CompareState(store, this)),
      speed_(new SpeedMeasurement(store.folder(), this)),
      tabs_(new QTabWidget),
      curves_(new CurveChart(QStringLiteral("compare-curves"), tr("step"), tr("problems solved, %"), this)),
      outcomes_(new OutcomeView(*state_, this)),
      paired_(new PairedView(*state_, this)),
      all_outcomes_(new OutcomeTableView(*state_, this)),
      board_(new BoardView(this)),
      lengths_(new LengthTab(*state_, this)),
      headline_(messageLabel()),
      conclusion_(messageLabel()),
      copy_sentence_(makeActionButton(
          tr("Copy as a sentence"), tr("The result with its interval and test, for a paper"), this, [this] {
              const QString sentence = QString::fromStdString(sentenceForPaper(*state_->comparison()));
              QApplication::clipboard()->setText(sentence);
              emit reported(tr("Copied: %1").arg(sentence));
          })) {
    headline_->setAccessibleName(tr("Result"));
    headline_->setFont(boldFont(scaledFont(headline_->font(), 1.25)));
    conclusion_->setAccessibleName(tr("Conclusion"));
    auto* details = new FoldingGroup(tr("What the test shows"), nullptr);
    details->add(conclusion_);
    curves_->setEmptyText(tr("No runs to compare: train twins on the Training page, or choose other runs."));
    curves_->setLegendBelow();
    tabs_->addTab(makeCurvesTab(), tr("Curves"));
    tabs_->addTab(outcomes_, tr("Outcomes"));
    tabs_->addTab(paired_, tr("Seed by seed"));
    tabs_->addTab(all_outcomes_, tr("All outcomes"));
    tabs_->addTab(makeBoardTab(), tr("Board"));
    tabs_->addTab(lengths_, tr("Lengths"));
    auto* middle = wrapInWidget(columnOf(
        {makeMeasureBar(), {tabs_, 1}, rowOf({{headline_, 1}, copy_sentence_}), details, makeNextSteps()}));
    contents()->addWidget(makeSplitter(Qt::Horizontal, {makeChooser(), middle}, {300, 900}, 1), 1);

    connect(state_, &CompareState::changed, this, &ComparePage::refreshWhenVisible);
    connect(tabs_, &QTabWidget::currentChanged, this, &ComparePage::refreshWhenVisible);
    connect(speed_, &SpeedMeasurement::reported, this, &ComparePage::reported);
    connect(speed_, &SpeedMeasurement::measured, state_, &CompareState::refresh);
    connect(all_outcomes_, &OutcomeTableView::measureChosen, this, [this](Measure measure, double fraction) {
        state_->change([&](CompareSettings& question) {
            question.measure = measure;
            question.measure_chosen = true;
            if (measure == Measure::steps_until)
                question.share = static_cast<int>(std::lround(100 * fraction));
        });
    });
    for (FigureView* view :
         std::initializer_list<FigureView*>{outcomes_, paired_, all_outcomes_, board_, &lengths_->view()})
        connect(view, &FigureView::hovered, this, &ComparePage::setReadout);
    connect(curves_, &CurveChart::hovered, this, &ComparePage::setReadout);
    pageFigures().set({curves_, outcomes_, paired_, all_outcomes_, board_, &lengths_->view()},
                      fieldInfos(compareFields()), {"length-map", "loss-by-position"});
    registerTabSetting("view.compare", *tabs_);
    state_->refresh();
}

Figure& ComparePage::prepareFigure(FigureRequest request) {
    store_.readAll();
    if (store_.runs().empty() && request.kind != "board")
        throw Error(ErrorKind::usage, "no runs in " + store_.folder().string());
    state_->change(
        [&](CompareSettings& question) { applySettings(compareFields(), question, request.settings); });
    if (!state_->filterProblem().isEmpty())
        throw Error(ErrorKind::usage, state_->filterProblem().toStdString());
    if (request.kind == "loss-by-position") lengths_->what().setCurrentIndex(1);
    refreshNow();
    return pageFigures().named(request.kind);
}

void ComparePage::refreshHiddenTabs() {
    showCurves();
    showBoard();
    all_outcomes_->refresh();
    lengths_->refresh();
}

void ComparePage::refresh() {
    const QScopedValueRollback showing(showing_, true);
    const CompareSettings& question = state_->question();
    for (const auto& show : show_functions_)
        show(question);
    solved_percent_->setValue(question.share);
    solved_percent_->setVisible(question.measure == Measure::steps_until);
    QString note = state_->filterProblem();
    if (note.isEmpty() && state_->unreadableRuns() > 0)
        note = tr("Unreadable and left out: %1 of this folder; the Training page says why.")
                   .arg(countText(static_cast<int>(state_->unreadableRuns()), tr("run")));
    setTextOrHide(*filter_problem_, note);
    showGroups();
    showPairChoices();
    QString headline, conclusion = tr("A comparison needs two groups of runs.");
    if (const auto& comparison = state_->comparison()) {
        headline = QString::fromStdString(headlineText(*comparison));
        conclusion = QString::fromStdString(conclusionText(*comparison));
        if (question.drop_worst)
            conclusion += tr(" All pairs count here, including those of the runs dropped above.");
    }
    conclusion_->setText(conclusion);
    setTextOrHide(*headline_, headline);
    copy_sentence_->setVisible(!headline.isEmpty());
    showNextSteps();
    // Hidden tabs are not updated, because curves and the board read every row.
    if (tab() == Tab::curves) showCurves();
    if (tab() == Tab::all_outcomes) all_outcomes_->refresh();
    if (tab() == Tab::board) showBoard();
    if (tab() == Tab::lengths) lengths_->refresh();
    emit explanationChanged();
}

void ComparePage::showGroups() {
    const auto& groups = state_->groups();
    while (groups_->topLevelItemCount() > static_cast<int>(groups.size()))
        delete groups_->takeTopLevelItem(groups_->topLevelItemCount() - 1);
    while (groups_->topLevelItemCount() < static_cast<int>(groups.size()))
        new QTreeWidgetItem(groups_);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        QTreeWidgetItem* item = groups_->topLevelItem(static_cast<int>(i));
        const ComparedGroup& group = groups[i];
        item->setText(1, QStringLiteral("%1/%2").arg(group.values.size()).arg(group.group.runs.size()));
        const QString excluded =
            group.excluded > 0
                ? tr("; %1 left out of mean and curves: same seed trained again, or another precision")
                      .arg(group.excluded)
                : QString();
        item->setToolTip(1, tr("runs with this outcome, out of all runs") + excluded);
        item->setText(2, group.values.empty() ? QStringLiteral("–") : numberText(group.summary.mean, 5));
        item->setCheckState(0, group.shown ? Qt::Checked : Qt::Unchecked);
        item->setIcon(0, swatch(Theme::of(palette()).visible(group.color)));
        item->setData(0, kKeyRole, group.key());
        item->setToolTip(0, group.label());
        for (int column : {1, 2})
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    for (int column : {1, 2})
        groups_->resizeColumnToContents(column);
    nameGroups();
}

/// Letters of the groups' curves, if there are too many for dashes; empty for hidden groups.
QStringList ComparePage::letters() const {
    const auto& groups = state_->groups();
    const auto shown = std::ranges::count_if(groups, [](const ComparedGroup& group) { return group.shown; });
    QStringList letters;
    for (std::size_t i = 0; i < groups.size(); ++i)
        letters << (groups[i].shown && shown > kMaxCurvesWithoutLetters
                        ? CurveLetters::letterLabel(static_cast<int>(i))
                        : QString());
    return letters;
}

/// Wraps the names of groups; names that are too long lose their common prefix first.
void ComparePage::nameGroups() {
    const QScopedValueRollback showing(showing_, true);
    const int beside =
        3 * groups_->style()->pixelMetric(QStyle::PM_IndicatorWidth) + groups_->iconSize().width();
    const double width = std::max(zoomed(90), groups_->columnWidth(0) - beside);
    const QFontMetricsF metrics(groups_->font());
    const QStringList in_curves = letters();
    const QStringList labels = labelsOf(state_->groups());
    const qsizetype prefix = commonPrefixLength(labels);
    for (qsizetype i = 0; i < labels.size(); ++i) {
        QString label = labels[i];
        if (metrics.horizontalAdvance(label) > width) label = withoutPrefix(label, prefix);
        label = CurveLetters::labeled(in_curves[i], label);
        groups_->topLevelItem(static_cast<int>(i))->setText(0, wrapped(label, metrics, width));
    }
}

void ComparePage::showPairChoices() {
    const QStringList labels = labelsOf(state_->groups());
    const auto& comparison = state_->comparison();
    for (auto [box, chosen] : {std::pair{first_, comparison ? comparison->label_a : ""},
                               {second_, comparison ? comparison->label_b : ""}}) {
        QStringList shown;
        for (int i = 0; i < box->count(); ++i)
            shown << box->itemText(i);
        // An open list is not changed while runs train.
        if (shown != labels) {
            box->clear();
            box->addItems(labels);
        }
        for (int i = 0; i < box->count(); ++i)
            box->setItemData(i, state_->groups()[static_cast<std::size_t>(i)].key());
        box->setCurrentIndex(static_cast<int>(labels.indexOf(QString::fromStdString(chosen))));
        box->setEnabled(labels.size() > 1);
    }
}

/// The mean of each visible group with its band, and single runs if they are switched on.
/// @param counts  receives the number of runs of each group that has a curve
std::vector<CurveChart::Curve> ComparePage::curvesOfGroups(std::set<int>& counts) const {
    // Distinguishable in print without colors: by dashes, or by letters with dashes for the methods.
    const QStringList of_groups = letters();
    std::map<std::string, int> methods;
    std::vector<CurveChart::Curve> curves;
    std::vector<std::pair<std::size_t, int>> runs;  // of each group's curve
    int number = 0;
    for (std::size_t i = 0; i < state_->groups().size(); ++i) {
        const ComparedGroup& group = state_->groups()[i];
        const auto method =
            methods.emplace(group.group.specification.methodName(), static_cast<int>(methods.size()));
        if (!group.shown) continue;
        const MeanCurve band = state_->band(group);
        CurveChart::Curve curve;
        curve.key = curve.label = group.label();
        curve.color = group.color;
        curve.bold = true;
        curve.letter_label = of_groups[static_cast<qsizetype>(i)];
        curve.dash = curve.letter_label.isEmpty() ? number++ : method.first->second;
        curve.x = {band.x.begin(), band.x.end()};
        curve.y = {band.mean.begin(), band.mean.end()};
        curve.low = {band.low.begin(), band.low.end()};
        curve.high = {band.high.begin(), band.high.end()};
        if (!curve.x.isEmpty()) {
            runs.emplace_back(curves.size(), *std::ranges::max_element(band.runs));
            counts.insert(runs.back().second);
            curves.push_back(std::move(curve));
        }
        if (state_->question().each_run) appendRuns(group, curves);
    }
    if (counts.size() > 1)
        for (const auto& [curve, count] : runs)
            curves[curve].label += QStringLiteral(" (%1)").arg(countText(count, tr("run")));
    return curves;
}

void ComparePage::appendRuns(const ComparedGroup& group, std::vector<CurveChart::Curve>& curves) const {
    for (const QString& name : group.names) {
        CurveChart::Curve run;
        run.key = name;
        run.hidden_with = group.label();
        run.color = group.color;
        run.color.setAlphaF(0.45F);
        run.in_legend = false;
        for (const auto& [x, y] : state_->curve(name)) {
            run.x << x;
            run.y << y;
        }
        curves.push_back(std::move(run));
    }
}

void ComparePage::showCurves() {
    const CompareSettings& question = state_->question();
    std::set<int> counts;
    const std::vector<CurveChart::Curve> curves = curvesOfGroups(counts);
    const QString over = counts.size() == 1 ? countText(*counts.begin(), tr("run")) : tr("runs");
    const QuantityInfo& info = infoOf(question.curve);
    const QString title = QString::fromStdString(info.titleWithUnit());
    curves_->setAxisNames(xAxisTitle(question.across), title);
    using Range = std::optional<std::pair<double, double>>;
    curves_->setFullYRange(info.isPercentage() ? Range({0.0, 100.0}) : std::nullopt);
    curves_->setYLimits(info.isPercentage() ? std::nullopt : lossLimits(curves));
    curves_->setCaption(tr("%1 by %2, mean over %3; band: %4%5%6")
                            .arg(title, xAxisTitle(question.across), over, spreadTitle(question.spread),
                                 question.drop_worst ? tr("; worst run of each group dropped") : QString(),
                                 question.final_half ? tr("; final half") : QString()));
    curves_->setCurves(curves, {});
}

void ComparePage::showBoard() {
    board_->setRows(state_->board());
    const auto left = remainingSeconds(board_->rows());
    const std::vector<Specification> missing = missingRuns(board_->rows());
    const QString count = countText(static_cast<int>(missing.size()), tr("run"));
    queue_missing_->setEnabled(!missing.empty());
    measure_speed_->setEnabled(!left);
    if (missing.empty())
        board_summary_->setText(tr("Nothing is missing."));
    else if (left)
        board_summary_->setText(
            tr("%1 missing; one after the other, they need about %2 on this machine (%3).")
                .arg(count, shortDuration(*left), QString::fromStdString(machineName())));
    else
        board_summary_->setText(
            tr("%1 missing; one after the other, they need %2. “Measure speed here” gives a better estimate.")
                .arg(count, expectedTimeText(state_->expectedTime(missing))));
}

QString ComparePage::explanation() const {
    QString text =
        tr("<h3>Is it more than chance?</h3>"
           "<p>Each seed gives both methods the same initial weights and the same batches. The difference "
           "within a pair is therefore less affected by chance than the difference of two means:</p>"
           "<p>dₛ = (second)ₛ − (first)ₛ for every seed s; t = mean(d) / (sd(d)/√n) with n − 1 degrees of "
           "freedom; interval = mean(d) ± t<sub>0.975, n−1</sub> · sd(d)/√n.</p>");
    if (state_->comparison() && state_->comparison()->test) {
        const PairedTest& test = *state_->comparison()->test;
        text += tr("<p>Here n = %1, mean(d) = %2, sd(d) = %3, so t = %4 and p = %5.</p>")
                    .arg(test.difference.count)
                    .arg(numberText(test.difference.mean), numberText(test.difference.standard_deviation),
                         numberText(test.t, 4), numberText(test.p, 3));
    }
    return text +
           tr("<p>Student's test assumes that the differences are normally distributed. The exact "
              "permutation test does not: if the methods were equivalent, each difference could equally well "
              "have the opposite sign, and p is the share of all 2ⁿ choices of signs whose mean is at least "
              "as far from 0 (up to 20 pairs).</p>"
              "<p>The bootstrap resamples the pairs 10,000 times, with replacement, and uses the middle 95 % "
              "of the means. With only a few pairs its interval is too narrow, so it is omitted for fewer "
              "than 6: trust Student's.</p>"
              "<p>If the interval contains 0, these pairs do not show which is better; the sentence below "
              "the figure says how many would, if the true difference were as large as the measured one "
              "(power 0.8, from the non-central t distribution).</p>"
              "<p>A run that never solves the chosen share of problems has no number of steps. Such runs are "
              "shown and counted, never dropped: the sign test then decides which method is first.</p>"
              "<p>Lengths: each model solves problems of every size; each row of a map is one maximum length "
              "in training. Right of the heavy line are problems longer than any that the model has seen. "
              "Scaled frequencies let RoPE and RoPER read longer texts without more training (Chen et al. "
              "2023).</p>"
              "<p><i>Student, The Probable Error of a Mean, Biometrika 1908; Efron, Bootstrap Methods, Ann. "
              "Statist. 1979; the RoPER note's table: Harik &amp; Jayasiri 2022</i></p>");
}

}  // namespace roper
