#include "ui/pages/training/demonstration_card.h"

#include "core/base/error.h"
#include "core/compare/grouping.h"
#include "core/compare/outcome.h"
#include "core/compare/paired.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/run_store.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

struct Demonstration {
    const char *preset, *title, *start;  ///< name of the preset, entry of the list, label of the button
    const char* trains;                  ///< what it trains; %1: expected time
};
constexpr Demonstration kDemonstrations[] = {
    {"copy-quick", QT_TRANSLATE_NOOP("roper::DemonstrationCard", "RoPE and RoPER"),
     QT_TRANSLATE_NOOP("roper::DemonstrationCard", "Watch RoPER learn sooner"),
     QT_TRANSLATE_NOOP("roper::DemonstrationCard",
                       "Trains RoPE and RoPER to copy the same strings, in about %1.")},
    {"shared-quick", QT_TRANSLATE_NOOP("roper::DemonstrationCard", "Why DeepSeek V4 rotates back"),
     QT_TRANSLATE_NOOP("roper::DemonstrationCard", "Watch it with and without"),
     QT_TRANSLATE_NOOP(
         "roper::DemonstrationCard",
         "One vector is key and value for all heads, so values rotate with the keys. Trains one model "
         "that rotates the output back (RoPER) and one that does not (RoPE), in about %1.")}};

constexpr int kRefreshInterval_ms = 200;
constexpr double kRaceTarget = 0.9;  // fraction of solved problems that is to be reached first

}  // namespace

DemonstrationCard::DemonstrationCard(TrainingState& state, QWidget* parent)
    : QFrame(parent),
      state_(state),
      chooser_(named(new QComboBox, tr("Demonstration"), tr("What the demonstration shows"))),
      sentence_(wrappedLabel()),
      evidence_(wrappedLabel()),
      start_(makeActionButton({}, {}, this, [this] { emit startRequested(*specification_); })),
      inspect_(makeActionButton(tr("Inspect what it learned"),
                                tr("Attention of the model trained with RoPER"), this,
                                [this] { emit inspectRequested(roper_run_, true); })),
      compare_(makeActionButton(
          tr("Compare"), tr("These two runs, and those with other seeds, on the Compare page"), this,
          [this] { emit compareRequested(QString::fromStdString(specification_->about.title)); })),
      more_seeds_(makeActionButton(tr("More seeds"),
                                   tr("Queue both methods for six seeds: a single pair of runs shows little"),
                                   this, [this] { emit moreSeedsRequested(*specification_); })) {
    setFrameShape(QFrame::StyledPanel);
    setAccessibleName(tr("Demonstration"));
    for (const Demonstration& one : kDemonstrations)
        chooser_->addItem(tr(one.title));
    chooser_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);  // as narrow as needed
    sentence_->setAccessibleName(tr("Result of the demonstration"));
    start_->setFont(boldFont(start_->font()));
    columnOf({chooser_, start_, sentence_, evidence_, makeFlowRow({inspect_, compare_, more_seeds_})}, this);
    inspect_->parentWidget()->hide();
    timer_.setSingleShot(true);
    timer_.setInterval(kRefreshInterval_ms);
    connect(&timer_, &QTimer::timeout, this, &DemonstrationCard::refresh);
    connect(&state_.store(), &RunStore::changed, this, [this] {
        if (!timer_.isActive()) timer_.start();
    });
    connect(chooser_, &QComboBox::currentIndexChanged, this, &DemonstrationCard::load);
    load();
    setVisible(specification_.has_value());
}

void DemonstrationCard::load() {
    try {
        specification_ = loadPreset(kDemonstrations[chooser_->currentIndex()].preset).specification;
        evidence_->setText(QString::fromStdString(specification_->about.evidence));
    } catch (const Error& error) {
        specification_.reset();
        sentence_->setText(QString::fromUtf8(error.what()));
        start_->setEnabled(false);
    }
    refresh();
}

/// Sets the minimum height, because QSplitter ignores the height for width of wrapped texts.
void DemonstrationCard::reserveTextHeight() {
    setMinimumHeight(layout()->totalMinimumHeightForWidth(width()));
}

void DemonstrationCard::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    reserveTextHeight();
}

/// The newest run of the demonstration with this method; null if there is none.
const RunWatcher* DemonstrationCard::newest(const std::string& position) const {
    const Specification wanted = withPosition(*specification_, position);
    const RunWatcher* found = nullptr;
    for (const RunWatcher* run : state_.store().runs()) {
        const auto& s = run->specification();
        // Cheap comparisons come first, since there may be a thousand runs.
        if (!s || s->about.title != wanted.about.title || s->model.position != position ||
            s->training.data_seed != wanted.training.data_seed ||
            s->training.model_seed != wanted.training.model_seed || groupKey(*s) != groupKey(wanted))
            continue;
        if (found == nullptr || run->createdAt_s() > found->createdAt_s()) found = run;
    }
    return found;
}

void DemonstrationCard::refresh() {
    if (!specification_) return;
    const Demonstration& shown = kDemonstrations[chooser_->currentIndex()];
    const RunWatcher *rope_run = newest("rope"), *roper_run = newest("roper");
    const auto rope = recordOf(rope_run), roper = recordOf(roper_run);
    roper_run_ = roper ? roper_run->name() : QString();
    const bool both = rope && roper;
    const auto is_active = [](const RunRecord& run) {
        return run.state == RunState::running || run.state == RunState::queued ||
               run.state == RunState::paused;
    };
    const bool is_training = both && (is_active(*rope) || is_active(*roper));
    const bool is_done = both && rope->state == RunState::finished && roper->state == RunState::finished;
    if (both) {
        sentence_->setText(QString::fromStdString(twinSentence(*rope, *roper, kRaceTarget)));
    } else {
        const std::vector<Specification> twins = twinsOf(*specification_);
        sentence_->setText(tr(shown.trains).arg(shortDuration(state_.expectedTime(twins).seconds)));
    }
    const QString lack = state_.memoryShortage(*specification_, 2);
    start_->setEnabled(!is_training && lack.isEmpty());
    start_->setText(is_done ? tr("Watch again") : tr(shown.start));
    start_->setToolTip(
        lack.isEmpty() ? tr("Train RoPE and RoPER at the same time, and show only these two in the charts")
                       : lack);
    evidence_->setVisible(!is_training && !evidence_->text().isEmpty() && is_done);
    if (is_done && inspect_->parentWidget()->isHidden()) {
        const double seconds = (kMinPairs - 1) * state_.expectedTime(twinsOf(*specification_)).seconds;
        more_seeds_->setText(tr("More seeds (%1)").arg(shortDuration(seconds)));
    }
    inspect_->parentWidget()->setVisible(is_done);
    reserveTextHeight();
}

}  // namespace roper
