#include "ui/pages/attention/mistake_explanation_dialog.h"

#include <QEvent>

#include "ui/controls/layout_helpers.h"
#include "ui/explorer/mistake_explanation.h"
#include "ui/explorer/mistake_text.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr int kMaxShift = 64, kStep_ms = 120;

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
    shift_->setAccessibleName(tr("Move the sentence by S"));
    shift_->setToolTip(tr("Drag S from −64 to 64: in the correct form, nothing changes"));
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

}  // namespace roper
