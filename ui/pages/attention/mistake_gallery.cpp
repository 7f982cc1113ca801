#include "ui/pages/attention/mistake_gallery.h"

#include <QScopedValueRollback>
#include <QToolButton>

#include "ui/controls/build.h"
#include "ui/explorer/mistake_text.h"

namespace roper {
namespace {

constexpr int kMeasuredTokens = 64;
constexpr int kRest_ms = 120;

QString residualText(double value) {
    return QString::number(value, 'g', value < 1e-9 ? 1 : 2).replace('-', QChar(0x2212));
}

/// The first tokens of a text, enough to measure the effect of a mistake.
HeadVectors firstTokens(const HeadVectors& heads) {
    const Eigen::Index kept = std::min<Eigen::Index>(heads.tokens(), kMeasuredTokens);
    return {heads.Q.topRows(kept), heads.K.topRows(kept), heads.V.topRows(kept)};
}

}  // namespace

MistakeGallery::MistakeGallery(AttentionState& state, QWidget* parent) : QWidget(parent), state_(state) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(1);
    for (const Mistake mistake : kMistakes) {
        const MistakeText text = describe(mistake);
        auto* box = new QCheckBox(text.name);
        box->setAccessibleName(tr("Mistake: %1").arg(text.name));
        box->setToolTip(text.what + (isSeenByShift(mistake)
                                         ? tr(".\nMoving all positions shows it.")
                                         : tr(".\nMoving all positions does not show it: scores still depend "
                                              "on distance alone, but on the wrong one.")));
        QLabel* residual = faintLabel();
        residual->setWordWrap(false);
        residual->setContentsMargins(22, 0, 0, 2);
        residual->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        residual->setToolTip(tr("Largest change of a score or output when all positions move, and against "
                                "the right form; measured on the first %1 tokens")
                                 .arg(kMeasuredTokens));
        auto* story = new QToolButton;
        story->setText(tr("Story"));
        story->setAutoRaise(true);
        story->setAccessibleName(tr("Story: %1").arg(text.name));
        story->setToolTip(tr("Right and wrong side by side, in code, and where it was seen"));
        connect(story, &QToolButton::clicked, this, [this, mistake] { tellStory(mistake); });
        layout->addLayout(rowOf({{box, 1}, story}));
        layout->addWidget(residual);
        rows_[mistake] = {box, residual};
        connect(box, &QCheckBox::toggled, this, [this, mistake](bool on) { choose(mistake, on); });
    }
    rest_.setSingleShot(true);
    rest_.setInterval(kRest_ms);
    connect(&rest_, &QTimer::timeout, this, &MistakeGallery::measure);
    connect(&state_, &AttentionState::changed, this, &MistakeGallery::follow);
    follow();
}

void MistakeGallery::tellStory(Mistake mistake) {
    if (story_ == nullptr) story_ = new MistakeStoryDialog(state_, this);
    story_->tell(mistake);
}

void MistakeGallery::choose(Mistake mistake, bool on) {
    if (showing_) return;
    state_.selection().change(tr("Mistake"), [&](Setup& s) {
        s.mistake = on ? mistake : Mistake::none;
        // Switches to the map that shows the mistake.
        if (on) s.map = isSeenByShift(mistake) ? MapKind::shift_difference : MapKind::form_difference;
    });
}

void MistakeGallery::follow() {
    const QScopedValueRollback showing(showing_, true);
    const Setup& s = state_.setup();
    for (const auto& [mistake, row] : rows_) {
        const bool applies = isAboutValues(mistake) ? s.positionMethod().rotates_values : s.rotates();
        row.box->setChecked(s.mistake == mistake);
        row.box->setEnabled(applies || s.mistake == mistake);  // an active mistake can always be switched off
        if (!applies)
            row.residual->setText(isAboutValues(mistake) ? tr("needs RoPER: only it rotates values")
                                                         : tr("this method rotates nothing"));
    }
    if (!state_.isReady())
        for (const auto& [mistake, row] : rows_)
            row.residual->clear();
    if (isVisible()) rest_.start();
}

void MistakeGallery::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    rest_.start();
}

/// Measures the effect of each mistake that the map shows: on scores, or on outputs if it concerns values.
void MistakeGallery::measure() {
    if (!state_.isReady()) return;
    const HeadVectors heads = firstTokens(state_.heads());
    Setup setup = state_.setup();
    const double shift = setup.shift == 0 ? kExampleShift : setup.shift;
    for (const auto& [mistake, row] : rows_) {
        const bool applies = isAboutValues(mistake) ? setup.positionMethod().rotates_values : setup.rotates();
        if (!applies) continue;
        setup.mistake = mistake;
        const auto seen = [about_values = isAboutValues(mistake)](const Residual& residual) {
            return residualText(about_values ? residual.outputs : residual.scores);
        };
        row.residual->setText(tr("moved: %1   wrong by: %2")
                                  .arg(seen(shiftResidual(setup, heads, shift)),
                                       seen(formResidual(setup, heads, state_.setup().shift))));
    }
}

}  // namespace roper
