#include "ui/inspect/inspect_page.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QSplitter>
#include <algorithm>
#include <limits>

#include "ui/shell/explain.h"

namespace roper {
namespace {

constexpr int kFrame_ms = 350;  // of the film of snapshots

QStringList charactersOf(const std::string& text) {
    QStringList labels;
    for (const char c : text)
        labels << (c == ' ' ? QStringLiteral("␣") : QString(QLatin1Char(c)));
    return labels;
}

template <class Widget>
Widget* named(Widget* widget, const QString& name, const QString& help) {
    widget->setAccessibleName(name);
    widget->setToolTip(help);
    return widget;
}

}  // namespace

InspectPage::InspectPage(RunStore& store, QWidget* parent)
    : Page(tr("Inspect"),
           tr("Inside a model: what every head looks at, how the model goes on with a text, and what it "
              "can solve."),
           parent),
      store_(store),
      state_(new InspectState(store, this)),
      tabs_(new QTabWidget),
      thumbnails_(new ThumbnailsView(*state_, this)),
      map_(new HeatMapView(QStringLiteral("head"), this)),
      sizes_(new HeatMapView(QStringLiteral("solved-by-size"), this)),
      continuation_(new ContinuationView(*state_, this)) {
    auto* chooser = makeChooser();
    tabs_->addTab(makeHeadsTab(), tr("Heads"));
    tabs_->addTab(makeWritingTab(), tr("Go on with a text"));
    tabs_->addTab(makeSizesTab(), tr("Solved by size"));
    contents()->addWidget(chooser);
    contents()->addWidget(tabs_, 1);
    contents()->addWidget(message_);

    connect(state_, &InspectState::runChanged, this, &InspectPage::showRun);
    connect(state_, &InspectState::snapshotsChanged, this, &InspectPage::showSnapshots);
    connect(state_, &InspectState::mapsChanged, this, [this] {
        showSnapshots();
        showMap();
    });
    connect(state_, &InspectState::headChanged, this, &InspectPage::showMap);
    connect(state_, &InspectState::continuationChanged, this, &InspectPage::fillHeads);
    connect(state_, &InspectState::sizesChanged, this, &InspectPage::showSizes);
    connect(state_, &InspectState::messageChanged, this, &InspectPage::showMessage);
    for (FigureView* view : std::initializer_list<FigureView*>{thumbnails_, map_, sizes_, continuation_})
        connect(view, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(&store_, &RunStore::runAdded, this, &InspectPage::fillRuns);
    connect(&store_, &RunStore::runRemoved, this, &InspectPage::fillRuns);
    player_.setInterval(kFrame_ms);
    connect(&player_, &QTimer::timeout, this, [this] {
        const int next = state_->snapshot() + 1;
        if (next >= static_cast<int>(state_->snapshots().size())) return play();
        state_->showSnapshot(next);
    });
    fillRuns();
    showRun();
}

std::vector<const Figure*> InspectPage::figures() const {
    if (tabs_->currentIndex() == 1) return {continuation_, thumbnails_, map_, sizes_};
    if (tabs_->currentIndex() == 2) return {sizes_, thumbnails_, map_, continuation_};
    return {thumbnails_, map_, continuation_, sizes_};
}

QWidget* InspectPage::makeChooser() {
    runs_ =
        named(new QComboBox, tr("Run"), tr("A run that trains, or the checkpoints of one that has ended"));
    runs_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    runs_->setMinimumContentsLength(30);
    runs_->setPlaceholderText(tr("choose a run"));
    steps_ = named(new QComboBox, tr("Step of the model"),
                   tr("Which checkpoint is asked when the model itself reads, writes or solves"));
    steps_->setMinimumContentsLength(14);
    connect(runs_, &QComboBox::activated, this, [this] { state_->setRun(runs_->currentText()); });
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
    layout->addWidget(runs_);
    layout->addSpacing(12);
    layout->addWidget(new QLabel(tr("model at")));
    layout->addWidget(steps_);
    layout->addStretch();
    return bar;
}

QWidget* InspectPage::makeHeadsTab() {
    scrubber_ = named(new QSlider(Qt::Horizontal), tr("Step of the snapshot"),
                      tr("Drag from the first step to the last and see heads form"));
    scrubber_label_ = new QLabel;
    scrubber_label_->setMinimumWidth(150);
    play_ = named(new QPushButton(tr("Play")), tr("Play"), tr("Show the snapshots one after the other"));
    order_ = named(new QComboBox, tr("Order of the heads"), tr("What comes first among the small maps"));
    order_->addItems({tr("by layer and head"), tr("most certain first (entropy)"),
                      tr("nearest first (mean distance)"), tr("clearest diagonal first")});
    text_ = named(new LineEdit, tr("Text to look at"),
                  tr("The model reads it; without one the run's snapshots are shown"));
    text_->setPlaceholderText(tr("a text of your own, such as ?d=12+34;"));
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
    connect(map_, &HeatMapView::cellPointed, this, [this](int row, int column) {
        if (!state_->maps() || row < 0) return setReadout({});
        const std::string& text = state_->maps()->text;
        setReadout(tr("query %1 “%2”    key %3 “%4”    weight %5    distance %6")
                       .arg(row)
                       .arg(QLatin1Char(text[static_cast<std::size_t>(row)]))
                       .arg(column)
                       .arg(QLatin1Char(text[static_cast<std::size_t>(column)]))
                       .arg(noteNumber((*state_->maps()->weights[state_->head()])(row, column)))
                       .arg(row - column));
    });
    auto* tab = new QWidget;
    auto* above = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{order_, text_, look_})
        above->addWidget(widget);
    auto* below = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{play_, scrubber_, scrubber_label_})
        below->addWidget(widget);
    auto* pictures = new QSplitter(Qt::Horizontal);
    pictures->addWidget(thumbnails_);
    pictures->addWidget(map_);
    pictures->setSizes({520, 640});
    pictures->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(above);
    layout->addWidget(pictures, 1);
    layout->addLayout(below);
    return tab;
}

QWidget* InspectPage::makeWritingTab() {
    prompt_ = named(new LineEdit, tr("Prompt"), tr("What the model goes on with"));
    prompt_->setPlaceholderText(tr("?d=12+34;"));
    count_ = named(new QSpinBox, tr("Characters to write"), tr("How many characters the model writes"));
    count_->setRange(1, static_cast<int>(kLongestContinuation));
    count_->setValue(64);
    count_->setSuffix(tr(" characters"));
    temperature_ = named(new QDoubleSpinBox, tr("Temperature"),
                         tr("0 takes the likeliest character; above, characters are drawn"));
    temperature_->setRange(0, 10);
    temperature_->setSingleStep(0.1);
    temperature_->setPrefix(tr("temperature "));
    seed_ = named(new QSpinBox, tr("Seed of the draws"), tr("The same seed draws the same text"));
    seed_->setRange(0, 1000000);
    seed_->setPrefix(tr("seed "));
    write_ = named(new QPushButton(tr("Write")), tr("Write"), tr("Let the model go on with the prompt"));
    writing_head_ = named(new QComboBox, tr("Head that is shaded"),
                          tr("Whose attention lies behind the text: the mean of all heads, or one"));
    connect(write_, &QPushButton::clicked, this, &InspectPage::write);
    connect(prompt_, &QLineEdit::returnPressed, this, &InspectPage::write);
    connect(writing_head_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (!filling_) continuation_->setHead(index - 1);
    });
    auto* tab = new QWidget;
    auto* bar = new QHBoxLayout;
    bar->addWidget(prompt_, 1);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{count_, temperature_, seed_, write_, writing_head_})
        bar->addWidget(widget);
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(bar);
    layout->addWidget(continuation_, 1);
    return tab;
}

QWidget* InspectPage::makeSizesTab() {
    problems_ = named(new QSpinBox, tr("Problems of each size"), tr("More take longer and scatter less"));
    problems_->setRange(1, 1024);
    problems_->setValue(16);
    problems_->setSuffix(tr(" problems of each size"));
    count_sizes_ = named(new QPushButton(tr("Solve")), tr("Solve"),
                         tr("Let the model solve fresh problems of every size; takes seconds to minutes"));
    connect(count_sizes_, &QPushButton::clicked, this, [this] {
        if (state_->isCountingSizes())
            state_->stopAskingForSizes();
        else
            state_->askForSizes(problems_->value());
    });
    sizes_->setEmptyText(
        tr("“Solve” asks the model problems of every size:\ndigits of both operands, or letters and "
           "index."));
    connect(sizes_, &HeatMapView::cellPointed, this, [this](int row, int column) {
        if (!state_->sizes() || row < 0) return setReadout({});
        for (const SizeScore& score : state_->sizes()->scores)
            if (score.size.first == sizes_->map().row_labels[row].toLongLong() &&
                score.size.second == sizes_->map().column_labels[column].toLongLong())
                setReadout(tr("%1 %2, %3 %4: %5 of %6 solved")
                               .arg(state_->sizes()->names.value(0))
                               .arg(score.size.first)
                               .arg(state_->sizes()->names.value(1))
                               .arg(score.size.second)
                               .arg(score.correct)
                               .arg(score.of));
    });
    auto* tab = new QWidget;
    auto* bar = new QHBoxLayout;
    bar->addWidget(problems_);
    bar->addWidget(count_sizes_);
    bar->addStretch();
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(bar);
    layout->addWidget(sizes_, 1);
    return tab;
}

void InspectPage::fillRuns() {
    QStringList names;
    for (const RunWatcher* run : store_.runs())
        if (run->specification()) names << run->name();
    QStringList shown;
    for (int i = 0; i < runs_->count(); ++i)
        shown << runs_->itemText(i);
    if (names != shown) {
        runs_->clear();
        runs_->addItems(names);
    }
    runs_->setCurrentIndex(static_cast<int>(names.indexOf(state_->run())));
    runs_->setEnabled(!names.isEmpty());
}

void InspectPage::fillSteps() {
    const QScopedValueRollback filling(filling_, true);
    steps_->clear();
    steps_->addItem(tr("its newest step"));
    for (const std::int64_t step : state_->checkpoints())
        steps_->addItem(tr("checkpoint %1").arg(step), QVariant::fromValue<qlonglong>(step));
}

void InspectPage::showRun() {
    fillRuns();
    fillSteps();
    const RunWatcher* run = store_.find(state_->run());
    const bool is_there = run != nullptr;
    for (QWidget* widget : std::initializer_list<QWidget*>{steps_, look_, write_, text_, prompt_})
        widget->setEnabled(is_there);
    const bool has_problems = is_there && run->specification() && run->specification()->task.name != "prefix";
    count_sizes_->setEnabled(has_problems);
    problems_->setEnabled(has_problems);
    if (is_there && prompt_->text().isEmpty() && run->specification())
        prompt_->setText(QString::fromStdString(
            makeTask(run->specification()->task)->hasProblems()
                ? makeTask(run->specification()->task)->problem(0, Stream::problems, 0).prompt
                : makeTask(run->specification()->task)->sequence(0, Stream::validation, 0, 60)));
    showSnapshots();
    showMap();
    showSizes();
    emit explanationChanged();
}

void InspectPage::showSnapshots() {
    const QScopedValueRollback filling(filling_, true);
    const auto count = static_cast<int>(state_->snapshots().size());
    scrubber_->setRange(0, std::max(0, count - 1));
    scrubber_->setValue(std::max(0, state_->snapshot()));
    scrubber_->setEnabled(count > 1);
    play_->setEnabled(count > 1);
    scrubber_label_->setText(count == 0 ? tr("no snapshots")
                             : state_->maps()
                                 ? tr("step %1, of %2 snapshots").arg(state_->maps()->step).arg(count)
                                 : tr("%1 snapshots").arg(count));
}

void InspectPage::showMap() {
    const auto& maps = state_->maps();
    if (!maps) {
        map_->setMap({});
        return;
    }
    HeatMapView::Map map;
    map.values = maps->weights[state_->head()];
    map.scale = HeatMapView::Scale::sequential;
    map.limit = HeatMapView::limitOf(*map.values, true);
    map.lower_only = true;
    map.pyramid = HeatMapView::makePyramid(*map.values, map.scale, map.limit, true);
    map.row_name = tr("query");
    map.column_name = tr("key");
    map.value_name = tr("weight");
    map.row_labels = map.column_labels = charactersOf(maps->text);
    map_->setCaption(tr("Attention of %1 of %2 at step %3, text “%4”")
                         .arg(headTitle(*maps, state_->head()), state_->run())
                         .arg(maps->step)
                         .arg(QString::fromStdString(maps->text)));
    const QRectF kept = map_->shownCells();
    const bool same_text = map_->map().values && map_->map().values->rows() == map.values->rows();
    map_->setMap(std::move(map));
    if (same_text) map_->showCells(kept);  // the place that is looked at stays while time runs
    emit explanationChanged();
}

void InspectPage::showSizes() {
    count_sizes_->setText(state_->isCountingSizes() ? tr("Cancel") : tr("Solve"));
    const auto& table = state_->sizes();
    if (!table || table->scores.empty()) {
        sizes_->setMap({});
        return;
    }
    const auto range = [&](auto member) {
        const auto [low, high] = std::minmax_element(
            table->scores.begin(), table->scores.end(),
            [&](const SizeScore& a, const SizeScore& b) { return a.size.*member < b.size.*member; });
        return std::pair(low->size.*member, high->size.*member);
    };
    const auto [first_low, first_high] = range(&ProblemSize::first);
    const auto [second_low, second_high] = range(&ProblemSize::second);
    // Sizes that do not exist, such as an index beyond the string, stay empty.
    auto values = std::make_shared<Eigen::MatrixXd>(
        Eigen::MatrixXd::Constant(first_high - first_low + 1, second_high - second_low + 1,
                                  std::numeric_limits<double>::quiet_NaN()));
    for (const SizeScore& score : table->scores)
        (*values)(score.size.first - first_low, score.size.second - second_low) =
            100.0 * static_cast<double>(score.correct) / static_cast<double>(score.of);
    HeatMapView::Map map;
    map.values = values;
    map.scale = HeatMapView::Scale::sequential;
    map.limit = 100;
    map.has_gaps = true;
    map.pyramid =
        std::make_shared<TilePyramid>(*values, false, 0.0, map.limit, TilePyramid::NotANumber::absent);
    map.row_name = table->names.value(0);
    map.column_name = table->names.value(1);
    map.value_name = tr("solved, %");
    for (std::int64_t i = first_low; i <= first_high; ++i)
        map.row_labels << QString::number(i);
    for (std::int64_t i = second_low; i <= second_high; ++i)
        map.column_labels << QString::number(i);
    sizes_->setCaption(tr("Share of fresh problems of each size that %1 solves at step %2, %3 of each")
                           .arg(state_->run())
                           .arg(table->step)
                           .arg(table->scores.front().of));
    sizes_->setMap(std::move(map));
}

void InspectPage::showMessage() {
    message_->setText(state_->message());
    message_->setVisible(!state_->message().isEmpty());
    look_->setText(state_->isAsking() ? tr("…") : tr("Look"));
    write_->setText(state_->isAsking() ? tr("…") : tr("Write"));
}

void InspectPage::fillHeads() {
    const QScopedValueRollback filling(filling_, true);
    writing_head_->clear();
    writing_head_->addItem(tr("mean of all heads"));
    if (const auto& c = state_->continuation())
        for (int head = 0; head < c->layers * c->heads; ++head)
            writing_head_->addItem(tr("layer %1, head %2").arg(head / c->heads).arg(head % c->heads));
}

void InspectPage::play() {
    if (player_.isActive()) {
        player_.stop();
    } else if (state_->snapshots().size() > 1) {
        if (state_->snapshot() + 1 >= static_cast<int>(state_->snapshots().size())) state_->showSnapshot(0);
        player_.start();
    }
    play_->setText(player_.isActive() ? tr("Pause") : tr("Play"));
}

void InspectPage::look() {
    if (text_->text().isEmpty()) return state_->showSnapshot(state_->snapshot());
    state_->askForMaps(text_->text());
}

void InspectPage::write() {
    state_->askToGoOn(prompt_->text(), count_->value(), temperature_->value(), seed_->value());
}

void InspectPage::addActions(Actions& actions) {
    const QString group = tr("Inspect");
    const QStringList tabs{tr("All heads"), tr("Go on with a text"), tr("Solved by size")};
    for (int tab = 0; tab < tabs.size(); ++tab)
        actions.add(group, tabs[tab], {}, [this, tab] { showTab(tab); });
    actions.add(group, tr("Play or pause the snapshots"), Qt::Key_Space, [this] { play(); });
    actions.add(group, tr("First snapshot"), Qt::Key_Home, [this] { state_->showSnapshot(0); });
    actions.add(group, tr("Let the model write"), {}, [this] {
        showTab(1);
        write();
    });
}

ViewSettings InspectPage::viewSettings() const {
    ViewSettings settings{{"view.inspect", std::to_string(tabs_->currentIndex())}};
    if (!state_->run().isEmpty()) settings["view.inspect_run"] = state_->run().toStdString();
    return settings;
}

void InspectPage::setViewSettings(const ViewSettings& settings) {
    setTab(*tabs_, settings, "view.inspect");
    const auto run = settings.find("view.inspect_run");
    if (run != settings.end() && store_.find(QString::fromStdString(run->second)) != nullptr)
        state_->setRun(QString::fromStdString(run->second));
}

QString InspectPage::explanation() const {
    QString text =
        tr("<h3>What a head does</h3>"
           "<p>a<sub>n,j</sub> is the weight with which query n looks at key j ≤ n. Over the T queries of "
           "the text:</p>"
           "<p>entropy = −(1/T) Σ<sub>n</sub> Σ<sub>j</sub> a<sub>n,j</sub> log a<sub>n,j</sub><br>"
           "mean distance = (1/T) Σ<sub>n</sub> Σ<sub>j</sub> a<sub>n,j</sub> (n − j)<br>"
           "diagonal = max over δ of the mean of a<sub>n,n−δ</sub></p>");
    if (state_->maps()) {
        const HeadStatistics& s = state_->maps()->statistics[state_->head()];
        text +=
            tr("<p>Here, %1 at step %2: entropy %3 nats, mean distance %4; at distance %5 lies %6 % of the "
               "weight.</p>")
                .arg(headTitle(*state_->maps(), state_->head()))
                .arg(state_->maps()->step)
                .arg(noteNumber(s.entropy, 4), noteNumber(s.mean_distance, 4))
                .arg(s.diagonal_distance)
                .arg(noteNumber(100 * s.diagonal, 3));
    }
    return text +
           tr("<p>Snapshots are taken while the run trains (setting snapshots.every), always of the same "
              "text, "
              "which training never shows. A text of your own is read by the model itself: by its trainer "
              "between two steps, or by its checkpoint.</p>"
              "<p>Going on with a text: p(next) = softmax(logits / temperature); the shading is the row of "
              "a<sub>n,j</sub> behind the framed character.</p>");
}

}  // namespace roper
