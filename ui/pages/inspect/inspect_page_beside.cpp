#include <algorithm>
#include <cstdlib>

#include "ui/live/run_records.h"
#include "ui/pages/inspect/inspect_page.h"
#include "ui/theme/numbers.h"

// Another run beside the one that is looked into.

namespace roper {
namespace {

/// The place of the step that is nearest; −1 if there is none.
int nearest(const std::vector<std::int64_t>& steps, std::int64_t step) {
    const auto found = std::min_element(steps.begin(), steps.end(), [step](std::int64_t a, std::int64_t b) {
        return std::abs(a - step) < std::abs(b - step);
    });
    return found == steps.end() ? -1 : static_cast<int>(found - steps.begin());
}

std::vector<std::int64_t> stepsOf(const std::vector<StepFile>& files) {
    std::vector<std::int64_t> steps;
    for (const StepFile& file : files)
        steps.push_back(file.step);
    return steps;
}

}  // namespace

void InspectPage::connectBeside() {
    connect(beside_, &QComboBox::activated, this,
            [this](int index) { setBeside(beside_->itemData(index).toString()); });
    connect(beside_state_, &InspectState::runChanged, this, &InspectPage::showBeside);
    connect(beside_state_, &InspectState::messageChanged, this, &InspectPage::showMessage);
    for (auto signal : {&InspectState::mapsChanged, &InspectState::headChanged})
        connect(beside_state_, signal, this,
                [this] { showMapOf(*beside_state_, *beside_map_, *beside_title_); });
    // Of both the same head and step are shown, whichever is chosen.
    connect(beside_state_, &InspectState::headChanged, this,
            [this] { state_->setHead(beside_state_->head()); });
    // A run shows its newest snapshot when it is chosen, and when it has left one more.
    connect(beside_state_, &InspectState::mapsChanged, this, &InspectPage::followBeside);
    for (auto signal : {&InspectState::mapsChanged, &InspectState::headChanged})
        connect(state_, signal, this, &InspectPage::followBeside);
    connect(state_, &InspectState::runChanged, this, [this] {
        if (!state_->run().isEmpty() && beside_state_->run() == state_->run())
            setBeside({});  // which shows it
        else
            showBeside();
    });
    // Hundreds of runs come at a time; the list is made once.
    beside_listing_.setSingleShot(true);
    connect(&beside_listing_, &QTimer::timeout, this, &InspectPage::fillBeside);
    showBeside();
}

void InspectPage::fillBeside() {
    beside_listing_.stop();
    const QScopedValueRollback filling(filling_, true);
    beside_->clear();
    beside_->addItem(tr("nothing beside"), QString());
    const QString twin = twinNameOf(store_, state_->run());
    if (!twin.isEmpty()) beside_->addItem(tr("its twin, %1").arg(methodOf(twin)), twin);
    for (const RunWatcher* run : store_.runs())
        if (run->specification() && run->name() != state_->run() && run->name() != twin)
            beside_->addItem(run->name(), run->name());
    beside_->setCurrentIndex(std::max(0, beside_->findData(beside_state_->run())));
    beside_->setEnabled(beside_->count() > 1);
}

QString InspectPage::methodOf(const QString& run) const {
    const RunWatcher* watcher = store_.find(run);
    return watcher != nullptr && watcher->specification()
               ? QString::fromStdString(watcher->specification()->methodTitle())
               : run;
}

void InspectPage::setBeside(const QString& run) {
    beside_state_->setRun(run);
}

void InspectPage::inspect(const QString& run, bool with_twin) {
    state_->setRun(run);
    setBeside(with_twin ? twinNameOf(store_, run) : QString());
}

/// The checkpoint that is asked is that of the same step, or the nearest.
void InspectPage::matchCheckpoint() {
    std::optional<std::int64_t> step = state_->step();
    const std::vector<std::int64_t> there = beside_state_->checkpoints();
    if (step && !there.empty()) step = there[static_cast<std::size_t>(nearest(there, *step))];
    beside_state_->setStep(step);
}

void InspectPage::showBeside() {
    fillBeside();
    const bool is_there = !beside_state_->run().isEmpty();
    for (QLabel* title : {small_title_, text_title_}) {
        title->setText(state_->run());
        title->setVisible(is_there);
    }
    for (QLabel* title : {beside_small_title_, beside_text_title_})
        title->setText(beside_state_->run());
    for (QWidget* widget :
         std::initializer_list<QWidget*>{beside_small_, beside_large_, beside_text_, beside_sizes_})
        widget->setVisible(is_there);
    for (SizesView* view : {sizes_, beside_sizes_})
        view->setNamed(is_there);
    showMapOf(*state_, *map_, *map_title_);
    showMessage();
    followBeside();
}

/// The snapshot of the same step, or of the nearest, and the same head.
void InspectPage::followBeside() {
    if (beside_state_->run().isEmpty() || !state_->maps()) return;
    // While both are asked about a text, the one that answers first is not taken back to its snapshot.
    if (state_->showsSnapshot() && !state_->isAsking()) {
        const int same = nearest(stepsOf(beside_state_->snapshots()), state_->maps()->step);
        if (same >= 0 && (same != beside_state_->snapshot() || !beside_state_->showsSnapshot()))
            beside_state_->showSnapshot(same);
    }
    beside_state_->setHead(state_->head());
}

QString InspectPage::pointedText(const InspectState& state, int row, int column) const {
    if (!state.maps() || row < 0) return {};
    const std::vector<std::string>& tokens = state.maps()->tokens;
    return tr("query %1 “%2”    key %3 “%4”    weight %5    distance %6")
        .arg(row)
        .arg(QString::fromStdString(tokens[static_cast<std::size_t>(row)]))
        .arg(column)
        .arg(QString::fromStdString(tokens[static_cast<std::size_t>(column)]))
        .arg(noteNumber((*state.maps()->weights[state.head()])(row, column)))
        .arg(row - column);
}

}  // namespace roper
