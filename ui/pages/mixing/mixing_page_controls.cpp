#include "ui/explorer/example_list.h"
#include "ui/explorer/source_controls.h"
#include "ui/pages/mixing/mixing_page.h"
#include "ui/pages/mixing/mixing_text.h"

// Controls of the Value mixing page.

namespace roper {
namespace {

constexpr double kBlendStep = 0.02;  // change of the blend per frame of the animation

}  // namespace

void MixingPage::fillPanel() {
    addExamples(*panel_, "value-mixing", [this](const ViewSettings& view) { setViewSettings(view); });
    const auto all = [](const Setup&) { return bounds::kMaxTokens; };
    auto* mixed_tokens =
        panel_->addChoice(tr("Mix"), "mixture", {tr("one token"), tr("two tokens"), tr("all tokens")});
    panel_->onSetupShown(
        [mixed_tokens](const Setup& s) { mixed_tokens->setEnabled(s.source == VectorSource::random); });
    panel_->addIndex(tr("Query n"), "query", tr("← → step by one, Shift by ten, Home to 0"), all);
    panel_->addIndex(tr("Key j"), "key", tr("Its arrow is marked; click an arrow or a bar to choose it"),
                     all);
    auto* key = new QSlider(Qt::Horizontal);
    key->setAccessibleName(tr("Key slider"));
    connect(key, &QSlider::valueChanged, this,
            [this](int j) { panel_->change(tr("Key j"), [&](Setup& s) { s.key = j; }); });
    const auto show_key = [this, key] {
        const QSignalBlocker quiet(key);
        key->setRange(0, std::max(0, state_.tokens() - 1));
        key->setValue(state_.isReady() ? state_.key() : 0);
    };
    connect(&state_, &AttentionState::changed, key, show_key);
    show_key();
    panel_->addRow({}, key, tr("Drag the key along the sentence"));
    panel_->addPair(tr("The plane shown; slow pairs rotate little"));
    panel_->addHeading(tr("From RoPE to RoPER"));
    panel_->addDecimal(tr("Blend"), "blend", {}, 0.1, 2);
    panel_->addSlider(tr("Blend slider"), "blend", tr("Drag from RoPE to RoPER and see every arrow rotate"),
                      0, 1, 0.01);
    panel_->addRow({}, play_,
                   tr("With one or two tokens, move the key along the sentence; with all tokens, blend to "
                      "RoPER and back (Space)"));
    panel_->addHeading(tr("Move the sentence"));
    panel_->addShift(tr("Shift S"), {}, tr("Drag S from −64 to 64: the dots trace the output"));
    auto* back = panel_->addUnboundCheck(
        tr("Rotate back by R(−n)"),
        tr("Without it, the output rotates with the sentence: RoPER is relative only with the inverse"),
        [](const Setup& s) { return mixedTensors(s).output && s.mistake != Mistake::no_inverse; },
        [](Setup& s, bool on) { s.mistake = on ? Mistake::none : Mistake::no_inverse; });
    panel_->onSetupShown([back](const Setup& s) { back->setEnabled(mixedTensors(s).output); });
    panel_->addRow({}, verdict_, tr("Largest change of any feature of this output when the sentence moves"));
    panel_->addHeading(tr("Values"));
    addSourceControls(*panel_, state_, SourceUse::mixing);
    auto* shared = panel_->addCheck(tr("One vector is key and value"), "shared_key_value");
    panel_->onSetupShown([shared](const Setup& s) { shared->setEnabled(s.source != VectorSource::run); });
    panel_->addHeading(tr("Rotation"));
    addRotationControls(*panel_);
    panel_->addDecimal(tr("Rotary fraction of v"), "value_rotary_fraction", {}, 0.25, 4);
}

void MixingPage::addActions(Actions& actions) {
    const QString group = tr("Value mixing");
    actions.add(group, tr("Play or pause"), Qt::Key_Space, [this] { play_->click(); });
    actions.add(group, tr("Next query"), Qt::Key_Right, [this] { moveQuery(1); });
    actions.add(group, tr("Previous query"), Qt::Key_Left, [this] { moveQuery(-1); });
    actions.add(group, tr("Ten queries forward"), Qt::SHIFT | Qt::Key_Right, [this] { moveQuery(10); });
    actions.add(group, tr("Ten queries back"), Qt::SHIFT | Qt::Key_Left, [this] { moveQuery(-10); });
    actions.add(group, tr("Query 0"), Qt::Key_Home, [this] { moveQuery(-bounds::kMaxTokens); });
    actions.add(group, tr("RoPE: do not rotate the values"), {},
                [this] { panel_->change(tr("Blend"), [](Setup& s) { s.value_rotation_strength = 0; }); });
    actions.add(group, tr("RoPER: rotate the values"), {},
                [this] { panel_->change(tr("Blend"), [](Setup& s) { s.value_rotation_strength = 1; }); });
    actions.add(group, tr("With or without the inverse rotation"), {}, [this] {
        panel_->change(tr("Rotate back by R(−n)"), [](Setup& s) {
            s.mistake = s.mistake == Mistake::no_inverse ? Mistake::none : Mistake::no_inverse;
        });
    });
}

void MixingPage::moveQuery(int by) {
    if (!state_.isReady()) return;
    panel_->change(tr("Query n"), [&](Setup& s) {
        s.query = std::clamp(state_.query() + by, 0, state_.tokens() - 1);
        if (s.causal) s.key = std::min(s.key, s.query);
    });
}

void MixingPage::advance() {
    if (state_.setup().effectiveMixedTokens() != MixedTokens::all) return advanceKey();
    panel_->change(tr("Blend"), [this](Setup& s) {
        if (s.value_rotation_strength >= 1) direction_ = -1;
        if (s.value_rotation_strength <= 0) direction_ = 1;
        s.value_rotation_strength = std::clamp(
            s.value_rotation_strength + direction_ * kBlendStep * play_->interval_ms() / kFrame_ms, 0.0, 1.0);
    });
}

/// Moves the key one position away from the query, and from the start of the sentence back to the query.
void MixingPage::advanceKey() {
    constexpr int kFramesPerKey = 8;
    frame_ += play_->interval_ms() / kFrame_ms;
    if (!state_.isReady() || frame_ < kFramesPerKey) return;
    frame_ = 0;
    panel_->change(tr("Key j"), [this](Setup& s) { s.key = s.key > 0 ? s.key - 1 : state_.query(); });
}

}  // namespace roper
