#include "ui/pages/training/training_page.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kTimingInterval_ms = 500;  // from new timings to the update of expected costs

/// At most `most` items in their order, with equal numbers of each kind (`kindOf`) as far as possible,
/// preferring early ones.
QStringList evenly(const QStringList& all, qsizetype most,
                   const std::function<QString(const QString&)>& kindOf) {
    QHash<QString, int> count;
    std::vector<std::pair<int, qsizetype>> turns;  // index within its kind, and in `all`
    for (qsizetype i = 0; i < all.size(); ++i)
        turns.emplace_back(count[kindOf(all[i])]++, i);
    std::ranges::sort(turns);
    turns.resize(static_cast<std::size_t>(std::min(most, all.size())));
    std::ranges::sort(turns, {}, &std::pair<int, qsizetype>::second);
    QStringList chosen;
    for (const auto& [turn, index] : turns)
        chosen << all[index];
    return chosen;
}

}  // namespace

TrainingPage::TrainingPage(RunStore& store, TrainerLauncher& launcher, QueueLauncher& queue,
                           QUndoStack& history, QWidget* parent)
    : Page(tr("Training"),
           tr("Choose a preset, start RoPE and RoPER as twins on the same data, and watch them learn."),
           parent),
      state_(store, launcher, queue, history, this),
      demonstration_(new DemonstrationCard(state_, this)),
      presets_(new PresetList(this)),
      form_(new SpecificationForm(store.folder(), this)),
      chooser_(new QTabWidget),
      metrics_(new MetricPanel(this)),
      samples_(new SamplesView(this)),
      log_(new LogView(this)),
      runs_(new RunsPanel(state_, this)),
      queue_panel_(new QueuePanel(state_, this)),
      cluster_panel_(new ClusterPanel(store.folder(), this)),
      lists_(new QTabWidget) {
    lists_->addTab(runs_, tr("Runs"));
    lists_->addTab(queue_panel_, tr("Queue"));
    lists_->addTab(cluster_panel_, tr("Cluster"));
    lists_->setDocumentMode(true);
    auto* about_run = new QTabWidget;
    about_run->addTab(samples_, tr("Samples"));
    about_run->addTab(log_, tr("Log"));
    about_run->setDocumentMode(true);
    auto* right = makeSplitter(Qt::Vertical, {lists_, about_run}, {360, 300});
    contents()->addWidget(makeSplitter(Qt::Horizontal, {makeChooser(), metrics_, right}, {280, 400, 540}, 1),
                          1);

    connect(presets_, &PresetList::chosen, this,
            [this](const Preset& preset) { form_->setSpecification(preset.specification); });
    connectDemonstration();
    connect(form_, &SpecificationForm::changed, this, &TrainingPage::showForm);
    connect(&state_.store(), &RunStore::runAdded, this, &TrainingPage::connectRun);
    connect(&state_.store(), &RunStore::runRemoved, this, [this](const QString& name) {
        metrics_->removeRun(name);
        state_.forget(name);
        showChartedRuns();
    });
    // Collects several changes into one update of the charts.
    list_timer_.setSingleShot(true);
    connect(&list_timer_, &QTimer::timeout, this, [this] {
        if (runs_->selected() == nullptr) selectNewest();
        showChartedRuns();
    });
    time_timer_.setSingleShot(true);
    time_timer_.setInterval(kTimingInterval_ms);
    connect(&time_timer_, &QTimer::timeout, this, &TrainingPage::showForm);
    connect(runs_, &RunsPanel::chartedChanged, &list_timer_, qOverload<>(&QTimer::start));
    connect(runs_, &RunsPanel::colorChosen, this, [this](const QString& name, const QColor& color) {
        state_.setColor(name, color);
        showChartedRuns();
    });
    connect(runs_, &RunsPanel::inspectRequested, this, &TrainingPage::inspectRequested);
    connect(runs_, &RunsPanel::compareRequested, this, &TrainingPage::compareRequested);
    connect(runs_, &RunsPanel::compareRunsRequested, this, &TrainingPage::compareRunsRequested);
    connect(runs_, &RunsPanel::settingsRequested, this, [this](const Specification& specification) {
        form_->setSpecification(specification);
        chooser_->setCurrentIndex(1);
        if (!specification.training.initial_weights.empty())
            form_->reveal(QStringLiteral("training.initial_weights"));
    });
    connect(runs_, &RunsPanel::renamed, &state_, &TrainingState::rename);
    connect(&state_, &TrainingState::reported, this, &TrainingPage::showMessage);
    connect(&state_, &TrainingState::started, runs_, &RunsPanel::select);
    connect(queue_panel_, &QueuePanel::reported, this, &TrainingPage::showMessage);
    connect(cluster_panel_, &ClusterPanel::reported, this, &TrainingPage::showMessage);
    connect(cluster_panel_, &ClusterPanel::hovered, this, &TrainingPage::setReadout);
    connect(cluster_panel_, &ClusterPanel::runRequested, this, [this](const QString& name) {
        runs_->select(name);
        lists_->setCurrentWidget(runs_);
    });
    const auto count_queue = [this] {
        const auto waiting = state_.queue().queue().entries.size();
        lists_->setTabText(1, !state_.queue().problem().isEmpty()              ? tr("Queue: invalid file")
                              : !state_.queue().runsAwaitingApproval().empty() ? tr("Queue: approve?")
                              : waiting > 0                                    ? tr("Queue (%1)").arg(waiting)
                                                                               : tr("Queue"));
    };
    connect(&state_.queue(), &QueueLauncher::changed, this, count_queue);
    count_queue();
    connect(runs_, &RunsPanel::selectionChanged, this, &TrainingPage::showSelected);
    connect(&state_.store(), &RunStore::titlesChanged, this, &TrainingPage::showSelected);
    connect(runs_, &RunsPanel::reported, this, &TrainingPage::showMessage);
    connect(metrics_, &MetricPanel::hovered, this, &TrainingPage::setReadout);
    std::vector<std::string> charts;
    for (const QuantityInfo& info : quantities())
        charts.push_back(QuantityChart::figureNameOf(info.quantity).toStdString());
    pageFigures().set(
        [this] {
            PageFigures::Figures all = metrics_->figures();
            all.push_back(&cluster_panel_->grid());
            return all;
        },
        {}, charts);
    registerViewSettings();
    for (RunWatcher* run : state_.store().runs())
        connectRun(run);
    selectNewest();
    showChartedRuns();
    // Initially chooses the preset of the demonstration, so that its settings can be explored further.
    if (!presets_->choose("copy-quick")) presets_->setCurrentRow(0);
    showForm();
}

Figure& TrainingPage::prepareFigure(FigureRequest request) {
    if (request.kind == "cluster") {
        const std::filesystem::path folder = state_.store().folder();
        ClusterView view = readClusterView(folder);
        if (view.submissions.empty())
            throw Error(ErrorKind::usage, "no runs of " + folder.string() + " were submitted to a cluster");
        const bool all_ended = std::ranges::all_of(
            view.runs, [](const SweepRunStatus& run) { return run.is_state_known || run.isFinished(); });
        if (!all_ended) view = queryCluster(folder);
        cluster_panel_->show(view);
        return pageFigures().named(request.kind);
    }
    state_.store().readAll();
    if (state_.store().runs().empty())
        throw Error(ErrorKind::usage, "no runs in " + state_.store().folder().string());
    runs_->model().nameGroups();
    if (runs_->selected() == nullptr) selectNewest();
    showChartedRuns();
    for (const QuantityInfo& info : quantities())
        if (QuantityChart::figureNameOf(info.quantity).toStdString() == request.kind &&
            metrics_->chartIndexOf(info.quantity) < 0)
            metrics_->setQuantity(0, info.quantity);
    for (int place = 0; place < metrics_->count(); ++place) {
        MetricChart& chart = metrics_->chart(place);
        chart.resize(request.size);
        chart.redrawNow();
        chart.plot().replot();  // positions the legend
    }
    return pageFigures().named(request.kind);
}

void TrainingPage::showForm() {
    const bool is_valid = form_->isValid();
    for (const Preset& preset : presets_->presets())
        if (QString::fromStdString(preset.name) == presets_->chosenName())
            presets_->setChanged(toToml(form_->specification()) !=
                                 toToml(withoutUnused(preset.specification)));
    const QString too_large = is_valid ? state_.memoryShortage(form_->specification(), 1) : QString();
    const QString too_large_for_two = is_valid ? state_.memoryShortage(form_->specification(), 2) : QString();
    start_->setEnabled(is_valid && too_large.isEmpty());
    twins_->setEnabled(is_valid && too_large_for_two.isEmpty());
    queue_twins_->setEnabled(start_->isEnabled());
    QString text = is_valid ? state_.expectedCosts(form_->specification())
                            : tr("A setting is invalid; “All settings” says which one and why.");
    for (const QString& problem : {too_large, too_large.isEmpty() ? too_large_for_two : QString()})
        if (!problem.isEmpty()) text += ' ' + problem;
    expected_costs_->setText(text);
    expected_costs_->setToolTip(text);
}

void TrainingPage::connectDemonstration() {
    connect(demonstration_, &DemonstrationCard::startRequested, this,
            [this](const Specification& specification) {
                confirmLongWork(tr("The demonstration"), tr("Start"), twinsOf(specification),
                                [this, specification] {
                                    runs_->chartOnlySelected();
                                    state_.start(specification, true);
                                });
            });
    connect(demonstration_, &DemonstrationCard::moreSeedsRequested, this,
            [this](const Specification& specification) { queueTwins(specification, kDefaultSeeds); });
    connect(demonstration_, &DemonstrationCard::inspectRequested, this, &TrainingPage::inspectRequested);
    connect(demonstration_, &DemonstrationCard::compareRequested, this, &TrainingPage::compareRequested);
}

void TrainingPage::queueTwins(const Specification& specification, int seeds) {
    const auto missing = state_.missingTwins(specification, seeds);
    const auto wanted = static_cast<int>(twinMethods().size()) * seeds;
    queueRuns(missing, wanted - static_cast<int>(missing.size()));
}

void TrainingPage::startRuns(bool as_twins) {
    const Specification specification = form_->specification();
    const std::vector runs = as_twins ? twinsOf(specification) : std::vector{specification};
    confirmLongWork(as_twins ? tr("Twins, RoPE and RoPER") : tr("This run"), tr("Start"), runs,
                    [this, specification, as_twins] { state_.start(specification, as_twins); });
}

void TrainingPage::queueRuns(const std::vector<Specification>& specifications, int already_present) {
    const auto count = static_cast<int>(specifications.size());
    confirmLongWork(countText(count, tr("run")), tr("Queue"), specifications,
                    [this, specifications, already_present] {
                        state_.enqueue(specifications, already_present);
                        lists_->setCurrentWidget(queue_panel_);
                        emit queued();
                    });
}

void TrainingPage::selectNewest() {
    const RunWatcher* newest = nullptr;
    for (const RunWatcher* run : state_.store().runs())
        if (newest == nullptr || run->createdAt_s() > newest->createdAt_s()) newest = run;
    if (newest != nullptr) runs_->select(newest->name());
}

void TrainingPage::connectRun(RunWatcher* run) {
    connect(run, &RunWatcher::metricsAdded, this,
            [this, run](std::size_t first) { metrics_->addMetrics(*run, first); });
    connect(run, &RunWatcher::evaluationsAdded, this,
            [this, run](std::size_t first) { metrics_->addEvaluations(*run, first); });
    // The run's files are read again from the beginning, so its curves are cleared.
    connect(run, &RunWatcher::restarted, this, [this, run] { metrics_->redraw(*run); });
    for (auto signal : {&RunWatcher::samplesChanged, &RunWatcher::statusChanged})
        connect(run, signal, this, [this, run] {
            if (runs_->selected() == run) showSelected();
        });
    // The run provides timings, which improve the estimate for the form's run.
    connect(run, &RunWatcher::statusChanged, this, [this, run] {
        if (run->state() == RunState::finished && !time_timer_.isActive()) time_timer_.start();
    });
    if (!time_timer_.isActive()) time_timer_.start();
    list_timer_.start();
}

/// Charts contain the runs of the selected run's experiment and of ticked experiments: hundreds of curves
/// could neither be distinguished nor drawn in time.
void TrainingPage::showChartedRuns() {
    constexpr int kMaxCharted = 48;
    const RunsModel& model = runs_->model();
    for (const RunWatcher* run : state_.store().runs())
        runs_->model().setColor(run->name(),
                                state_.colorOf(*run, model.groupIndexOf(run->name()).of_method, palette()));
    const QStringList listed = runs_->charted(),
                      wanted = evenly(listed, kMaxCharted, [&](const QString&run) {
                          return model.experimentKeyOf(run) + '\n' + model.groupOf(run);
                      });
    metrics_->setDrawnCount(wanted.size(), listed.size());
    const RunWatcher* selected = runs_->selected();
    for (RunWatcher* run : state_.store().runs())
        if (!wanted.contains(run->name())) metrics_->removeRun(run->name());
    const QHash<QString, MetricChart::CurveStyle> styles = curve_styles_.of(curvesOf(wanted));
    QHash<QString, QString> letters;
    for (auto style = styles.cbegin(); style != styles.cend(); ++style)
        if (!style->letter_label.isEmpty()) letters[style.key()] = style->letter_label;
    runs_->model().setLetters(letters);
    for (const QString& name : wanted) {
        MetricChart::CurveStyle style = styles.value(name);
        style.chosen = selected != nullptr && name == selected->name();
        if (metrics_->hasRun(name))
            metrics_->setCurveStyle(name, style);
        else if (const RunWatcher* run = state_.store().find(name))
            metrics_->addRun(*run, style);
    }
}

QList<CurveStyles::Run> TrainingPage::curvesOf(const QStringList& runs) {
    const RunsModel& model = runs_->model();
    QList<CurveStyles::Run> curves;
    for (const QString& name : runs) {
        const RunWatcher* run = state_.store().find(name);
        // Until groups have labels, the title of the method is used.
        QString group = model.groupOf(name);
        if (group.isEmpty() && run != nullptr && run->specification())
            group = QString::fromStdString(run->specification()->methodTitle());
        curves << CurveStyles::Run{name,
                                   model.experimentKeyOf(name),
                                   model.experimentTitleOf(name),
                                   group,
                                   model.labelOf(name),
                                   model.groupIndexOf(name).group,
                                   model.color(name)};
    }
    return curves;
}

void TrainingPage::showSelected() {
    RunWatcher* run = runs_->selected();
    samples_->show(run != nullptr ? state_.store().titleOf(run->name()) : QString(),
                   run != nullptr ? run->samples() : std::vector<Sample>{});
    log_->showLog(run);
    emit explanationChanged();
}

QString TrainingPage::explanation() const {
    const Specification& s = form_->specification();
    return tr("<h3>What is compared</h3>"
              "<p>RoPE rotates queries and keys by their position, so that a score depends only on distance. "
              "RoPER also rotates the values, and rotates the mixed value back:</p>"
              "<p>o<sub>n</sub> = R(−n) Σ<sub>j</sub> a<sub>n,j</sub> R(j) v<sub>j</sub> = Σ<sub>j</sub> "
              "a<sub>n,j</sub> R(j−n) v<sub>j</sub></p>"
              "<p>Twins differ in nothing else: they have the same initial weights and the same batches.</p>"
              "<p>Task <b>%1</b>; width %2, %3 layers, %4 heads of %5 features; %6 steps of %7 sequences of "
              "%8 characters.</p>"
              "<p>The loss starts near ln V, the loss of guessing among V characters, and falls as the "
              "format of the text is learned; problems are solved later, often all at once.</p>"
              "<p><i>Harik &amp; Jayasiri, Rotary Positional Embeddings with Relative distances, "
              "2022</i></p>")
        .arg(QString::fromStdString(s.task.name))
        .arg(s.model.width)
        .arg(s.model.layers)
        .arg(s.model.heads)
        .arg(s.headDim())
        .arg(s.training.steps)
        .arg(s.training.batch)
        .arg(s.training.length);
}

void TrainingPage::registerViewSettings() {
    registerViewSetting(
        "view.training_preset", [this] { return presets_->chosenName().toStdString(); },
        [this](const std::string& preset) {
            if (!preset.empty() && presets_->choose(QString::fromStdString(preset)))
                chooser_->setCurrentWidget(presets_);
        });
    registerViewSetting(
        "view.training_charts", [this] { return metrics_->arrangement(); },
        [this](const std::string& charts) {
            if (!charts.empty()) metrics_->arrange(charts);
        });
    registerNumberSetting(
        "view.training_seeds", [this] { return seeds_->value(); },
        [this](int seeds) { seeds_->setValue(seeds); });
    registerViewSetting(
        "view.training_run",
        [this] {
            const RunWatcher* run = runs_->selected();
            return run == nullptr ? std::string() : run->name().toStdString();
        },
        [this](const std::string& run) {
            if (!run.empty()) runs_->select(QString::fromStdString(run));
        });
}

}  // namespace roper
