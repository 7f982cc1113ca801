#include "ui/pages/inspect/snapshots_panel.h"

#include <QSignalBlocker>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/charts/csv_text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/published_models.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/appearance.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// Index of the snapshot at a step; without a step, of the last. @throws Error (usage) naming existing steps
int snapshotOf(const InspectState& state, std::optional<std::int64_t> step) {
    const auto steps = stepsOf(state.snapshots().files());
    if (steps.empty()) throw Error(ErrorKind::usage, "the run has no snapshots; name a text: --set text=…");
    if (!step) return static_cast<int>(steps.size()) - 1;
    const auto found = std::ranges::find(steps, *step);
    if (found != steps.end()) return static_cast<int>(found - steps.begin());
    const auto names = mapped(steps, [](std::int64_t one) { return std::to_string(one); });
    throw Error(ErrorKind::usage,
                "the run has no snapshot at step " + std::to_string(*step) + "; it has " + join(names, ", "));
}

/// Sort orders of heads, in the order of the combo box.
enum class HeadOrder { by_index, entropy, distance, diagonal };

/// Numbers by which heads are sorted, ascending; empty: by layer and head.
std::vector<double> numbersOf(const HeadMaps& maps, HeadOrder order) {
    std::vector<double> numbers;
    if (order == HeadOrder::by_index) return numbers;
    for (const HeadStatistics& s : maps.statistics)
        numbers.push_back(order == HeadOrder::entropy    ? s.entropy
                          : order == HeadOrder::distance ? s.mean_distance
                                                         : -s.diagonal);  // descending
    return numbers;
}

/// Attention of all heads in the shown snapshot, or on the current text.
class SnapshotHeads : public HeadsView {
  public:
    using HeadsView::HeadsView;

    QString figureName() const override { return QStringLiteral("heads"); }

    QString figureCsv() const override {
        CsvText csv(QStringLiteral("layer,head,entropy_nats,mean_distance,diagonal_share,diagonal_distance"));
        const auto maps = state().maps();
        for (const int head : ordered()) {
            const HeadStatistics& s = maps->statistics[static_cast<std::size_t>(head)];
            csv.line(head / maps->heads, head % maps->heads, s.entropy, s.mean_distance, s.diagonal,
                     s.diagonal_distance);
        }
        return csv.text();
    }

    QString figureCaption() const override {
        const auto maps = state().maps();
        if (maps == nullptr) return {};
        return tr("Attention of all heads of %1, each scaled to its largest weight; text “%2”")
            .arg(modelAtStep(state().title(), maps->step), QString::fromStdString(maps->text));
    }

  protected:
    std::shared_ptr<const HeadThumbnails> heads() const override {
        const auto maps = state().maps();
        return maps == nullptr ? nullptr : std::shared_ptr<const HeadThumbnails>(maps, &maps->thumbnails);
    }

    QString placeholderText() const override {
        const QString& problem = state().snapshots().problem();
        if (!problem.isEmpty()) return problem;
        return state().placeholder(
            state().model().isEmpty()
                ? tr("Choose a run.\nIf there are none, train one on the Training page first.")
            : isPublishedModel(state().model())
                ? tr("Type a text and press “Read” to see every head's attention to it.")
                : tr("This run has no snapshots yet, or takes none (snapshots.every = 0).\nType a text "
                     "and press “Read” to see how the newest weights attend to it."));
    }

    QString describe(int layer, int head) const override {
        const auto maps = state().maps();
        const HeadStatistics& s = maps->statistics[maps->indexOf(layer, head)];
        return tr("%1: entropy %2 nats, mean distance %3; distance %4 has %5 % of the weight on average")
            .arg(headTitle(layer, head), numberText(s.entropy, 4), numberText(s.mean_distance, 4))
            .arg(s.diagonal_distance)
            .arg(numberText(100 * s.diagonal, 3));
    }
};

}  // namespace

SnapshotsPanel::SnapshotsPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Snapshots"), tr("Heads over training"), models, parent),
      thumbnails_(new SnapshotHeads(models.state, this)),
      comparison_thumbnails_(new SnapshotHeads(models.comparison, this)),
      map_(new HeatMapView(QStringLiteral("head"), this)),
      comparison_map_(new HeatMapView(QStringLiteral("head"), this)) {
    makeControls();
    map_->setEmptyText(tr("The chosen head is shown here, with its tokens."));
    comparison_thumbnails_area_ = titled(comparison_thumbnails_title_, comparison_thumbnails_);
    comparison_area_ = titled(comparison_title_, comparison_map_);
    auto* thumbnails = makeSplitter(
        Qt::Vertical, {titled(thumbnails_title_, thumbnails_), comparison_thumbnails_area_}, {400, 400});
    auto* columns = makeSplitter(Qt::Horizontal, {thumbnails, titled(map_title_, map_), comparison_area_},
                                 {520, 640, 640});
    columnOf({makeFlowRow({order_, read_weights_, back_}),
              {columns, 1},
              rowOf({play_, {scrubber_, 1}, scrubber_label_})},
             this);
    connectModels();
    forwardReadouts(thumbnails_, comparison_thumbnails_, map_, comparison_map_);
    SnapshotsPanel::refresh();  // hides the comparison until there is one
}

AnswerSpecs SnapshotsPanel::answersForMaps(const InspectState& state) {
    return state.readsMaps() ? AnswerSpecs{&answers::model, &answers::maps} : AnswerSpecs{&answers::model};
}

void SnapshotsPanel::makeControls() {
    scrubber_ = named(new QSlider(Qt::Horizontal), tr("Step of the snapshot"),
                      tr("Drag from the first step to the last to see heads form"));
    scrubber_->setPageStep(1);
    scrubber_label_ = new QLabel;
    scrubber_label_->setMinimumWidth(150);
    play_ = named(new QPushButton(tr("Play")), tr("Play"), tr("Show the snapshots one after the other"));
    order_ = named(new QComboBox, tr("Order of the heads"), tr("The order of the small maps"));
    order_->addItems({tr("by layer and head"), tr("most certain first (entropy)"),
                      tr("nearest first (mean distance)"), tr("clearest diagonal first")});
    read_weights_ =
        named(new QPushButton(tr("Show maps of the text above")), tr("Show maps of the text above"),
              tr("Show what the model's heads do with the text, at the chosen step or as it trains"));
    back_ = named(new QPushButton(tr("Back to the snapshots")), tr("Back to the snapshots"),
                  tr("Snapshots show the same text at every step"));
    connect(scrubber_, &QSlider::valueChanged, &state(), &InspectState::showSnapshot);
    connect(play_, &QPushButton::clicked, this, &SnapshotsPanel::play);
    connect(order_, &QComboBox::currentIndexChanged, this, &SnapshotsPanel::refresh);
    connect(read_weights_, &QPushButton::clicked, this, &SnapshotsPanel::readCurrentWeights);
    connect(back_, &QPushButton::clicked, this,
            [this] { state().showSnapshot(state().snapshots().shown()); });
}

void SnapshotsPanel::connectModels() {
    for (InspectState* one : {&state(), &comparison()}) {
        connect(one, &InspectState::answerOrProgressChanged, this, &SnapshotsPanel::refreshWhenVisible);
        connect(one, &InspectState::snapshotsChanged, this, &ModelPanel::requiredAnswersChanged);
        for (auto signal : {&InspectState::modelChanged, &InspectState::snapshotsChanged})
            connect(one, signal, this, &SnapshotsPanel::followComparison);
    }
    for (HeadsView* thumbnails : {thumbnails_, comparison_thumbnails_}) {
        connect(thumbnails, &HeadsView::headChosen, &state(), &InspectState::setHead);
        offerHeads(*thumbnails, [thumbnails](const QPointF& at) { return thumbnails->headAt(at); });
    }
    for (HeatMapView* map : {map_, comparison_map_})
        connect(map, &HeatMapView::cellHovered, this,
                [this, map](int row, int column) { emit hovered(weightAt(map->map(), row, column)); });
    connect(&player_, &QTimer::timeout, this, [this] {
        const int next = state().snapshots().shown() + 1;
        if (next >= state().snapshots().count()) return play();
        state().showSnapshot(next);
    });
}

PageFigures::Figures SnapshotsPanel::figures() const {
    PageFigures::Figures all{thumbnails_, map_};
    if (hasComparison()) all.insert(all.end(), {comparison_thumbnails_, comparison_map_});
    return all;
}

void SnapshotsPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    if (!picture.question.text.empty()) {
        state().setStep(picture.step);
        state().setText(QString::fromStdString(picture.question.text));
        state().readMaps();
        waitWhile([&] { return state().isAsking(); }, "the answer of the model");
    } else {
        state().showSnapshot(snapshotOf(state(), picture.step));
    }
    for (const QString& problem : {state().message(), state().snapshots().problem()})
        if (!problem.isEmpty()) throw Error(ErrorKind::usage, problem.toStdString());
    const auto maps = state().maps();
    state().setHead(checkedBelow("layer", picture.question.layer.value_or(0), maps->layers),
                    checkedBelow("head", picture.question.head.value_or(0), maps->heads));
}

void SnapshotsPanel::play() {
    const Snapshots& snapshots = state().snapshots();
    if (player_.isActive()) {
        player_.stop();
    } else if (snapshots.count() > 1) {
        if (snapshots.shown() + 1 >= snapshots.count()) state().showSnapshot(0);
        constexpr int kFrame_ms = 350;
        player_.start(frameInterval(kFrame_ms));
    }
    play_->setText(player_.isActive() ? tr("Pause") : tr("Play"));
}

void SnapshotsPanel::readCurrentWeights() {
    state().readMaps();
    if (hasComparison()) comparison().readMaps();
}

void SnapshotsPanel::refresh() {
    thumbnails_title_->setText(state().title());
    thumbnails_title_->setVisible(hasComparison());
    comparison_thumbnails_title_->setText(comparison().title());
    for (QWidget* widget : {comparison_thumbnails_area_, comparison_area_})
        widget->setVisible(hasComparison());
    const bool asks = state().isAsking(answers::maps) || comparison().isAsking(answers::maps);
    read_weights_->setText(asks ? tr("…") : tr("Show maps of the text above"));
    read_weights_->setEnabled(!state().model().isEmpty() && !state().text().isEmpty());
    showSnapshots();
    showMapOf(state(), *thumbnails_, *map_, *map_title_);
    showMapOf(comparison(), *comparison_thumbnails_, *comparison_map_, *comparison_title_);
}

void SnapshotsPanel::showSnapshots() {
    const QSignalBlocker moving(scrubber_);
    const Snapshots& snapshots = state().snapshots();
    const auto maps = state().maps();
    const int count = snapshots.count();
    scrubber_->setRange(0, std::max(0, count - 1));
    scrubber_->setValue(std::max(0, snapshots.shown()));
    scrubber_->setEnabled(count > 1);
    play_->setEnabled(count > 1);
    back_->setVisible(state().readsMaps() && count > 0);
    scrubber_label_->setText(
        isPublishedModel(state().model()) ? QString()
        : count == 0                      ? tr("no snapshots")
        : maps == nullptr                 ? tr("%1 snapshots").arg(count)
        : state().readsMaps()
            ? tr("your text at step %1").arg(maps->step)
            : tr("step %1 (snapshot %2 of %3)").arg(maps->step).arg(snapshots.shown() + 1).arg(count));
}

void SnapshotsPanel::showMapOf(const InspectState& state, HeadsView& thumbnails, HeatMapView& map,
                               QLabel& title) const {
    const auto maps = state.maps();
    if (maps == nullptr) {
        title.clear();
        return map.setMap({});
    }
    thumbnails.setSortedBy(numbersOf(*maps, static_cast<HeadOrder>(order_->currentIndex())));
    const QString head = headTitle(state.layer(), state.head());
    title.setText((hasComparison() ? state.title() + QStringLiteral(": ") : QString()) +
                  (maps->step < 0 ? head
                   : state.readsMaps()
                       ? tr("%1, step %2").arg(head).arg(maps->step)
                       : tr("%1, step %2, text recorded in training").arg(head).arg(maps->step)));
    title.setToolTip(title.text());
    map.setCaption(
        tr("Attention of %1 of %2, text “%3”")
            .arg(head, modelAtStep(state.title(), maps->step), QString::fromStdString(maps->text)));
    // The visible part of the map is kept while the step changes.
    map.setMap(attentionMap(maps->weights[maps->indexOf(state.layer(), state.head())], maps->causal,
                            formatTokens(maps->tokens), state.windowOf(state.layer())));
}

/// Shows the comparison run's snapshot at the same step, or the nearest, unless the current text is shown.
void SnapshotsPanel::followComparison() {
    const auto maps = state().maps();
    if (!hasComparison() || state().readsMaps() || maps == nullptr) return;
    const int same = nearestStep(stepsOf(comparison().snapshots().files()), maps->step);
    if (same >= 0 && (same != comparison().snapshots().shown() || comparison().readsMaps()))
        comparison().showSnapshot(same);
}

}  // namespace roper
