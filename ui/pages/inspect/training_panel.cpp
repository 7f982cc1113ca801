#include "ui/pages/inspect/training_panel.h"

#include <QScopedValueRollback>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/controls/named.h"
#include "ui/live/published_models.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/models_fields.h"
#include "ui/theme/motion.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// A number that must be below a count. @throws Error (usage)
std::int64_t below(const std::string& key, std::int64_t number, std::int64_t count) {
    if (number < count) return number;
    throw Error(ErrorKind::usage, key + " must be a whole number from 0 to " + std::to_string(count - 1) +
                                      ", not \"" + std::to_string(number) + "\"");
}

/// The snapshot of a step. @throws Error (usage) naming those that there are
int snapshotOf(const InspectState& run, std::optional<std::int64_t> step) {
    const auto& snapshots = run.snapshots();
    std::vector<std::string> steps;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        if (step && snapshots[i].step == *step) return static_cast<int>(i);
        steps.push_back(std::to_string(snapshots[i].step));
    }
    if (steps.empty()) throw Error(ErrorKind::usage, "the run has no snapshots; name a text: --set text=…");
    if (!step) return static_cast<int>(snapshots.size()) - 1;
    throw Error(ErrorKind::usage,
                "the run has no snapshot at step " + std::to_string(*step) + "; it has " + join(steps, ", "));
}

}  // namespace

TrainingPanel::TrainingPanel(ModelsState& state, InspectState& run, InspectState& beside, QWidget* parent)
    : ModelPanel(tr("Heads over training"), state, parent),
      run_(run),
      beside_(beside),
      thumbnails_(new ThumbnailsView(run, this)),
      beside_thumbnails_(new ThumbnailsView(beside, this)),
      map_(new HeatMapView(QStringLiteral("head"), this)),
      beside_map_(new HeatMapView(QStringLiteral("head"), this)) {
    makeControls();
    map_->setEmptyText(tr("The chosen head is shown here, with its tokens."));
    auto* small = splitter(
        Qt::Vertical,
        {titled(small_title_, thumbnails_), beside_small_ = titled(beside_small_title_, beside_thumbnails_)},
        {400, 400});
    auto* pictures = splitter(
        Qt::Horizontal, {small, titled(map_title_, map_), beside_large_ = titled(beside_title_, beside_map_)},
        {520, 640, 640});
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({order_, look_, back_}));
    layout->addWidget(pictures, 1);
    layout->addLayout(row({{play_, 0}, {scrubber_, 1}, {scrubber_label_, 0}}));
    connectRuns();
    hear(thumbnails_, beside_thumbnails_, map_, beside_map_);
    TrainingPanel::refresh();  // what stands beside takes no room until it is there
}

void TrainingPanel::makeControls() {
    scrubber_ = named(new QSlider(Qt::Horizontal), tr("Step of the snapshot"),
                      tr("Drag from the first step to the last and see heads form"));
    scrubber_->setPageStep(1);
    scrubber_label_ = new QLabel;
    scrubber_label_->setMinimumWidth(150);
    play_ = named(new QPushButton(tr("Play")), tr("Play"), tr("Show the snapshots one after the other"));
    order_ = named(new QComboBox, tr("Order of the heads"), tr("What comes first among the small maps"));
    order_->addItems({tr("by layer and head"), tr("most certain first (entropy)"),
                      tr("nearest first (mean distance)"), tr("clearest diagonal first")});
    look_ = named(new QPushButton(tr("Read the text above")), tr("Look"),
                  tr("Ask the model, at its step or as it trains, what its heads do with the text"));
    back_ = named(new QPushButton(tr("Back to the snapshots")), tr("Back to the snapshots"),
                  tr("Snapshots are of the same text at every step"));
    connect(scrubber_, &QSlider::valueChanged, this, [this](int value) {
        if (!filling_) run_.showSnapshot(value);
    });
    connect(play_, &QPushButton::clicked, this, &TrainingPanel::play);
    connect(order_, &QComboBox::currentIndexChanged, this, [this](int index) {
        for (InspectState* run : {&run_, &beside_})
            run->setOrder(static_cast<HeadOrder>(index));
    });
    connect(look_, &QPushButton::clicked, this, &TrainingPanel::look);
    connect(back_, &QPushButton::clicked, this, [this] { run_.showSnapshot(run_.snapshot()); });
}

void TrainingPanel::connectRuns() {
    for (InspectState* run : {&run_, &beside_}) {
        for (auto signal :
             {&InspectState::runChanged, &InspectState::snapshotsChanged, &InspectState::mapsChanged,
              &InspectState::headChanged, &InspectState::messageChanged})
            connect(run, signal, this, &TrainingPanel::refreshWhenSeen);
        for (auto signal : {&InspectState::runChanged, &InspectState::mapsChanged})
            connect(run, signal, this, &TrainingPanel::followBeside);
    }
    // Of both the same head is shown, whichever is chosen.
    connect(&run_, &InspectState::headChanged, this, [this] { beside_.setHead(run_.head()); });
    connect(&beside_, &InspectState::headChanged, this, [this] { run_.setHead(beside_.head()); });
    for (auto [map, run] : {std::pair{map_, &run_}, std::pair{beside_map_, &beside_}})
        connect(map, &HeatMapView::cellPointed, this,
                [this, run = run](int row, int column) { emit pointed(pointedText(*run, row, column)); });
    connect(&player_, &QTimer::timeout, this, [this] {
        const int next = run_.snapshot() + 1;
        if (next >= static_cast<int>(run_.snapshots().size())) return play();
        run_.showSnapshot(next);
    });
}

PageFigures::Figures TrainingPanel::figures() const {
    PageFigures::Figures all{thumbnails_, map_};
    if (!beside_.run().isEmpty()) all.insert(all.end(), {beside_thumbnails_, beside_map_});
    return all;
}

void TrainingPanel::prepare(const QString&, const ModelsPicture& picture) {
    if (!picture.look.text.empty()) {
        run_.setStep(picture.step);
        run_.askForMaps(QString::fromStdString(picture.look.text));
        waitWhile([&] { return run_.isAsking(); }, "the answer of the model");
    } else {
        run_.showSnapshot(snapshotOf(run_, picture.step));
    }
    if (!run_.message().isEmpty()) throw Error(ErrorKind::usage, run_.message().toStdString());
    const HeadMaps& maps = *run_.maps();
    const std::int64_t layer = below("layer", picture.look.layer.value_or(0), maps.layers),
                       head = below("head", picture.look.head.value_or(0), maps.heads);
    run_.setHead(static_cast<std::size_t>(layer * maps.heads + head));
}

void TrainingPanel::play() {
    if (player_.isActive()) {
        player_.stop();
    } else if (run_.snapshots().size() > 1) {
        if (run_.snapshot() + 1 >= static_cast<int>(run_.snapshots().size())) run_.showSnapshot(0);
        constexpr int kFrame_ms = 350;
        player_.start(frameInterval(kFrame_ms));
    }
    play_->setText(player_.isActive() ? tr("Pause") : tr("Play"));
}

void TrainingPanel::look() {
    run_.askForMaps(state().text());
    if (beside_.run().isEmpty()) return;
    beside_.matchStep(run_);
    beside_.askForMaps(state().text());
}

void TrainingPanel::refresh() {
    const bool is_beside = !beside_.run().isEmpty();
    small_title_->setText(run_.run());
    small_title_->setVisible(is_beside);
    beside_small_title_->setText(beside_.run());
    for (QWidget* widget : {beside_small_, beside_large_})
        widget->setVisible(is_beside);
    const bool asks = run_.isAsking() || beside_.isAsking();
    look_->setText(asks ? tr("…") : tr("Read the text above"));
    look_->setEnabled(!run_.run().isEmpty() && !state().text().isEmpty());
    showSnapshots();
    showMapOf(run_, *map_, *map_title_);
    showMapOf(beside_, *beside_map_, *beside_title_);
}

void TrainingPanel::showSnapshots() {
    const QScopedValueRollback filling(filling_, true);
    const auto count = static_cast<int>(run_.snapshots().size());
    scrubber_->setRange(0, std::max(0, count - 1));
    scrubber_->setValue(std::max(0, run_.snapshot()));
    scrubber_->setEnabled(count > 1);
    play_->setEnabled(count > 1);
    const bool own_text = run_.maps() && !run_.showsSnapshot();
    back_->setVisible(own_text && count > 0);
    scrubber_label_->setText(
        isPublishedModel(run_.run()) ? QString()
        : count == 0                 ? tr("no snapshots")
        : own_text                   ? tr("your text at step %1").arg(run_.maps()->step)
        : run_.maps()
            ? tr("step %1 (snapshot %2 of %3)").arg(run_.maps()->step).arg(run_.snapshot() + 1).arg(count)
            : tr("%1 snapshots").arg(count));
}

void TrainingPanel::showMapOf(const InspectState& run, HeatMapView& view, QLabel& title) const {
    const auto& maps = run.maps();
    const QString of_run = beside_.run().isEmpty() ? QString() : run.run() + QStringLiteral(": ");
    title.setText(!maps ? QString()
                  : maps->step < 0
                      ? of_run + headTitle(*maps, run.head())
                      : of_run + tr("%1, step %2").arg(headTitle(*maps, run.head())).arg(maps->step));
    title.setToolTip(title.text());
    if (!maps) return view.setMap({});
    HeatMapView::Map map;
    map.values = maps->weights[run.head()];
    map.scale = HeatMapView::Scale::sequential;
    map.lower_only = maps->causal;
    map.limit = HeatMapView::limitOf(*map.values, map.lower_only);
    map.pyramid = HeatMapView::makePyramid(*map.values, map.scale, map.limit, map.lower_only);
    map.row_name = tr("query");
    map.column_name = tr("key");
    map.value_name = tr("weight");
    map.row_labels = map.column_labels = shownTokens(maps->tokens);
    view.setCaption(tr("Attention of %1 of %2, text “%3”")
                        .arg(headTitle(*maps, run.head()), modelAtStep(run.run(), maps->step),
                             QString::fromStdString(maps->text)));
    view.setMap(std::move(map));  // the place that is looked at stays while time runs
}

QString TrainingPanel::pointedText(const InspectState& run, int row, int column) const {
    if (!run.maps() || row < 0) return {};
    const std::vector<std::string>& tokens = run.maps()->tokens;
    return tr("query %1 “%2”    key %3 “%4”    weight %5    distance %6")
        .arg(row)
        .arg(QString::fromStdString(tokens[static_cast<std::size_t>(row)]))
        .arg(column)
        .arg(QString::fromStdString(tokens[static_cast<std::size_t>(column)]))
        .arg(noteNumber((*run.maps()->weights[run.head()])(row, column)))
        .arg(row - column);
}

/// The snapshot of the same step, or of the nearest, and the same head.
void TrainingPanel::followBeside() {
    if (beside_.run().isEmpty() || !run_.maps()) return;
    // While both are asked about a text, the one that answers first is not taken back to its snapshot.
    if (run_.showsSnapshot() && !run_.isAsking()) {
        const int same = nearestStep(stepsOf(beside_.snapshots()), run_.maps()->step);
        if (same >= 0 && (same != beside_.snapshot() || !beside_.showsSnapshot())) beside_.showSnapshot(same);
    }
    beside_.setHead(run_.head());
}

}  // namespace roper
