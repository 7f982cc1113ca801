#include <QHBoxLayout>
#include <QSplitter>

#include "ui/controls/named.h"
#include "ui/pages/inspect/inspect_page.h"
#include "ui/theme/motion.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

// The inputs of the Inspect page.

namespace roper {
namespace {

/// A picture below a title, which is given back.
QWidget* besideTitle(QLabel*& title, QWidget* picture) {
    title = new QLabel;
    title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a long name widens nothing
    auto* both = new QWidget;
    auto* column = new QVBoxLayout(both);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(title);
    column->addWidget(picture, 1);
    return both;
}

}  // namespace

QWidget* InspectPage::makeChooser() {
    runs_ = named(new QComboBox, tr("Run"),
                  tr("A run that trains, the checkpoints of one that has ended, or a published model"));
    runs_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    runs_->setMinimumContentsLength(18);
    runs_->setMaximumWidth(zoomed(420));
    runs_->setPlaceholderText(tr("choose a run or a model"));
    beside_ = named(
        new QComboBox, tr("Run beside it"),
        tr("Another run, at the same step: its heads, and what it generates. The twin has the same seeds"));
    beside_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    beside_->setMinimumContentsLength(18);
    beside_->setMaximumWidth(zoomed(420));
    steps_ = named(new QComboBox, tr("Step of the model"),
                   tr("Which checkpoint is used when the model itself reads, generates or solves"));
    steps_->setMinimumContentsLength(14);
    connect(runs_, &QComboBox::activated, this, [this] { state_->setRun(runs_->currentData().toString()); });
    connect(steps_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (filling_) return;
        const QVariant step = steps_->itemData(index);
        state_->setStep(step.isValid() ? std::optional<std::int64_t>(step.toLongLong()) : std::nullopt);
    });
    message_ = new QLabel;
    message_->setWordWrap(true);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    message_->hide();
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(new QLabel(tr("Run")));
    layout->addWidget(runs_, 3);
    layout->addSpacing(12);
    layout->addWidget(new QLabel(tr("beside")));
    layout->addWidget(beside_, 3);
    layout->addSpacing(12);
    layout->addWidget(new QLabel(tr("model at")));
    layout->addWidget(steps_);
    layout->addStretch(1);
    return bar;
}

QWidget* InspectPage::makeHeadsTab() {
    scrubber_ = named(new QSlider(Qt::Horizontal), tr("Step of the snapshot"),
                      tr("Drag from the first step to the last and see heads form"));
    scrubber_->setPageStep(1);
    scrubber_label_ = new QLabel;
    scrubber_label_->setMinimumWidth(150);
    play_ = named(new QPushButton(tr("Play")), tr("Play"), tr("Show the snapshots one after the other"));
    order_ = named(new QComboBox, tr("Order of the heads"), tr("What comes first among the small maps"));
    order_->addItems({tr("by layer and head"), tr("most certain first (entropy)"),
                      tr("nearest first (mean distance)"), tr("clearest diagonal first")});
    text_ = named(new LineEdit, tr("Text to look at"),
                  tr("The model reads it; without one the run's snapshots are shown"));
    text_->setPlaceholderText(
        tr("a text of your own; Return shows it, an empty one goes back to the snapshots"));
    look_ =
        named(new QPushButton(tr("Look")), tr("Look"), tr("Ask the model what its heads do with this text"));
    connect(scrubber_, &QSlider::valueChanged, this, [this](int value) {
        if (!filling_) state_->showSnapshot(value);
    });
    connect(play_, &QPushButton::clicked, this, &InspectPage::play);
    connect(order_, &QComboBox::currentIndexChanged, this,
            [this](int index) { state_->setOrder(static_cast<HeadOrder>(index)); });
    connect(look_, &QPushButton::clicked, this, &InspectPage::look);
    connect(text_, &QLineEdit::returnPressed, this, &InspectPage::look);
    map_->setEmptyText(tr("The chosen head is shown here, with its tokens."));
    for (auto [map, state] : {std::pair{map_, state_}, std::pair{beside_map_, beside_state_}})
        connect(map, &HeatMapView::cellPointed, this,
                [this, state = state](int row, int column) { setReadout(pointedText(*state, row, column)); });
    auto* tab = new QWidget;
    auto* above = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{order_, text_, look_})
        above->addWidget(widget);
    auto* below = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{play_, scrubber_, scrubber_label_})
        below->addWidget(widget);
    auto* small = new QSplitter(Qt::Vertical);
    small->addWidget(besideTitle(small_title_, thumbnails_));
    beside_small_ = besideTitle(beside_small_title_, beside_thumbnails_);
    small->addWidget(beside_small_);
    small->setSizes({400, 400});
    small->setChildrenCollapsible(false);
    auto* pictures = new QSplitter(Qt::Horizontal);
    pictures->addWidget(small);
    pictures->addWidget(besideTitle(map_title_, map_));
    beside_large_ = besideTitle(beside_title_, beside_map_);
    pictures->addWidget(beside_large_);
    pictures->setSizes({520, 640, 640});
    pictures->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(above);
    layout->addWidget(pictures, 1);
    layout->addLayout(below);
    return tab;
}

QWidget* InspectPage::makeGenerationTab() {
    prompt_ = named(new LineEdit, tr("Prompt"), tr("What the model continues"));
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
    generate_ =
        named(new QPushButton(tr("Generate")), tr("Generate"), tr("Let the model continue the prompt"));
    generation_head_ = named(new QComboBox, tr("Head that is shaded"),
                             tr("Whose attention lies behind the text: the mean of all heads, or one"));
    generation_head_->setSizeAdjustPolicy(QComboBox::AdjustToContents);  // its heads come with a model
    connect(generate_, &QPushButton::clicked, this, &InspectPage::generate);
    connect(prompt_, &QLineEdit::returnPressed, this, &InspectPage::generate);
    connect(generation_head_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (filling_) return;
        continuation_->setHead(index - 1);
        beside_continuation_->setHead(index - 1);
    });
    auto* tab = new QWidget;
    auto* bar = new QHBoxLayout;
    bar->addWidget(prompt_, 1);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{count_, temperature_, seed_, generate_, generation_head_})
        bar->addWidget(widget);
    auto* layout = new QVBoxLayout(tab);
    auto* texts = new QSplitter(Qt::Horizontal);
    texts->addWidget(besideTitle(text_title_, continuation_));
    beside_text_ = besideTitle(beside_text_title_, beside_continuation_);
    texts->addWidget(beside_text_);
    texts->setChildrenCollapsible(false);
    layout->addLayout(bar);
    layout->addWidget(texts, 1);
    return tab;
}

QWidget* InspectPage::makeSizesTab() {
    problems_ = named(new QSpinBox, tr("Problems of each size"), tr("More take longer and scatter less"));
    problems_->setRange(1, 1024);
    problems_->setValue(16);
    problems_->setSuffix(tr(" problems of each size"));
    count_sizes_ = named(new QPushButton(tr("Solve")), tr("Solve"),
                         tr("Let the model solve problems of every size; takes seconds to minutes"));
    connect(count_sizes_, &QPushButton::clicked, this, &InspectPage::countSizes);
    with_working_ = named(new QCheckBox(tr("Fully solved")), tr("Fully solved"),
                          tr("Count only problems with every step of the working right"));
    with_working_->hide();
    for (SizesView* view : {sizes_, beside_sizes_})
        connect(with_working_, &QCheckBox::toggled, view, &SizesView::setFully);
    auto* tab = new QWidget;
    auto* bar = new QHBoxLayout;
    bar->addWidget(problems_);
    bar->addWidget(count_sizes_);
    bar->addWidget(with_working_);
    bar->addStretch();
    auto* maps = new QSplitter(Qt::Horizontal);
    maps->addWidget(sizes_);
    maps->addWidget(beside_sizes_);
    maps->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(bar);
    layout->addWidget(maps, 1);
    return tab;
}

void InspectPage::addActions(Actions& actions) {
    const QString group = tr("Inspect");
    const QStringList tabs{tr("All heads"), tr("Generate"), tr("Solved by size"), tr("Learned positions")};
    for (int tab = 0; tab < tabs.size(); ++tab)
        actions.add(group, tabs[tab], {}, [this, tab] { showTab(tab); });
    actions.add(group, tr("Play or pause the snapshots"), Qt::Key_Space, [this] { play(); });
    actions.add(group, tr("First snapshot"), Qt::Key_Home, [this] { state_->showSnapshot(0); });
    actions.add(group, tr("Generate"), {}, [this] {
        showTab(1);
        generate();
    });
}

void InspectPage::play() {
    if (player_.isActive()) {
        player_.stop();
    } else if (state_->snapshots().size() > 1) {
        if (state_->snapshot() + 1 >= static_cast<int>(state_->snapshots().size())) state_->showSnapshot(0);
        constexpr int kFrame_ms = 350;
        player_.start(frameInterval(kFrame_ms));
    }
    play_->setText(player_.isActive() ? tr("Pause") : tr("Play"));
}

void InspectPage::look() {
    if (text_->text().isEmpty()) return state_->showSnapshot(state_->snapshot());
    state_->askForMaps(text_->text());
    if (beside_state_->run().isEmpty()) return;
    matchCheckpoint();
    beside_state_->askForMaps(text_->text());
}

void InspectPage::generate() {
    matchCheckpoint();
    for (InspectState* state : {state_, beside_state_})
        if (!state->run().isEmpty())
            state->generate(prompt_->text(), count_->value(), temperature_->value(), seed_->value());
}

}  // namespace roper
