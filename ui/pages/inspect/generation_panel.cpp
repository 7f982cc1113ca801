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
      comparison_continuation_(new ContinuationView(models.comparison, this)) {
    makeControls();
    for (InspectState* one : {&state(), &comparison()})
        connect(one, &InspectState::workChanged, this, &GenerationPanel::refreshWhenVisible);
    connect(&state(), &InspectState::modelChanged, this, &GenerationPanel::showModel);
    connect(&state(), &InspectState::answered, this, [this](const AnswerSpec* what) {
        if (what == &answers::continuation) fillHeads();
    });
    forwardReadouts(continuation_, comparison_continuation_);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({{prompt_, 1}, {generate_, 0}}));
    layout->addLayout(row({count_, temperature_, seed_, head_}));
    layout->addWidget(
        splitter(Qt::Horizontal, {titled(continuation_title_, continuation_),
                                  comparison_text_ = titled(comparison_title_, comparison_continuation_)}),
        1);
    layout->addWidget(end_note_);
    showModel();
    GenerationPanel::refresh();  // hides the comparison until there is one
}

void GenerationPanel::makeControls() {
    prompt_ = named(new LineEdit, tr("Prompt"), tr("What the model continues"));
    prompt_->setPlaceholderText(tr("the text above is continued"));
    count_ = named(new QSpinBox, tr("Tokens to generate"),
                   tr("How many tokens the model generates (one is a character, except of a text)"));
    count_->setRange(1, static_cast<int>(kMaxGeneratedTokens));
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
    end_note_ = new QLabel;
    end_note_->setWordWrap(true);
    end_note_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    end_note_->setAccessibleName(tr("What the changed model writes"));
    connect(generate_, &QPushButton::clicked, this, &GenerationPanel::generate);
    connect(prompt_, &QLineEdit::returnPressed, this, &GenerationPanel::generate);
    connect(head_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (filling_) return;
        continuation_->setHead(index - 1);
        comparison_continuation_->setHead(index - 1);
    });
}

PageFigures::Figures GenerationPanel::figures() const {
    PageFigures::Figures all{continuation_};
    if (hasComparison()) all.push_back(comparison_continuation_);
    return all;
}

void GenerationPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    constexpr std::int64_t kTokens = 64;
    Question question = picture.question;
    question.count = picture.question.count.value_or(kTokens);
    state().setStep(picture.step);
    state().request(answers::continuation, question);
    waitWhile([&] { return state().isAsking(); }, "the answer of the model");
    if (!state().message().isEmpty()) throw Error(ErrorKind::usage, state().message().toStdString());
    continuation_->choose(static_cast<int>(picture.token.value_or(0)));
}

void GenerationPanel::generate() {
    Question question{"continuation", prompt().toStdString()};
    question.count = count_->value();
    question.temperature = temperature_->value();
    question.seed = seed_->value();
    const bool is_long = question.text.size() > kMaxRequestTextBytes;
    if (!is_long)
        for (InspectState* one : {&state(), &comparison()})
            if (!one->model().isEmpty()) one->request(answers::continuation, question);
    if (is_long || !state().change().isEmpty()) state().request(answers::generated_text, question);
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
    if (const Continuation* c = state().answer(answers::continuation))
        for (int head = 0; head < c->layers * c->heads; ++head)
            head_->addItem(headTitle(head / c->heads, head % c->heads));
}

void GenerationPanel::refresh() {
    const RunWatcher* run = state().run();
    const bool is_there = run != nullptr || isPublishedModel(state().model());
    const bool is_masked = run != nullptr && run->specification() && run->specification()->isMasked();
    const bool asks = state().isAsking(answers::continuation) || state().isAsking(answers::generated_text) ||
                      comparison().isAsking(answers::continuation);
    prompt_->setEnabled(is_there);
    generate_->setEnabled(is_there && !is_masked);
    generate_->setText(asks ? tr("…") : tr("Generate"));
    generate_->setToolTip(is_masked ? tr("This model predicts masked tokens from both sides; it cannot "
                                         "generate")
                                    : tr("Let the model continue the prompt"));
    continuation_title_->setText(state().model());
    continuation_title_->setVisible(hasComparison());
    comparison_title_->setText(comparison().model());
    comparison_text_->setVisible(hasComparison());
    const GeneratedText* generated_text = state().answer(answers::generated_text);
    end_note_->setVisible(generated_text != nullptr);
    if (generated_text == nullptr) return end_note_->clear();
    const QString end = generated_text->text.empty() ? tr("(it ends the text at once)")
                                                     : QString::fromStdString(generated_text->text);
    end_note_->setText(state().change().isEmpty() ? end : tr("with the change: %1").arg(end));
    end_note_->setToolTip(tr("%1 tokens").arg(generated_text->generated.size()));
}

}  // namespace roper
