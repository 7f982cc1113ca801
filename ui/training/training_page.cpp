#include "ui/training/training_page.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QSplitter>
#include <cmath>

#include "core/runs/error.h"

namespace roper {
namespace {

MetricChart::Point pointOf(const MetricsRow& row) {
    return {static_cast<double>(row.step), row.time_s, static_cast<double>(row.tokens), row.loss};
}

/// Tokens at a step of a run, from its specification; evaluations do not record them.
double tokensAt(const RunWatcher& run, std::int64_t step) {
    if (!run.specification()) return 0;
    const auto& training = run.specification()->training;
    return static_cast<double>(step * training.batch * (training.length - 1));
}

}  // namespace

TrainingPage::TrainingPage(RunStore& store, TrainerLauncher& launcher, QWidget* parent)
    : Page(tr("Training"),
           tr("Choose a preset, start RoPE and RoPER as twins on the same data, and watch them learn."),
           parent),
      store_(store),
      launcher_(launcher),
      presets_(new PresetList(this)),
      form_(new SpecificationForm(this)),
      chooser_(new QTabWidget),
      loss_(new MetricChart(QStringLiteral("loss"), tr("training loss, nats"), this)),
      accuracy_(new MetricChart(QStringLiteral("accuracy"), tr("problems solved, %"), this)),
      samples_(new SamplesView(this)),
      runs_(new RunsPanel(store, launcher, this)) {
    loss_->setEmptyText(tr("No run yet: choose a preset and press “Start as twins”."));
    accuracy_->setEmptyText(tr(
        "Solved problems appear with the first evaluation.\nThe prefix task has none: its loss is measured "
        "against the dashed floor above."));
    accuracy_->setSmoothing(0);
    accuracy_->setLegendCorner(Qt::AlignBottom | Qt::AlignRight);
    auto* right = new QSplitter(Qt::Vertical);
    right->addWidget(runs_);
    right->addWidget(samples_);
    right->setSizes({360, 300});
    auto* columns = new QSplitter(Qt::Horizontal);
    columns->addWidget(makeChooser());
    columns->addWidget(makeCharts());
    columns->addWidget(right);
    columns->setSizes({236, 400, 580});
    columns->setStretchFactor(1, 1);
    for (QSplitter* splitter : {right, columns})
        splitter->setChildrenCollapsible(false);
    contents()->addWidget(columns, 1);

    connect(presets_, &PresetList::chosen, this,
            [this](const Preset& preset) { form_->setSpecification(preset.specification); });
    connect(form_, &SpecificationForm::changed, this, &TrainingPage::showForm);
    connect(&store_, &RunStore::runAdded, this, &TrainingPage::followRun);
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        forBothCharts([&](MetricChart& chart) { chart.removeSeries(name); });
    });
    connect(runs_, &RunsPanel::selectionChanged, this, &TrainingPage::showSelected);
    connect(runs_, &RunsPanel::said, this, [this](const QString& text) { setReadout(text); });
    for (MetricChart* chart : {loss_, accuracy_})
        connect(chart, &MetricChart::pointed, this, [this](const QString& text) { setReadout(text); });
    for (auto [from, to] : {std::pair{loss_, accuracy_}, std::pair{accuracy_, loss_}})
        connect(from, &MetricChart::shownChanged, to, &MetricChart::setShown);
    for (RunWatcher* run : store_.runs())
        followRun(run);
    if (!presets_->choose("addition-small")) presets_->setCurrentRow(0);
    showForm();
}

std::vector<const Figure*> TrainingPage::figures() const {
    return {loss_, accuracy_};
}

QWidget* TrainingPage::makeChooser() {
    auto* scroll = new QScrollArea;
    scroll->setWidget(form_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    chooser_->addTab(presets_, tr("Presets"));
    chooser_->addTab(scroll, tr("All settings"));
    start_ = new QPushButton(tr("Start"));
    start_->setToolTip(tr("Train this specification"));
    twins_ = new QPushButton(tr("Start as twins"));
    twins_->setToolTip(tr("RoPE and RoPER at the same time: same initial weights, same batches"));
    twins_->setDefault(true);
    why_not_ = new QLabel;
    why_not_->setWordWrap(true);
    connect(start_, &QPushButton::clicked, this, [this] { start(false); });
    connect(twins_, &QPushButton::clicked, this, [this] { start(true); });
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(start_);
    buttons->addWidget(twins_);
    auto* side = new QWidget;
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(chooser_, 1);
    layout->addWidget(why_not_);
    layout->addLayout(buttons);
    return side;
}

QWidget* TrainingPage::makeCharts() {
    auto* charts = new QSplitter(Qt::Vertical);
    charts->addWidget(loss_);
    charts->addWidget(accuracy_);
    charts->setChildrenCollapsible(false);
    auto* middle = new QWidget;
    auto* layout = new QVBoxLayout(middle);
    layout->setContentsMargins(4, 0, 4, 0);
    layout->addWidget(makeChartControls());
    layout->addWidget(charts, 1);
    return middle;
}

QWidget* TrainingPage::makeChartControls() {
    auto* across = new QComboBox;
    across->addItems({tr("by step"), tr("by time"), tr("by tokens")});
    across->setAccessibleName(tr("What the x axis counts"));
    across->setToolTip(across->accessibleName());
    connect(across, &QComboBox::currentIndexChanged, this, [this](int index) {
        forBothCharts([&](MetricChart& chart) { chart.setAcross(static_cast<MetricChart::Across>(index)); });
    });
    auto* smoothing = new QSlider(Qt::Horizontal);
    smoothing->setRange(0, 99);
    smoothing->setValue(90);
    smoothing->setMinimumWidth(60);
    smoothing->setMaximumWidth(120);
    smoothing->setAccessibleName(tr("Smoothing of the loss"));
    smoothing->setToolTip(tr("Weight of the past in the bold curve; the pale one is each step"));
    connect(smoothing, &QSlider::valueChanged, this,
            [this](int value) { loss_->setSmoothing(value / 100.0); });
    auto* log_x = new QCheckBox(tr("log x"));
    auto* log_y = new QCheckBox(tr("log loss"));
    connect(log_x, &QCheckBox::toggled, this,
            [this](bool on) { forBothCharts([&](MetricChart& chart) { chart.setLogX(on); }); });
    connect(log_y, &QCheckBox::toggled, this, [this](bool on) { loss_->setLogY(on); });
    auto* follow = new QPushButton(tr("Follow"));
    follow->setToolTip(
        tr("Show everything and keep up with new points; a double click on a chart does the same"));
    connect(follow, &QPushButton::clicked, this,
            [this] { forBothCharts([](MetricChart& chart) { chart.follow(); }); });
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(across);
    layout->addWidget(new QLabel(tr("smoothing")));
    layout->addWidget(smoothing);
    layout->addWidget(log_x);
    layout->addWidget(log_y);
    layout->addStretch();
    layout->addWidget(follow);
    return bar;
}

void TrainingPage::forBothCharts(const std::function<void(MetricChart&)>& change) {
    change(*loss_);
    change(*accuracy_);
}

void TrainingPage::showForm() {
    start_->setEnabled(form_->isValid());
    twins_->setEnabled(form_->isValid());
    why_not_->setText(tr("A setting is wrong; “All settings” says which and why."));
    why_not_->setVisible(!form_->isValid());
}

void TrainingPage::start(bool twins) {
    try {
        const RunFolder started = twins ? launcher_.startTwins(form_->specification()).back()
                                        : launcher_.start(form_->specification());
        setReadout(tr("Started; the first steps follow in a moment."));
        store_.refresh();
        runs_->select(QString::fromStdString(started.name()));
    } catch (const Error& error) {
        setReadout(tr("Not started: %1").arg(QString::fromStdString(error.what())));
        store_.refresh();
    }
}

QColor TrainingPage::colorOf(const RunWatcher& run) {
    const auto known = colors_.find(run.name());
    if (known != colors_.end()) return *known;
    const QString position = run.specification() ? QString::fromStdString(run.specification()->model.position)
                                                 : QStringLiteral("roper");
    const QColor color = Theme::of(palette()).run(position, runs_of_method_[position]++);
    colors_[run.name()] = color;
    return color;
}

/// The name without the date that the program put before it, where that is enough to tell runs apart.
QString TrainingPage::legendLabel(const QString& name) {
    static const QRegularExpression date(QStringLiteral("^\\d{4}-\\d\\d-\\d\\dT\\d{4}Z-"));
    const QString without_date = QString(name).remove(date);
    if (labels_.value(without_date, name) != name) return name;
    labels_[without_date] = name;
    return without_date;
}

void TrainingPage::followRun(RunWatcher* run) {
    const QColor color = colorOf(*run);
    const QString label = legendLabel(run->name());
    runs_->model().setColor(run->name(), color);
    forBothCharts([&](MetricChart& chart) { chart.addSeries(run->name(), label, color); });
    connect(run, &RunWatcher::metricsAdded, this, [this, run](std::size_t first) { addMetrics(run, first); });
    connect(run, &RunWatcher::evaluationsAdded, this,
            [this, run](std::size_t first) { addEvaluations(run, first); });
    connect(run, &RunWatcher::restarted, this, [this, run] {
        // Both files are read again from their starts; what was drawn of either goes.
        loss_->clear(run->name());
        accuracy_->clear(run->name());
        addMetrics(run, 0);
        addEvaluations(run, 0);
    });
    connect(run, &RunWatcher::samplesChanged, this, [this, run] {
        if (runs_->selected() == run) showSelected();
    });
    addMetrics(run, 0);
    addEvaluations(run, 0);
    if (runs_->selected() == nullptr) runs_->select(run->name());
}

void TrainingPage::addMetrics(RunWatcher* run, std::size_t first) {
    for (std::size_t i = first; i < run->metrics().size(); ++i)
        loss_->append(run->name(), pointOf(run->metrics()[i]));
}

void TrainingPage::addEvaluations(RunWatcher* run, std::size_t first) {
    for (std::size_t i = first; i < run->evaluations().size(); ++i) {
        const EvaluationRow& row = run->evaluations()[i];
        if (row.floor) loss_->setFloor(run->name(), *row.floor);
        if (!row.correct || row.of.value_or(0) == 0) continue;
        accuracy_->append(run->name(),
                          {static_cast<double>(row.step), row.time_s, tokensAt(*run, row.step),
                           100.0 * static_cast<double>(*row.correct) / static_cast<double>(*row.of)});
    }
}

void TrainingPage::showSelected() {
    const RunWatcher* run = runs_->selected();
    samples_->show(run != nullptr ? run->name() : QString(),
                   run != nullptr ? run->samples() : std::vector<Sample>{});
    emit explanationChanged();
}

void TrainingPage::addActions(Actions& actions) {
    const QString group = tr("Training");
    actions.add(group, tr("Start"), {}, [this] { start_->click(); });
    actions.add(group, tr("Start as twins"), Qt::CTRL | Qt::Key_Return, [this] { twins_->click(); });
    actions.add(group, tr("Pause or go on"), {}, [this] { runs_->pauseButton()->click(); });
    actions.add(group, tr("Stop the selected run"), {}, [this] { runs_->stopButton()->click(); });
    actions.add(group, tr("Checkpoint now"), {}, [this] { runs_->send(Command::checkpoint); });
    actions.add(group, tr("Continue the selected run"), {}, [this] { runs_->continueSelected(); });
    actions.add(group, tr("Show all settings"), {}, [this] { chooser_->setCurrentIndex(1); });
}

QString TrainingPage::explanation() const {
    const Specification& s = form_->specification();
    return tr("<h3>What is compared</h3>"
              "<p>RoPE turns queries and keys by their position, so that a score depends on distance alone. "
              "RoPER turns "
              "the values too, and turns the mixed value back:</p>"
              "<p>o<sub>n</sub> = R(−n) Σ<sub>j</sub> a<sub>n,j</sub> R(j) v<sub>j</sub> "
              "= Σ<sub>j</sub> a<sub>n,j</sub> R(j−n) v<sub>j</sub></p>"
              "<p>Twins differ in nothing else: the same initial weights, the same batches.</p>"
              "<p>Task <b>%1</b>; width %2, %3 layers, %4 heads of %5 features; %6 steps of %7 sequences of "
              "%8 "
              "characters.</p>"
              "<p>The loss begins near ln V, the cost of guessing among V characters, and falls as the form "
              "of the "
              "text is learned; problems come out right later, often all at once.</p>"
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

}  // namespace roper
