#include <QGridLayout>
#include <QMessageBox>
#include <QScrollBar>

#include "core/base/machine_load.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/run_texts.h"
#include "ui/pages/training/training_page.h"

// Controls of the Training page.

namespace roper {
QWidget* TrainingPage::makeChooser() {
    chooser_->addTab(presets_, tr("Presets"));
    chooser_->addTab(makeScrollArea(form_), tr("All settings"));
    expected_costs_ = wrappedLabel();
    expected_costs_->setAccessibleName(tr("Cost of a run"));
    constexpr int kLeastLines = 9;  // visible lines of presets or settings
    chooser_->setMinimumHeight(kLeastLines * chooser_->fontMetrics().lineSpacing());
    chooser_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Ignored);
    QWidget* const chooser = wrapInWidget(columnOf({chooser_}));  // its size hint is the minimum height
    // In a low window, everything above the buttons scrolls.
    QWidget* const content = wrapInWidget(columnOf({demonstration_, {chooser, 1}, expected_costs_}));
    auto* above = makeScrollArea(content);
    above->setMinimumWidth(content->minimumSizeHint().width() +
                           above->verticalScrollBar()->sizeHint().width());
    return wrapInWidget(columnOf({{above, 1}, makeStartButtons()}));
}

QWidget* TrainingPage::makeStartButtons() {
    start_ =
        makeActionButton(tr("Start"), tr("Train this specification"), this, [this] { startRuns(false); });
    twins_ = makeActionButton(tr("Start as twins"),
                              tr("Train RoPE and RoPER at the same time: same initial weights, same batches"),
                              this, [this] { startRuns(true); });
    twins_->setDefault(true);
    queue_twins_ =
        makeActionButton(tr("Queue twins"),
                         tr("RoPE and RoPER for each seed, one run after the other; seeds that are "
                            "already trained are not queued again"),
                         this, [this] { queueTwins(form_->specification(), seeds_->value()); });
    seeds_ = named(new QSpinBox, tr("Number of seeds"),
                   tr("Counted upwards from the data seed of the settings; a conclusion needs at least six"));
    seeds_->setRange(1, 1000);
    seeds_->setValue(kDefaultSeeds);
    seeds_->setSuffix(tr(" seeds"));
    auto* layout = new QGridLayout;
    layout->addWidget(start_, 0, 0);
    layout->addWidget(twins_, 0, 1);
    layout->addWidget(queue_twins_, 1, 1);
    layout->addWidget(seeds_, 1, 0);
    return wrapInWidget(layout);
}

void TrainingPage::confirmLongWork(const QString& what, const QString& verb,
                                   const std::vector<Specification>& runs,
                                   const std::function<void()>& work) {
    constexpr double kMaxUnconfirmed_s = 600;
    const ExpectedTime time = state_.expectedTime(runs);
    if (time.seconds <= kMaxUnconfirmed_s) return work();
    auto* question = new QMessageBox(this);
    question->setObjectName(QStringLiteral("long_work_question"));
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setIcon(QMessageBox::Question);
    question->setWindowTitle(tr("This takes a long time"));
    question->setText(tr("%1: %2.").arg(what, expectedTimeText(time)));
    question->setInformativeText(
        tr("This machine: %1. Training would end %2. It continues if this window is closed, and can be "
           "stopped and resumed at any time.")
            .arg(QString::fromStdString(machineName()), clockTimeText(time.seconds)));
    auto* agree = question->addButton(verb, QMessageBox::AcceptRole);
    question->addButton(QMessageBox::Cancel);
    question->setDefaultButton(QMessageBox::Cancel);
    connect(agree, &QPushButton::clicked, this, work);
    question->open();
}

void TrainingPage::addActions(Actions& actions) {
    const QString group = tr("Training");
    actions.add(group, tr("Watch RoPER learn sooner"), {}, [this] {
        demonstration_->chooser()->setCurrentIndex(0);
        demonstration_->startButton()->click();
    });
    actions.add(group, tr("Start"), {}, [this] { start_->click(); });
    actions.add(group, tr("Start as twins"), Qt::CTRL | Qt::Key_Return, [this] { twins_->click(); });
    actions.add(group, tr("Queue twins with several seeds"), {}, [this] { queue_twins_->click(); });
    actions.add(group, tr("Pause the selected run"), {}, [this] { runs_->pauseButton()->click(); });
    actions.add(group, tr("Stop the selected run"), {}, [this] { runs_->stopButton()->click(); });
    actions.add(group, tr("Checkpoint now"), {}, [this] { runs_->send(Command::checkpoint); });
    actions.add(group, tr("Resume the selected run"), {}, [this] { runs_->resumeSelected(); });
    actions.add(group, tr("Add a chart"), {}, [this] { metrics_->addChart(); });
    actions.add(group, tr("Show all settings"), {}, [this] { chooser_->setCurrentIndex(1); });
}

}  // namespace roper
