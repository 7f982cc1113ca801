#include <QGridLayout>
#include <QScrollArea>
#include <QSplitter>
#include <array>

#include "ui/pages/training/training_page.h"

#include "ui/controls/flow_layout.h"
#include "ui/theme/plain_text.h"
// What can be pressed and typed on the Training page.

namespace roper {
namespace {

constexpr std::array kMeans = {1, 3, 5, 11, 25, 51, 101, 201, 501};  // values in a mean of the loss
constexpr int kMeanAtFirst = 3;

}  // namespace

QWidget* TrainingPage::makeChooser() {
    auto* scroll = new QScrollArea;
    scroll->setWidget(form_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    chooser_->addTab(presets_, tr("Presets"));
    chooser_->addTab(scroll, tr("All settings"));
    outlook_ = makePlainLabel();
    outlook_->setWordWrap(true);
    outlook_->setAccessibleName(tr("What a run takes"));
    auto* side = new QWidget;
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(demonstration_);
    layout->addWidget(chooser_, 1);
    layout->addWidget(outlook_);
    layout->addWidget(makeStartButtons());
    return side;
}

QWidget* TrainingPage::makeStartButtons() {
    start_ = new QPushButton(tr("Start"));
    start_->setToolTip(tr("Train this specification"));
    twins_ = new QPushButton(tr("Start as twins"));
    twins_->setToolTip(tr("RoPE and RoPER at the same time: same initial weights, same batches"));
    twins_->setDefault(true);
    queue_twins_ = new QPushButton(tr("Queue twins"));
    queue_twins_->setToolTip(
        tr("RoPE and RoPER for each seed, one run after the other; seeds that are trained "
           "already are not queued again"));
    seeds_ = new QSpinBox;
    seeds_->setRange(1, 1000);
    seeds_->setValue(kSeedsThatSaySomething);
    seeds_->setSuffix(tr(" seeds"));
    seeds_->setAccessibleName(tr("How many seeds"));
    seeds_->setToolTip(
        tr("From the data seed of the settings upwards; five are the least that say something"));
    connect(start_, &QPushButton::clicked, this, [this] { startRuns(false); });
    connect(twins_, &QPushButton::clicked, this, [this] { startRuns(true); });
    connect(queue_twins_, &QPushButton::clicked, this,
            [this] { queueTwins(form_->specification(), seeds_->value()); });
    auto* buttons = new QWidget;
    auto* layout = new QGridLayout(buttons);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(start_, 0, 0);
    layout->addWidget(twins_, 0, 1);
    layout->addWidget(queue_twins_, 1, 1);
    layout->addWidget(seeds_, 1, 0);
    return buttons;
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
        forBothCharts([&](MetricChart& chart) { chart.setAcross(static_cast<MetricChart::XAxis>(index)); });
    });
    auto* smoothing = new QSlider(Qt::Horizontal);
    smoothing->setRange(0, static_cast<int>(kMeans.size()) - 1);
    smoothing->setMinimumWidth(60);
    smoothing->setMaximumWidth(110);
    smoothing->setAccessibleName(tr("Smoothing of the loss"));
    smoothing->setToolTip(tr(
        "The bold curve is the mean of so many values, as many before as after; the pale one is each value"));
    auto* averaged = new QLabel;
    averaged->setMinimumWidth(averaged->fontMetrics().horizontalAdvance(tr("no mean of 501")));
    connect(smoothing, &QSlider::valueChanged, this, [this, averaged](int place) {
        const int values = kMeans[static_cast<std::size_t>(place)];
        averaged->setText(values == 1 ? tr("not smoothed") : tr("mean of %1").arg(values));
        loss_->setSmoothing(values);
    });
    smoothing->setValue(kMeanAtFirst);
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
    bar->setMinimumWidth(320);  // two lines of them, no more
    auto* layout = new FlowLayout(bar);
    layout->addWidget(across);
    layout->addWidget(smoothing);
    layout->addWidget(averaged);
    layout->addWidget(log_x);
    layout->addWidget(log_y);
    auto* legend = new QCheckBox(tr("legend"));
    legend->setTristate(true);
    legend->setCheckState(Qt::PartiallyChecked);
    legend->setToolTip(
        tr("Half ticked: shown for up to twelve kinds of runs; the list has the colours of all"));
    connect(legend, &QCheckBox::stateChanged, this, [this](int state) {
        forBothCharts([&](MetricChart& chart) {
            chart.setLegendShown(state == Qt::PartiallyChecked ? std::nullopt
                                                               : std::optional(state == Qt::Checked));
        });
    });
    layout->addWidget(legend);
    layout->addWidget(follow);
    return bar;
}

void TrainingPage::addActions(Actions& actions) {
    const QString group = tr("Training");
    actions.add(group, tr("Watch RoPER learn sooner"), {},
                [this] { demonstration_->startButton()->click(); });
    actions.add(group, tr("Start"), {}, [this] { start_->click(); });
    actions.add(group, tr("Start as twins"), Qt::CTRL | Qt::Key_Return, [this] { twins_->click(); });
    actions.add(group, tr("Queue twins of several seeds"), {}, [this] { queue_twins_->click(); });
    actions.add(group, tr("Pause or continue"), {}, [this] { runs_->pauseButton()->click(); });
    actions.add(group, tr("Stop the selected run"), {}, [this] { runs_->stopButton()->click(); });
    actions.add(group, tr("Checkpoint now"), {}, [this] { runs_->send(Command::checkpoint); });
    actions.add(group, tr("Continue the selected run"), {}, [this] { runs_->continueSelected(); });
    actions.add(group, tr("Show all settings"), {}, [this] { chooser_->setCurrentIndex(1); });
}

}  // namespace roper
