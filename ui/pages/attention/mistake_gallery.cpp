#include "ui/pages/attention/mistake_gallery.h"

#include <QEvent>
#include <QScopedValueRollback>
#include <QToolButton>

#include "ui/controls/layout_helpers.h"
#include "ui/explorer/mistake_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr int kMaxShift = 64, kStep_ms = 120;  // positions; per position of the animated shift
constexpr int kMeasuredTokens = 64;
constexpr int kSettle_ms = 120;  // from the last change of a control to the measurement

/// The first tokens of a text, enough to measure the effect of a mistake.
HeadVectors firstTokens(const HeadVectors& heads) {
    const Eigen::Index kept = std::min<Eigen::Index>(heads.tokens(), kMeasuredTokens);
    return {heads.Q.topRows(kept), heads.K.topRows(kept), heads.V.topRows(kept)};
}

}  // namespace

MistakeExplanationDialog::MistakeExplanationDialog(AttentionState& state, QWidget* parent)
    : QDialog(parent),
      view_(new MistakeArrowsView(state, this)),
      text_(new HtmlView),
      shift_(new QSlider(Qt::Horizontal)),
      play_(new PlayButton(kStep_ms)) {
    resize(980, 560);
    text_->setAccessibleName(tr("Story of the mistake"));
    text_->setFrameShape(QFrame::NoFrame);
    text_->document()->setDocumentMargin(12);
    shift_->setRange(-kMaxShift, kMaxShift);
    named(shift_, tr("Move the sentence by S"),
          tr("Drag S from −64 to 64: in the correct form, nothing changes"));
    play_->setToolTip(tr("Move the sentence step by step"));
    connect(shift_, &QSlider::valueChanged, this, [this](int value) { view_->setShift(value); });
    connect(play_, &PlayButton::next, this,
            [this] { shift_->setValue(shift_->value() < kMaxShift ? shift_->value() + 1 : -kMaxShift); });
    rowOf({{columnOf({{view_, 1}, rowOf({play_, {shift_, 1}})}), 3}, {text_, 2}}, this);
}

void MistakeExplanationDialog::showMistake(Mistake mistake) {
    mistake_ = mistake;
    setWindowTitle(tr("A mistake: %1").arg(describe(mistake).name));
    view_->setMistake(mistake);
    shift_->setValue(0);
    showText();
    show();
    raise();
}

void MistakeExplanationDialog::showText() {
    text_->setHtml(explanationHtml(mistake_, Theme::of(palette()).readable(Theme::roper()).name()));
}

void MistakeExplanationDialog::changeEvent(QEvent* event) {
    QDialog::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) showText();
}

void MistakeExplanationDialog::hideEvent(QHideEvent* event) {
    QDialog::hideEvent(event);
    play_->setChecked(false);
}

MistakeGallery::MistakeGallery(AttentionState& state, QWidget* parent) : QWidget(parent), state_(state) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(1);
    for (const Mistake mistake : kMistakes) {
        const MistakeText& text = describe(mistake);
        auto* box = new QCheckBox(text.name);
        named(box, tr("Mistake: %1").arg(text.name),
              text.what + (isRevealedByShift(mistake)
                               ? tr(".\nShifting all positions reveals it.")
                               : tr(".\nShifting all positions does not reveal it: scores still "
                                    "depend only on distance, but on the wrong one.")));
        QLabel* residual = faintLabel();
        residual->setWordWrap(false);
        residual->setContentsMargins(22, 0, 0, 2);
        residual->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        residual->setToolTip(
            tr("Largest change of a score or output when all positions are shifted, and largest "
               "difference from the correct form; measured on the first %1 tokens")
                .arg(kMeasuredTokens));
        auto* story = new QToolButton;
        story->setText(tr("Story"));
        story->setAutoRaise(true);
        named(story, tr("Story: %1").arg(text.name),
              tr("Correct and incorrect code side by side, and where the mistake occurred"));
        connect(story, &QToolButton::clicked, this, [this, mistake] { openExplanation(mistake); });
        layout->addLayout(rowOf({{box, 1}, story}));
        layout->addWidget(residual);
        rows_[mistake] = {box, residual};
        connect(box, &QCheckBox::toggled, this, [this, mistake](bool on) { choose(mistake, on); });
    }
    settle_timer_.setSingleShot(true);
    settle_timer_.setInterval(kSettle_ms);
    connect(&settle_timer_, &QTimer::timeout, this, &MistakeGallery::measure);
    connect(&state_, &AttentionState::changed, this, &MistakeGallery::onStateChanged);
    onStateChanged();
}

void MistakeGallery::openExplanation(Mistake mistake) {
    if (explanation_dialog_ == nullptr) explanation_dialog_ = new MistakeExplanationDialog(state_, this);
    explanation_dialog_->showMistake(mistake);
}

void MistakeGallery::choose(Mistake mistake, bool on) {
    if (showing_) return;
    state_.selection().change(tr("Mistake"), [&](Setup& s) {
        s.mistake = on ? mistake : Mistake::none;
        // Switches to the map that shows the mistake.
        if (on) s.map = isRevealedByShift(mistake) ? MapKind::shift_difference : MapKind::form_difference;
    });
}

void MistakeGallery::onStateChanged() {
    const QScopedValueRollback showing(showing_, true);
    const Setup& s = state_.setup();
    for (const auto& [mistake, row] : rows_) {
        const bool applies = appliesTo(mistake, s.rotatedTensors());
        row.box->setChecked(s.mistake == mistake);
        row.box->setEnabled(applies || s.mistake == mistake);  // an active mistake can always be switched off
        if (!state_.isReady())
            row.residual->clear();
        else if (!applies)
            row.residual->setText(affectsValues(mistake)
                                      ? tr("needs RoPER: rotated values, outputs rotated back")
                                      : tr("needs rotated queries and keys"));
    }
    if (isVisible()) settle_timer_.start();
}

void MistakeGallery::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    settle_timer_.start();
}

/// Measures the effect of each possible mistake as the map shows it: on scores, or on outputs if it concerns
/// values.
void MistakeGallery::measure() {
    if (!state_.isReady()) return;
    const HeadVectors heads = firstTokens(state_.heads());
    Setup setup = state_.setup();
    const double shift = setup.shift == 0 ? kExampleShift : setup.shift;
    for (const auto& [mistake, row] : rows_) {
        if (!appliesTo(mistake, setup.rotatedTensors())) continue;
        setup.mistake = mistake;
        const auto seen = [compares_outputs = affectsValues(mistake)](const MistakeEffect& residual) {
            const double largest = compares_outputs ? residual.outputs : residual.scores;
            return numberText(largest, largest < 1e-9 ? 1 : 2);
        };
        row.residual->setText(tr("shift: %1   wrong by: %2")
                                  .arg(seen(shiftEffect(setup, heads, shift)),
                                       seen(formEffect(setup, heads, state_.setup().shift))));
    }
}

}  // namespace roper
