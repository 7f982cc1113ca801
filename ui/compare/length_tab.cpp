#include "ui/compare/length_tab.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "core/rotary/scaling.h"
#include "core/runs/error.h"
#include "ui/controls/named.h"
#include "ui/runs/run_records.h"
#include "ui/shell/explain.h"

namespace roper {
LengthTab::LengthTab(CompareState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      survey_(new SizeSurvey(this)),
      view_(new LengthMapView(this)),
      largest_(named(new QSpinBox, tr("Longest problem"),
                     tr("Digits or letters up to which problems are asked, also beyond training"))),
      problems_(named(new QSpinBox, tr("Problems of each size"), tr("More take longer and scatter less"))),
      scaling_(
          named(new QComboBox, tr("Scaling of the frequencies"),
                tr("How frequencies are scaled while problems are read; RoPE and RoPER alone have some"))),
      factor_(
          named(new QDoubleSpinBox, tr("Factor of the scaling"), tr("s: how much longer texts may become"))),
      measure_(new QPushButton),
      summary_(new QLabel) {
    largest_->setRange(1, 64);
    largest_->setValue(6);
    largest_->setPrefix(tr("up to "));
    problems_->setRange(1, 1024);
    problems_->setValue(16);
    problems_->setSuffix(tr(" problems of each size"));
    for (const std::string_view name : kScalingNames)
        scaling_->addItem(name == "none" ? tr("frequencies as trained")
                                         : tr("scaled: %1").arg(QLatin1String(name.data(), name.size())),
                          QString(QLatin1String(name.data(), name.size())));
    factor_->setRange(1, 1000);
    factor_->setValue(2);
    factor_->setPrefix(tr("s = "));
    measure_->setToolTip(tr("Asks the newest checkpoint of every shown run, one after the other"));
    summary_->setWordWrap(true);
    auto* bar = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{largest_, problems_, scaling_, factor_, measure_})
        bar->addWidget(widget);
    bar->addWidget(summary_, 1);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(view_, 1);
    layout->addLayout(bar);
    view_->setEmptyText(
        tr("Nothing has been measured for these runs.\n“Measure” asks their models problems of every "
           "size, also longer ones than in training."));
    connect(scaling_, &QComboBox::currentIndexChanged, this,
            [this](int index) { factor_->setEnabled(index > 0); });
    factor_->setEnabled(false);
    connect(measure_, &QPushButton::clicked, this, &LengthTab::measure);
    connect(survey_, &SizeSurvey::changed, this, &LengthTab::refresh);
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

std::vector<SizeRow> LengthTab::rowsOf(const RunFolder& folder) {
    std::error_code missing;
    const auto time = std::filesystem::last_write_time(folder.sizesPath(), missing);
    if (missing) return {};
    Known& known = known_[folder.sizesPath().string()];
    if (known.time == time) return known.rows;
    known.time = time;
    try {
        known.rows = newestSizes(folder.sizeRows());
    } catch (const Error& error) {
        known.rows.clear();
        unreadable_ << QString::fromStdString(error.what());
    }
    return known.rows;
}

void LengthTab::refresh() {
    unreadable_.clear();
    std::vector<SizedRun> runs;
    for (const RunWatcher* run : shownRuns())
        if (auto record = recordOf(*run))
            if (auto rows = rowsOf(run->folder()); !rows.empty())
                runs.push_back({std::move(*record), std::move(rows)});
    view_->setMaps(lengthMaps(runs));
    showProgress();
}

void LengthTab::measure() {
    if (survey_->isBusy()) return survey_->stop();
    std::vector<SizeSurvey::Question> questions;
    const QString scaling = scaling_->currentData().toString();
    for (const RunWatcher* run : shownRuns()) {
        if (run->folder().checkpoints().empty()) continue;
        if (scaling != "none" && !run->specification()->turnsQueriesAndKeys()) continue;
        questions.push_back({QString::fromStdString(std::filesystem::absolute(run->folder().path()).string()),
                             largest_->value(), problems_->value(), scaling, factor_->value()});
    }
    if (questions.empty()) {
        summary_->setText(
            tr("None of the shown runs can be asked: they need a checkpoint, and a scaling needs "
               "frequencies."));
        return;
    }
    survey_->ask(questions);
}

void LengthTab::showProgress() {
    measure_->setText(survey_->isBusy() ? tr("Cancel") : tr("Measure"));
    if (survey_->isBusy())
        summary_->setText(tr("%1 to ask …").arg(counted(static_cast<int>(survey_->left()), tr("run"))));
    else if (!survey_->problems().isEmpty())
        summary_->setText(survey_->problems().join('\n'));
    else
        summary_->setText(unreadable_.join('\n'));
}

}  // namespace roper
