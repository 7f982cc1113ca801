#include "ui/controls/layout_helpers.h"
#include "ui/explorer/example_list.h"
#include "ui/explorer/source_controls.h"
#include "ui/pages/attention/attention_page.h"
#include "ui/pages/attention/method_text.h"

// Controls of the Attention page.

namespace roper {
QWidget* AttentionPage::makeFigures() {
    for (const auto& [name, help] :
         {std::pair{tr("Scores"), tr("Attention logits, before the softmax")},
          {tr("Weights"), tr("Softmax of each row; for linear attention, each similarity's share")},
          {tr("Change under the shift"),
           tr("The change when all positions are shifted by S: none, unless there is a mistake")},
          {tr("Error of the mistake"), tr("Difference from the correct form at the same positions")}})
        kinds_->setTabToolTip(kinds_->addTab(name), help);
    kinds_->setAccessibleName(tr("Map shown"));
    kinds_->setDocumentMode(true);
    kinds_->setExpanding(false);
    headline_->setForegroundRole(QPalette::PlaceholderText);
    headline_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    show_value_mixing_->setToolTip(tr("Show this query's weighted sum of values"));
    connect(show_value_mixing_, &QPushButton::clicked, this, &AttentionPage::valueMixingRequested);
    help_->setText(tr("Reload the run"));
    help_->setToolTip(tr("No map yet"));
    help_->hide();
    connect(help_, &QPushButton::clicked, this, [this] {
        if (state_.runs().runs().empty()) return emit trainingRequested();
        if (state_.setup().run.empty()) return state_.useRun(state_.runs().runs().front()->name());
        state_.requestVectors();
    });
    lower_->addTab(bars_, tr("Score by pair"));
    lower_->addTab(vectors_, tr("q, k and v"));
    lower_->addTab(makeBiasTab(), tr("Bias by distance"));
    prepareTable();
    lower_->addTab(table_, tr("Position embeddings"));
    lower_->addTab(by_distance_, tr("Score by distance"));
    connect(by_distance_, &CurveChart::hovered, this, &AttentionPage::showReadout);
    lower_->setDocumentMode(true);
    auto* upper = columnOf({rowOf({kinds_, kSpacer, help_, show_value_mixing_}), headline_, {map_, 1}});
    upper->setSpacing(3);
    return makeSplitter(Qt::Vertical, {wrapInWidget(upper), lower_}, {520, 210}, 0);
}

void AttentionPage::fillPanel() {
    addExamples(*panel_, "attention", [this](const ViewSettings& view) { setViewSettings(view); });
    panel_->addHeading(tr("Tokens"));
    addSourceControls(*panel_, state_, SourceUse::attention);
    panel_->addHeading(tr("Method"));
    panel_->addUnboundChoice(tr("Position method"),
                             tr("How positions enter the attention score; F1 shows the formula"),
                             methodNames(), methodEntry, chooseMethod);
    QStringList sets;
    for (const std::string& name : rotatedTensorsNames())
        sets << QString::fromStdString(name);
    auto* rotates = panel_->addChoice(tr("Rotates"), "rotates", sets);
    panel_->onSetupShown([this, rotates](const Setup& s) {
        panel_->setRowVisible(rotates, s.positionMethod().readsField("rotates"));
    });
    panel_->addCheck(tr("Causal"), "causal");
    panel_->addPair(tr("The marked bar; press M or click it to ablate or restore the pair"));
    auto* unmute = panel_->addButton(tr("Restore all pairs"), tr("Restore all pairs to the scores"), [this] {
        panel_->change(tr("Ablated pairs"), [](Setup& s) { s.ablated_pairs.clear(); });
    });
    panel_->onSetupShown([unmute](const Setup& s) { unmute->setEnabled(!s.ablated_pairs.empty()); });
    panel_->addHeading(tr("Shift all positions"));
    panel_->addShift(tr("Shift S"), {}, tr("Drag S from −64 to 64"));
    panel_->addRow({}, play_, tr("Shift all positions step by step (Space)"));
    panel_->addHeading(tr("Known mistakes"));
    panel_->addRow({}, gallery_, {});
    panel_->addHeading(tr("Rotation"));
    addRotationControls(*panel_);
}

void AttentionPage::addActions(Actions& actions) {
    const QString group = tr("Attention");
    actions.add(group, tr("Play or pause the shift"), Qt::Key_Space, [this] { play_->click(); });
    actions.add(group, tr("Next key token"), Qt::Key_Right, [this] { moveKey(1); });
    actions.add(group, tr("Previous key token"), Qt::Key_Left, [this] { moveKey(-1); });
    actions.add(group, tr("Ten key tokens forward"), Qt::SHIFT | Qt::Key_Right, [this] { moveKey(10); });
    actions.add(group, tr("Ten key tokens back"), Qt::SHIFT | Qt::Key_Left, [this] { moveKey(-10); });
    actions.add(group, tr("First key token"), Qt::Key_Home, [this] { moveKey(-bounds::kMaxTokens); });
    actions.add(group, tr("Next query"), Qt::Key_Down, [this] { moveQuery(1); });
    actions.add(group, tr("Previous query"), Qt::Key_Up, [this] { moveQuery(-1); });
    actions.add(group, tr("Show in Value mixing"), Qt::Key_Return, [this] { show_value_mixing_->click(); });
    actions.add(group, tr("Ablate or restore the marked pair"), Qt::Key_M,
                [this] { toggleAblation(state_.setup().pair); });
    actions.add(group, tr("Restore all pairs"), {},
                [this] { panel_->change(tr("Ablated pairs"), [](Setup& s) { s.ablated_pairs.clear(); }); });
    actions.add(group, tr("No mistake"), {},
                [this] { panel_->change(tr("Mistake"), [](Setup& s) { s.mistake = Mistake::none; }); });
    actions.add(group, tr("Reload the run"), {}, [this] {
        if (state_.setup().source == VectorSource::run) state_.requestVectors();
    });
}

}  // namespace roper
