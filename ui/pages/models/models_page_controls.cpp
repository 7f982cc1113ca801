#include <QFormLayout>
#include <QHBoxLayout>
#include <QMenu>
#include <QShortcut>
#include <QSplitter>
#include <QToolButton>

#include "ui/controls/named.h"
#include "ui/controls/text_input.h"
#include "ui/pages/models/models_page.h"
#include "ui/theme/zoom.h"

// The inputs of the Models page, and where its pictures stand.

namespace roper {
namespace {

constexpr qsizetype kRoomForText = 1 << 17;  // more than any model is asked about

QWidget* column(std::initializer_list<std::pair<QWidget*, int>> widgets) {
    auto* all = new QWidget;
    auto* layout = new QVBoxLayout(all);
    layout->setContentsMargins(0, 0, 0, 0);
    for (const auto& [widget, stretch] : widgets)
        layout->addWidget(widget, stretch);
    return all;
}

QHBoxLayout* row(std::initializer_list<QWidget*> widgets) {
    auto* layout = new QHBoxLayout;
    for (QWidget* widget : widgets)
        layout->addWidget(widget);
    layout->addStretch(1);
    return layout;
}

QSplitter* splitter(Qt::Orientation orientation, std::initializer_list<QWidget*> widgets,
                    const QList<int>& sizes) {
    auto* split = new QSplitter(orientation);
    for (QWidget* widget : widgets)
        split->addWidget(widget);
    split->setSizes(sizes);
    split->setChildrenCollapsible(false);
    return split;
}

}  // namespace

QWidget* ModelsPage::makeChooser() {
    models_ = named(new QComboBox, tr("Model"), tr("A published model on this machine, or a run of yours"));
    models_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    models_->setMinimumContentsLength(28);
    connect(models_, &QComboBox::activated, this, [this](int index) {
        if (!filling_) open(models_->itemData(index).toString());
    });
    beside_ = named(new QComboBox, tr("Model beside it"),
                    tr("Another model that reads the same text: its bands and kernels are drawn along"));
    beside_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    beside_->setMinimumContentsLength(14);
    connect(beside_, &QComboBox::activated, this, [this](int index) {
        if (!filling_) setBeside(beside_->itemData(index).toString());
    });
    auto* open = named(new QToolButton, tr("Open a model"), tr("From a GGUF file, or a Hugging Face folder"));
    open->setText(tr("Open…"));
    open->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(open);
    menu->addAction(tr("GGUF file…"), this, &ModelsPage::chooseFile);
    menu->addAction(tr("Hugging Face folder…"), this, &ModelsPage::chooseFolder);
    open->setMenu(menu);
    summary_ = new QLabel;
    summary_->setForegroundRole(QPalette::PlaceholderText);
    summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    summary_->setWordWrap(true);
    text_ = named(new TextInput(kRoomForText), tr("Text that the model reads"),
                  tr("Ctrl+Return lets the model read it"));
    text_->setPlaceholderText(tr("a text; Ctrl+Return lets the model read it"));
    text_->setTabChangesFocus(true);
    const auto lines = [this](int count) { return text_->fontMetrics().lineSpacing() * count + 12; };
    text_->setMinimumHeight(lines(1));
    text_->setMaximumHeight(lines(3));
    read_ = named(new QPushButton(tr("Read")), tr("Read"), tr("Let the model read the text (Ctrl+Return)"));
    const auto readIt = [this] { readText(text_->toPlainText()); };
    connect(read_, &QPushButton::clicked, this, readIt);
    for (const auto key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | key), text_);
        shortcut->setContext(Qt::WidgetShortcut);
        connect(shortcut, &QShortcut::activated, this, readIt);
    }
    cancel_ = named(new QPushButton(tr("Cancel")), tr("Cancel"), tr("Gives up what is being computed"));
    connect(cancel_, &QPushButton::clicked, this, [this] {
        for (ModelsState* state : {state_, beside_state_}) {
            state->setNeeds({});  // until something else is wanted
            state->cancel();
        }
        say(tr("Cancelled; Read begins again."));
    });
    progress_ =
        named(new QProgressBar, tr("How far the answer is"), tr("How much of the answer is computed"));
    progress_->setTextVisible(false);
    progress_->setFixedWidth(zoomed(120));
    cost_ = new QLabel;
    cost_->setForegroundRole(QPalette::PlaceholderText);
    message_ = new QLabel;
    message_->setWordWrap(true);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    message_->hide();
    auto* chooser = new QWidget;
    auto* layout = new QVBoxLayout(chooser);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* first = new QHBoxLayout;
    first->addWidget(models_);
    first->addWidget(open);
    first->addWidget(new QLabel(tr("beside")));
    first->addWidget(beside_);
    first->addWidget(summary_, 1);
    layout->addLayout(first);
    layout->addWidget(text_);
    layout->addLayout(row({read_, cost_, progress_, cancel_}));
    return chooser;
}

QWidget* ModelsPage::makeWelcome() {
    auto* text = new QLabel;
    text->setWordWrap(true);
    text->setAlignment(Qt::AlignCenter);
    text->setText(
        tr("Open a language model that lies on this machine, as a GGUF file or a Hugging Face folder, or one "
           "of your runs. "
           "`./lab setup --model` fetches a small one (SmolLM2, 98 MB)."));
    auto* buttons = new QWidget;
    welcome_buttons_ = new QVBoxLayout(buttons);
    buttons->setMaximumWidth(zoomed(420));
    auto* welcome = new QWidget;
    auto* layout = new QVBoxLayout(welcome);
    layout->addStretch(1);
    layout->addWidget(text);
    layout->addSpacing(zoomed(12));
    layout->addWidget(buttons, 0, Qt::AlignHCenter);
    layout->addStretch(2);
    return welcome;
}

QWidget* ModelsPage::makeTextTab() {
    shade_ = named(new QComboBox, tr("What tokens are shaded by"),
                   tr("With a change: before, after, or what it adds"));
    shade_->addItems({tr("as it was trained"), tr("with the change"), tr("what the change adds")});
    connect(shade_, &QComboBox::currentIndexChanged, this,
            [this](int index) { surprise_->setShade(static_cast<SurpriseView::Shade>(index)); });
    count_ = named(new QSpinBox, tr("Tokens to write"), tr("At most; the model may end the text before"));
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
    connect(write_, &QPushButton::clicked, this, &ModelsPage::write);
    written_ = new QLabel;
    written_->setWordWrap(true);
    written_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    written_->setAccessibleName(tr("What the model wrote"));
    auto* scroll = new QScrollArea;
    scroll->setWidget(surprise_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(row({new QLabel(tr("Shaded:")), shade_}));
    layout->addWidget(splitter(Qt::Horizontal, {scroll, predictions_}, {640, 320}), 1);
    layout->addLayout(row({write_, count_, temperature_, seed_}));
    layout->addWidget(written_);
    return tab;
}

QWidget* ModelsPage::makeHeadsTab() {
    colour_ =
        named(new QComboBox, tr("Colour of the dots"), tr("What the dots of the atlas are coloured by"));
    colour_->addItems({tr("coloured by label"), tr("by the slow pairs' share"), tr("by layer")});
    connect(colour_, &QComboBox::currentIndexChanged, this,
            [this](int index) { atlas_->setColour(static_cast<AtlasView::Colour>(index)); });
    label_ = named(new QComboBox, tr("Heads of one label"), tr("Shows these heads alone"));
    connect(label_, &QComboBox::currentIndexChanged, this,
            [this](int index) { atlas_->setLabel(label_->itemData(index).toString().toStdString()); });
    const auto number = [this](const QString& name, const QString& prefix) {
        auto* box = named(new QSpinBox, name, tr("The head that is shown large"));
        box->setPrefix(prefix);
        connect(box, &QSpinBox::valueChanged, this, [this] {
            if (!filling_) state_->setHead(layer_->value(), head_->value());
        });
        return box;
    };
    layer_ = number(tr("Layer that is shown"), tr("layer "));
    head_ = number(tr("Head that is shown"), tr("head "));
    map_title_ = new QLabel;
    map_title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    map_->setEmptyText(tr("The attention of the chosen head is shown here."));
    reach_->setEmptyText(tr("How the head's weight falls with distance is shown here."));
    reach_quantity_ = named(new QComboBox, tr("What is shown by distance"),
                            tr("The head's mean weight, or its mean score before softmax"));
    reach_quantity_->addItems({tr("weight by distance"), tr("score by distance")});
    connect(reach_quantity_, &QComboBox::currentIndexChanged, this, &ModelsPage::showReach);
    for (QComboBox* choice : {label_, colour_, reach_quantity_}) {
        choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        choice->setMinimumContentsLength(11);
    }
    auto* small = splitter(Qt::Vertical, {atlas_, grid_}, {400, 300});
    auto* large = splitter(Qt::Vertical, {column({{map_title_, 0}, {map_, 1}}), reach_}, {480, 180});
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(row({label_, colour_, layer_, head_, reach_quantity_}));
    layout->addWidget(splitter(Qt::Horizontal, {small, large}, {500, 500}), 1);
    return tab;
}

QWidget* ModelsPage::makeBandsTab() {
    quantity_ = named(new QComboBox, tr("What is shown of each pair"),
                      tr("Its share in the scores, or the mean length of q, k or v in it"));
    quantity_->addItems(
        {tr("share of the scores' variance"), tr("length of q"), tr("length of k"), tr("length of v")});
    connect(quantity_, &QComboBox::currentIndexChanged, this, [this] {
        showBands();
        showHeadBands();
    });
    mean_ = named(new QCheckBox(tr("mean of all heads")), tr("Mean of all heads"),
                  tr("Below: the mean over all heads of all layers instead of the chosen head"));
    connect(mean_, &QCheckBox::toggled, this, &ModelsPage::showHeadBands);
    bands_->setEmptyText(tr("What each pair of features does in every head is shown here."));
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(row({quantity_, mean_}));
    layout->addWidget(splitter(Qt::Vertical, {bands_, head_bands_}, {460, 220}), 1);
    return tab;
}

QWidget* ModelsPage::makeValuesTab() {
    kernels_->setEmptyText(tr("What each head makes of a value by its distance is shown here."));
    directions_->setEmptyText({});
    token_map_->setEmptyText(tr("What the chosen head makes of each token is shown here."));
    distance_ = named(new QSpinBox, tr("Distance of the token map"),
                      tr("How far back the token is that the head attends to"));
    distance_->setRange(0, 100000);
    distance_->setPrefix(tr("δ = "));
    connect(distance_, &QSpinBox::valueChanged, state_, &ModelsState::setDistance);
    connect(token_map_, &HeatMapView::cellPointed, this,
            [this](int row, int column) { setReadout(pointedTokens(row, column)); });
    over_training_ = named(new QCheckBox(tr("over training")), tr("Over training"),
                           tr("Of a run: the chosen head at each checkpoint that the run has"));
    connect(over_training_, &QCheckBox::toggled, this, [this] {
        wantWhatIsSeen();
        showKernels();
    });
    auto* curves =
        column({{splitter(Qt::Vertical, {kernels_, directions_}, {300, 300}), 1}, {over_training_, 0}});
    auto* map = new QWidget;
    auto* below = new QVBoxLayout(map);
    below->setContentsMargins(0, 0, 0, 0);
    below->addWidget(token_map_, 1);
    below->addLayout(row({distance_}));
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addWidget(splitter(Qt::Horizontal, {curves, map}, {460, 520}), 1);
    return tab;
}

QWidget* ModelsPage::makeSubsetsTab() {
    band_count_ = named(new QSpinBox, tr("Number of bands"),
                        tr("Into how many bands the pairs are cut; 2 to that power passes"));
    band_count_->setRange(1, 8);
    band_count_->setValue(4);
    band_count_->setSuffix(tr(" bands"));
    compute_ = named(new QPushButton(tr("Read with every subset")), tr("Read with every subset"),
                     tr("The loss when scores are made of some bands alone, for every choice of them"));
    const auto say_passes = [this](int bands) {
        compute_->setText(tr("Read with every subset (%1 passes)").arg(1 << bands));
    };
    connect(band_count_, &QSpinBox::valueChanged, this, say_passes);
    say_passes(band_count_->value());
    connect(compute_, &QPushButton::clicked, this, [this] {
        wantWhatIsSeen();
        Question question{"subsets"};
        question.count = band_count_->value();
        state_->request(need::subsets, question);
    });
    auto* scroll = new QScrollArea;
    scroll->setWidget(subsets_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(row({band_count_, compute_}));
    layout->addWidget(scroll, 1);
    return tab;
}

void ModelsPage::addActions(Actions& actions) {
    const QString group = tr("Models");
    actions.add(group, tr("Open a GGUF file…"), {}, [this] { chooseFile(); });
    actions.add(group, tr("Open a Hugging Face folder…"), {}, [this] { chooseFolder(); });
    const QStringList tabs{tr("Text and predictions"),
                           tr("Heads of the model"),
                           tr("Bands of the model"),
                           tr("Values by distance"),
                           tr("Subsets of bands"),
                           tr("Longer text"),
                           tr("Layers"),
                           tr("Patching")};
    for (int tab = 0; tab < tabs.size(); ++tab)
        actions.add(group, tabs[tab], {}, [this, tab] { showTab(static_cast<Tab>(tab)); });
    actions.add(group, tr("As it was trained"), {}, [this] { state_->setChange({}); });
}

}  // namespace roper
