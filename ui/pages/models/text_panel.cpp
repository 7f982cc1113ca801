#include "ui/pages/models/text_panel.h"

#include "ui/controls/named.h"
#include "ui/pages/models/models_fields.h"

namespace roper {

TextPanel::TextPanel(ModelsState& state, QWidget* parent)
    : ModelPanel(tr("Text"), state, parent),
      surprise_(new SurpriseView(state, this)),
      predictions_(new PredictionsView(state, this)) {
    shade_ = named(new QComboBox, tr("What tokens are shaded by"),
                   tr("With a change: before, after, or what it adds"));
    shade_->addItems({tr("as it was trained"), tr("with the change"), tr("what the change adds")});
    connect(shade_, &QComboBox::currentIndexChanged, this,
            [this](int index) { surprise_->setShade(static_cast<SurpriseView::Shade>(index)); });
    count_ =
        named(new QSpinBox, tr("Tokens to write"), tr("How many tokens the model continues the text by"));
    count_->setRange(1, 1024);
    count_->setValue(24);
    count_->setSuffix(tr(" tokens"));
    temperature_ = named(new QDoubleSpinBox, tr("Temperature"),
                         tr("0 takes the likeliest token; above, tokens are sampled"));
    temperature_->setRange(0, 10);
    temperature_->setSingleStep(0.1);
    temperature_->setPrefix(tr("temperature "));
    seed_ = named(new QSpinBox, tr("Seed of the sampling"), tr("The same seed draws the same text"));
    seed_->setRange(0, 1000000);
    seed_->setPrefix(tr("seed "));
    write_ = named(new QPushButton(tr("Continue")), tr("Continue"), tr("Let the model continue the text"));
    connect(write_, &QPushButton::clicked, this, &TextPanel::write);
    written_ = new QLabel;
    written_->setWordWrap(true);
    written_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    written_->setAccessibleName(tr("What the model wrote"));
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({new QLabel(tr("Shaded:")), shade_}));
    layout->addWidget(splitter(Qt::Horizontal, {scrolled(surprise_), predictions_}, {640, 320}), 1);
    layout->addLayout(row({write_, count_, temperature_, seed_}));
    layout->addWidget(written_);
    connect(surprise_, &SurpriseView::chosenChanged, predictions_, &PredictionsView::setToken);
    hear(surprise_, predictions_);
}

void TextPanel::setShade(SurpriseView::Shade shade) {
    shade_->setCurrentIndex(static_cast<int>(shade));
}

void TextPanel::prepare(const QString&, const ModelsPicture& picture) {
    setShade(picture.shade);
    if (picture.token) {
        const auto token = static_cast<int>(*picture.token);
        connect(&state(), &ModelsState::answered, surprise_, [this, token] { surprise_->choose(token); });
    }
}

void TextPanel::refresh() {
    write_->setEnabled(state().summary() != nullptr && state().summary()->causal);
    const GeneratedText* written = state().answer(need::written);
    if (written == nullptr) {
        written_->setToolTip({});
        return written_->clear();
    }
    const bool is_changed = !state().change().isNothing();
    const QString end =
        written->text.empty() ? tr("(it ends the text at once)") : QString::fromStdString(written->text);
    written_->setText(is_changed ? tr("with the change: %1").arg(end) : end);
    written_->setToolTip(tr("%1 tokens%2")
                             .arg(written->generated.size())
                             .arg(is_changed ? tr(", with the change") : QString()));
}

void TextPanel::write() {
    Question question{"generate"};
    question.count = count_->value();
    question.temperature = temperature_->value();
    question.seed = seed_->value();
    state().request(need::written, question);
}

}  // namespace roper
