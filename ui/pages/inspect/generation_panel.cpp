#include "ui/pages/inspect/generation_panel.h"

#include <QScopedValueRollback>

#include "core/base/error.h"
#include "core/control/messages.h"
#include "ui/controls/named.h"
#include "ui/live/example_text.h"
#include "ui/live/published_models.h"
#include "ui/pages/inspect/inspect_fields.h"

namespace roper {

GenerationPanel::GenerationPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Generate"), tr("How the model continues a prompt"), models, parent),
      continuation_(new ContinuationView(models.state, this)),
      beside_continuation_(new ContinuationView(models.beside, this)) {
    makeControls();
    for (InspectState* one : {&state(), &beside()})
        connect(one, &InspectState::workChanged, this, &GenerationPanel::refreshWhenSeen);
    connect(&state(), &InspectState::modelChanged, this, &GenerationPanel::showModel);
    connect(&state(), &InspectState::answered, this, [this](const Need* what) {
        if (what == &need::continuation) fillHeads();
    });
    hear(continuation_, beside_continuation_);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({{prompt_, 1}, {generate_, 0}}));
    layout->addLayout(row({count_, temperature_, seed_, head_}));
    layout->addWidget(splitter(Qt::Horizontal, {titled(title_of_, continuation_),
                                                beside_text_ = titled(beside_title_, beside_continuation_)}),
                      1);
    layout->addWidget(written_);
    showModel();
    GenerationPanel::refresh();  // hides the comparison until there is one
}

void GenerationPanel::makeControls() {
    prompt_ = named(new LineEdit, tr("Prompt"), tr("What the model continues"));
    prompt_->setPlaceholderText(tr("the text above is continued"));
    count_ = named(new QSpinBox, tr("Tokens to generate"),
                   tr("How many tokens the model generates (one is a character, except of a text)"));
    count_->setRange(1, static_cast<int>(kLongestContinuation));
    count_->setValue(64);
    count_->setSuffix(tr(" tokens"));
    temperature_ = named(new QDoubleSpinBox, tr("Temperature"),
                         tr("0 takes the likeliest token; above, tokens are sampled"));
    temperature_->setRange(0, 10);
    temperature_->setSingleStep(0.1);
    temperature_->setPrefix(tr("temperature "));
    seed_ = named(new QSpinBox, tr("Seed of the sampling"), tr("The same seed draws the same text"));
    seed_->setRange(0, 1000000);
    seed_->setPrefix(tr("seed "));
    generate_ = named(new QPushButton(tr("Generate")), tr("Generate"), {});
    head_ = named(new QComboBox, tr("Head that is shaded"),
                  tr("Whose attention lies behind the text: the mean of all heads, or one"));
    // The heads are known only once a model is loaded.
    head_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    written_ = new QLabel;
    written_->setWordWrap(true);
    written_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    written_->setAccessibleName(tr("What the changed model writes"));
    connect(generate_, &QPushButton::clicked, this, &GenerationPanel::generate);
    connect(prompt_, &QLineEdit::returnPressed, this, &GenerationPanel::generate);
    connect(head_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (filling_) return;
        continuation_->setHead(index - 1);
        beside_continuation_->setHead(index - 1);
    });
}

PageFigures::Figures GenerationPanel::figures() const {
    PageFigures::Figures all{continuation_};
    if (isBeside()) all.push_back(beside_continuation_);
    return all;
}

void GenerationPanel::prepare(const QString&, const InspectPicture& picture) {
    constexpr std::int64_t kTokens = 64;
    Question question = picture.look;
    question.count = picture.look.count.value_or(kTokens);
    state().setStep(picture.step);
    state().request(need::continuation, question);
    waitWhile([&] { return state().isAsking(); }, "the answer of the model");
    if (!state().message().isEmpty()) throw Error(ErrorKind::usage, state().message().toStdString());
    continuation_->choose(static_cast<int>(picture.token.value_or(0)));
}

void GenerationPanel::generate() {
    Question question{"continuation", prompt().toStdString()};
    question.count = count_->value();
    question.temperature = temperature_->value();
    question.seed = seed_->value();
    const bool is_long = question.text.size() > kLongestProbe;
    if (!is_long)
        for (InspectState* one : {&state(), &beside()})
            if (!one->model().isEmpty()) one->request(need::continuation, question);
    if (is_long || !state().change().isNothing()) state().request(need::written, question);
}

/// Sets a prompt and a length that suit the model.
void GenerationPanel::showModel() {
    const RunWatcher* run = state().run();
    const bool is_published = isPublishedModel(state().model());
    if ((run == nullptr && !is_published) || state().model() == shown_model_) return;
    const Specification* s = run != nullptr && run->specification() ? &*run->specification() : nullptr;
    const bool has_problems = s != nullptr && s->task.hasProblems();
    // Solutions can be nearly as long as the training sequences.
    constexpr int kOfAText = 64, kOfALanguageModel = 24;
    count_->setValue(has_problems   ? static_cast<int>(s->training.length)
                     : is_published ? kOfALanguageModel
                                    : kOfAText);
    // A prompt for another kind of model makes no sense to this one.
    const bool other_kind = !shown_model_.isEmpty() && isPublishedModel(shown_model_) != is_published;
    if (prompt_->text().isEmpty() || other_kind)
        prompt_->setText(is_published ? exampleProse() : examplePrompt(*run));
    shown_model_ = state().model();
}

void GenerationPanel::fillHeads() {
    const QScopedValueRollback filling(filling_, true);
    head_->clear();
    head_->addItem(tr("mean of all heads"));
    if (const Continuation* c = state().answer(need::continuation))
        for (int head = 0; head < c->layers * c->heads; ++head)
            head_->addItem(headTitle(head / c->heads, head % c->heads));
}

void GenerationPanel::refresh() {
    const RunWatcher* run = state().run();
    const bool is_there = run != nullptr || isPublishedModel(state().model());
    const bool is_masked = run != nullptr && run->specification() && run->specification()->isMasked();
    const bool asks = state().isAsking(need::continuation) || state().isAsking(need::written) ||
                      beside().isAsking(need::continuation);
    prompt_->setEnabled(is_there);
    generate_->setEnabled(is_there && !is_masked);
    generate_->setText(asks ? tr("…") : tr("Generate"));
    generate_->setToolTip(is_masked ? tr("This model predicts masked tokens from both sides; it cannot "
                                         "generate")
                                    : tr("Let the model continue the prompt"));
    title_of_->setText(state().model());
    title_of_->setVisible(isBeside());
    beside_title_->setText(beside().model());
    beside_text_->setVisible(isBeside());
    const GeneratedText* written = state().answer(need::written);
    written_->setVisible(written != nullptr);
    if (written == nullptr) return written_->clear();
    const QString end =
        written->text.empty() ? tr("(it ends the text at once)") : QString::fromStdString(written->text);
    written_->setText(state().change().isNothing() ? end : tr("with the change: %1").arg(end));
    written_->setToolTip(tr("%1 tokens").arg(written->generated.size()));
}

}  // namespace roper
