#include "ui/pages/compare/length_tab.h"

#include <QSignalBlocker>
#include <QStandardItemModel>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/corpus/corpus_files.h"
#include "core/rotary/scaling.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/run_store.h"
#include "ui/theme/numbers.h"

namespace roper {
LengthTab::LengthTab(CompareState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      evaluator_(new BatchEvaluator(this)),
      view_(new LengthMapView(this)),
      largest_(named(new QSpinBox, tr("Longest problem"),
                     tr("Largest number of digits or letters to evaluate; at first twice as many as in "
                        "training"))),
      problems_(named(new QSpinBox, tr("Problems of each size"),
                      tr("Problems of each size, or sequences of each length; more take longer but give more "
                         "precise results"))),
      what_(named(new QComboBox, tr("Quantity of the maps"),
                  tr("For texts, the loss at every position shows how far back a model uses its context"))),
      scaling_(named(
          new QComboBox, tr("Scaling of the frequencies"),
          tr("How frequencies are scaled while problems are read; methods that do not rotate have none"))),
      factor_(named(new QDoubleSpinBox, tr("Factor of the scaling"),
                    tr("s: how many times longer the text may become"))),
      measure_(makeActionButton({},
                                tr("Evaluate the newest checkpoint of every shown run, one after the other"),
                                this, &LengthTab::measure)),
      summary_(wrappedLabel()) {
    largest_->setRange(1, 10000);  // as in roper-train eval
    largest_->setPrefix(tr("up to "));
    problems_->setRange(1, 1024);
    problems_->setValue(16);
    problems_->setSuffix(tr(" of each size"));
    what_->addItems({tr("accuracy, by length"), tr("loss of texts, by position")});
    for (const std::string& name : allNames<ScalingMethod>()) {
        if (enumFromName<ScalingMethod>(name) == ScalingMethod::longrope)
            continue;  // its factors belong to one model
        scaling_->addItem(name == "none" ? tr("frequencies as trained")
                                         : tr("scaled: %1").arg(QString::fromStdString(name)),
                          QString(QString::fromStdString(name)));
    }
    factor_->setRange(1, 1000);
    factor_->setValue(2);
    factor_->setPrefix(tr("s = "));
    columnOf({{view_, 1}, makeFlowRow({what_, largest_, problems_, scaling_, factor_, measure_}), summary_},
             this);
    connect(largest_, &QSpinBox::valueChanged, this, [this] { largest_chosen_ = true; });
    connect(what_, &QComboBox::currentIndexChanged, this, &LengthTab::refresh);
    connect(scaling_, &QComboBox::currentIndexChanged, this,
            [this](int index) { factor_->setEnabled(index > 0); });
    factor_->setEnabled(false);
    connect(evaluator_, &BatchEvaluator::changed, this, &LengthTab::refresh);
    showProgress();
}

std::vector<const RunWatcher*> LengthTab::shownRuns() const {
    std::vector<const RunWatcher*> runs;
    for (const ComparedGroup& group : state_.groups()) {
        if (!group.shown || !trainedLength(group.group.specification)) continue;
        for (const QString& name : group.members)
            if (const RunWatcher* run = state_.store().find(name)) runs.push_back(run);
    }
    return runs;
}

const MeasuredRun& LengthTab::measuredRows(const RunFolder& folder) {
    CachedResults& known = cache_[folder.path().string()];
    const auto read = [&]<class Row>(std::vector<Row>& rows, std::filesystem::file_time_type& time) {
        std::error_code missing;
        const auto written = std::filesystem::last_write_time(folder.pathOf<Row>().path(), missing);
        if (missing) {
            rows.clear();
            time = {};
            return;
        }
        if (written == time) return;
        time = written;
        try {
            rows = newestRows(folder.rows<Row>());
        } catch (const Error& error) {
            rows.clear();
            unreadable_ << QString::fromStdString(error.what());
        }
    };
    read(known.rows.sizes, known.sizes_time);
    read(known.rows.lengths, known.lengths_time);
    read(known.rows.positions, known.positions_time);
    return known.rows;
}

/// Proposes twice the longest problem in the training of the shown runs, to measure beyond it.
void LengthTab::proposeLargest(const std::vector<const RunWatcher*>& shown) {
    if (largest_chosen_) return;
    constexpr std::int64_t kTimes = 2;
    std::int64_t longest = 0;
    for (const RunWatcher* run : shown)
        if (run->specification() && run->specification()->task.hasProblems())
            longest = std::max(longest, trainedLength(*run->specification()).value_or(0));
    if (longest == 0) return;
    const QSignalBlocker proposed(largest_);
    largest_->setValue(static_cast<int>(std::min<std::int64_t>(kTimes * longest, largest_->maximum())));
}

/// The loss by position can be chosen if one of the shown runs reads texts from left to right.
void LengthTab::offerQuantities(const std::vector<const RunWatcher*>& shown) {
    const bool has_texts = std::ranges::any_of(shown, [](const RunWatcher* run) {
        const auto& specification = run->specification();
        return specification && specification->task.isText() && !specification->isMasked();
    });
    QStandardItem* by_position = qobject_cast<QStandardItemModel*>(what_->model())->item(1);
    by_position->setEnabled(has_texts);
    by_position->setToolTip(has_texts ? QString() : tr("None of the shown runs reads texts."));
    const bool is_empty = what_->currentIndex() == 1 && !has_texts;
    view_->setEmptyText(
        is_empty
            ? tr("None of the shown runs reads texts, so there is no loss by position.")
            : tr("Nothing has been measured for these runs.\n“Measure” gives their models problems of every "
                 "size, also longer ones than in training; for texts, sequences up to eight times as long."));
}

void LengthTab::refresh() {
    const std::vector<const RunWatcher*> shown = shownRuns();
    proposeLargest(shown);
    offerQuantities(shown);
    unreadable_.clear();
    std::vector<MeasuredRun> runs;
    for (const RunWatcher* run : shown)
        if (auto record = recordOf(*run)) {
            runs.push_back(measuredRows(run->folder()));
            runs.back().record = std::move(*record);
        }
    const bool losses = what_->currentIndex() == 1;
    view_->setMaps(losses ? positionMaps(runs) : lengthMaps(runs), losses);
    showProgress();
}

/// Number of validation tokens of a run's text.
std::int64_t LengthTab::validationTokens(const RunWatcher& run) {
    try {
        const CorpusSummary summary = CorpusFiles(run.folder().textPath()).readSummary();
        return std::llround(run.specification()->task.specific_settings.real("validation_share") *
                            static_cast<double>(summary.tokens));
    } catch (const Error&) {
        return 0;  // the evaluation itself reports what is missing
    }
}

/// Problems of every size, or texts of one, two, four and eight times the training length.
std::vector<BatchEvaluator::Question> LengthTab::questionsFor(const RunWatcher& run) const {
    const Specification& specification = *run.specification();
    const QString path = QString::fromStdString(std::filesystem::absolute(run.folder().path()).string());
    const QStringList scaling_arguments{"--scaling", scaling_->currentData().toString(), "--factor",
                                        QString::number(factor_->value())};
    if (!specification.task.isText())
        return {{path, QStringList{"--by-size", "--largest", QString::number(largest_->value()), "--problems",
                                   QString::number(problems_->value())} +
                           scaling_arguments}};
    const QStringList everything{"--problems", "65536"};  // up to the end of the text's validation part
    QStringList lengths;
    for (const std::int64_t times : {1, 2, 4, 8}) {
        Specification longer = specification;
        longer.training.length *= times;
        const auto& max_length = specification.model.method().max_length;
        if (max_length && longer.inputLength() > max_length(specification.model, specification.shape()))
            break;
        if (times > 1 && longer.training.length > validationTokens(run)) break;
        lengths << QString::number(longer.training.length);
    }
    std::vector<BatchEvaluator::Question> questions = {
        {path, QStringList{"--length", lengths.join(',')} + everything + scaling_arguments}};
    // Twice the length goes beyond training and still leaves many sequences for the mean.
    if (!specification.isMasked())
        questions.push_back(
            {path, QStringList{"--by-position", "--length", lengths.value(1, lengths.first())} + everything +
                       scaling_arguments});
    return questions;
}

void LengthTab::measure() {
    if (evaluator_->isBusy()) return evaluator_->stop();
    std::vector<BatchEvaluator::Question> questions;
    for (const RunWatcher* run : shownRuns()) {
        if (const auto saved = run->folder().checkpointsIfReadable(); !saved || saved->empty()) continue;
        if (scaling_->currentIndex() > 0 && !run->specification()->model.method().rotates()) continue;
        for (BatchEvaluator::Question& question : questionsFor(*run))
            questions.push_back(std::move(question));
    }
    if (questions.empty()) {
        summary_->setText(
            tr("None of the shown runs can be evaluated: a run needs a checkpoint, and scaling needs "
               "frequencies."));
        return;
    }
    evaluator_->ask(questions);
}

/// A sentence about measured runs that the maps omit; empty if there are none.
QStringList LengthTab::omittedRuns() const {
    int left_out = 0;
    for (const LengthMap& map : view_->maps())
        left_out += map.left_out;
    if (left_out == 0) return {};
    return {tr("%1 left out: the same seed was trained again, or in another precision.")
                .arg(countText(left_out, tr("measured run")))};
}

void LengthTab::showProgress() {
    measure_->setText(evaluator_->isBusy() ? tr("Cancel") : tr("Measure"));
    if (evaluator_->isBusy())
        summary_->setText(
            tr("%1 left …").arg(countText(static_cast<int>(evaluator_->remaining()), tr("evaluation"))));
    else if (!evaluator_->problems().isEmpty())
        summary_->setText(evaluator_->problems().join('\n'));
    else
        summary_->setText((unreadable_ + omittedRuns()).join('\n'));
}

}  // namespace roper
