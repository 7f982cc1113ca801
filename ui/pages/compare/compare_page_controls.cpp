#include <QFileDialog>
#include <QFormLayout>
#include <QHeaderView>
#include <QMenu>
#include <algorithm>

#include "ui/controls/layout_helpers.h"
#include "ui/controls/narrow_controls.h"
#include "ui/live/run_texts.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/compare/import_dialog.h"
#include "ui/theme/numbers.h"

// The controls of the Compare page, each bound to one setting of the comparison.

namespace roper {
namespace {

constexpr auto kRunProperty = "run";  // property of a button: the run that it refers to

}  // namespace

QComboBox* ComparePage::makeChoice(const QString& name, const QString& help, const QStringList& choices,
                                   const std::function<void(CompareSettings&, int)>& set) {
    auto* box = named(new ElidedComboBox, name, help);
    box->addItems(choices);
    connect(box, &QComboBox::currentIndexChanged, this, [this, set](int index) {
        if (!showing_ && index >= 0) state_->change([&](CompareSettings& question) { set(question, index); });
    });
    return box;
}

template <class Value>
QComboBox* ComparePage::makeChoice(const QString& name, const QString& help, const QStringList& choices,
                                   Value CompareSettings::*member, bool CompareSettings::*chosen) {
    auto* box = makeChoice(name, help, choices, [member, chosen](CompareSettings& question, int index) {
        question.*member = static_cast<Value>(index);
        if (chosen != nullptr) question.*chosen = true;
    });
    show_functions_.emplace_back([box, member](const CompareSettings& question) {
        box->setCurrentIndex(static_cast<int>(question.*member));
    });
    return box;
}

QCheckBox* ComparePage::makeCheck(const QString& text, const QString& help, bool CompareSettings::*member) {
    auto* box = new QCheckBox(text);
    box->setToolTip(help);
    connect(box, &QCheckBox::toggled, this, [this, member](bool on) {
        if (!showing_) state_->change([&](CompareSettings& question) { question.*member = on; });
    });
    show_functions_.emplace_back(
        [box, member](const CompareSettings& question) { box->setChecked(question.*member); });
    return box;
}

QWidget* ComparePage::makeChooser() {
    filter_ = named(new QLineEdit, tr("Run filter"),
                    tr("Words to find in a run's name, task, method or state, and comparisons of any setting "
                       "or of step, loss, solved, accuracy, last, best, seed, tag"));
    filter_->setPlaceholderText(tr("index position=roper seed<5"));
    filter_->setClearButtonEnabled(true);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        state_->change([&](CompareSettings& question) { question.filter = text.toStdString(); });
    });
    filter_problem_ = wrappedLabel();
    groups_ = new QTreeWidget;
    groups_->setHeaderLabels({tr("Group"), tr("Runs"), tr("Mean")});
    groups_->setRootIsDecorated(false);
    groups_->setAccessibleName(tr("Groups of runs"));
    groups_->setToolTip(
        tr("Unticked groups are left out of the figures; right-click to show only the selected ones"));
    groups_->header()->setStretchLastSection(false);
    groups_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    groups_->setTextElideMode(Qt::ElideMiddle);
    groups_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    groups_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(groups_, &QTreeWidget::customContextMenuRequested, this, &ComparePage::openGroupMenu);
    connect(groups_->header(), &QHeaderView::sectionResized, this, [this](int column) {
        if (column == 0 && groups_->topLevelItemCount() == static_cast<int>(state_->groups().size()))
            nameGroups();
    });
    connect(groups_, &QTreeWidget::itemChanged, this, [this](const QTreeWidgetItem* item) {
        if (showing_) return;
        state_->change([&](CompareSettings& question) {
            const QString key = item->data(0, kKeyRole).toString();
            if (item->checkState(0) == Qt::Checked)
                question.hidden.remove(key);
            else
                question.hidden.insert(key);
        });
    });
    first_ = makeChoice(tr("First group of the pair"), tr("Differences are the second group minus this one"),
                        {}, [this](CompareSettings& question, int index) {
                            question.a = first_->itemData(index).toString().toStdString();
                        });
    second_ = makeChoice(tr("Second group of the pair"), tr("Compared with the first, seed by seed"), {},
                         [this](CompareSettings& question, int index) {
                             question.b = second_->itemData(index).toString().toStdString();
                         });
    auto* pair = new QFormLayout;
    for (auto [label, box] : {std::pair{tr("compare"), first_}, {tr("with"), second_}}) {
        allowShrinking(*box, 12);
        pair->addRow(label, box);
    }
    auto* import = new QPushButton(tr("Import metrics…"));
    import->setToolTip(tr("From a CSV or JSON file, or TensorBoard events, written by another program"));
    auto* from = new QMenu(import);
    from->addAction(tr("File…"), this, &ComparePage::importFile);
    from->addAction(tr("Folder of TensorBoard events…"), this, &ComparePage::importFolder);
    import->setMenu(from);
    return wrapInWidget(columnOf({filter_, filter_problem_, {groups_, 1}, pair, import}));
}

void ComparePage::showOnly(const QStringList& runs) {
    filter_->clear();
    QSet<QString> keys;
    for (const ComparedGroup& group : state_->groups())
        if (std::ranges::any_of(group.all, [&](const QString& run) { return runs.contains(run); }))
            keys.insert(group.key());
    showOnlyGroups(keys);
}

void ComparePage::showOnlyGroups(const QSet<QString>& keys) {
    state_->change([&](CompareSettings& question) {
        question.hidden.clear();
        question.a = question.b = {};
        for (const ComparedGroup& group : state_->groups()) {
            if (!keys.contains(group.key())) {
                question.hidden.insert(group.key());
                continue;
            }
            if (question.a.empty())
                question.a = group.group.key;
            else if (question.b.empty())
                question.b = group.group.key;
        }
    });
}

void ComparePage::openGroupMenu(const QPoint& at) {
    QSet<QString> keys;
    for (const QTreeWidgetItem* item : groups_->selectedItems())
        keys.insert(item->data(0, kKeyRole).toString());
    QMenu menu(this);
    menu.addAction(tr("Show only these"), this, [this, keys] { showOnlyGroups(keys); })
        ->setEnabled(!keys.isEmpty());
    menu.addAction(tr("Show all"), this,
                   [this] { state_->change([](CompareSettings& question) { question.hidden.clear(); }); });
    menu.exec(groups_->viewport()->mapToGlobal(at));
}

QWidget* ComparePage::makeMeasureBar() {
    QStringList titles;
    for (const MeasureInfo& info : measures())
        titles << QString::fromStdString(info.title);
    auto* measure =
        makeChoice(tr("Measure to compare"), tr("The outcome by which groups and seeds are compared"), titles,
                   &CompareSettings::measure, &CompareSettings::measure_chosen);
    solved_percent_ = named(new QSpinBox, tr("Share of problems to reach"),
                            tr("The first evaluation at which this share of problems is solved counts"));
    solved_percent_->setRange(1, 100);
    solved_percent_->setSuffix(QStringLiteral(" %"));
    solved_percent_->setKeyboardTracking(false);
    connect(solved_percent_, &QSpinBox::valueChanged, this, [this](int value) {
        if (!showing_) state_->change([&](CompareSettings& question) { question.share = value; });
    });
    drop_worst_ = makeCheck(tr("drop each group's worst run"),
                            tr("As in the RoPER note; the comparison seed by seed always keeps every pair"),
                            &CompareSettings::drop_worst);
    return makeFlowRow({new QLabel(tr("by")), measure, solved_percent_, drop_worst_});
}

QWidget* ComparePage::makeCurvesTab() {
    QStringList curves, spreads, x_axes;
    for (const QuantityInfo& info : commonQuantities())
        curves << QString::fromStdString(info.titleWithUnit());
    for (const Spread each : {Spread::range, Spread::standard_error, Spread::interval})
        spreads << tr("band: %1").arg(spreadTitle(each));
    for (const XAxis each : {XAxis::step, XAxis::time, XAxis::tokens})
        x_axes << tr("by %1").arg(xAxisTitle(each).section(',', 0, 0));
    auto* curve = makeChoice(tr("Quantity of the curves"), tr("Mean over the runs of each group"), curves,
                             &CompareSettings::curve, &CompareSettings::curve_chosen);
    auto* spread = makeChoice(tr("Meaning of the band"), tr("The band around each group's mean"), spreads,
                              &CompareSettings::spread);
    auto* across = makeChoice(tr("Quantity on the x axis"), tr("Steps, training time or tokens"), x_axes,
                              &CompareSettings::across);
    final_half_ =
        makeCheck(tr("final half"), tr("Only the second half of the runs, as in the RoPER note's charts"),
                  &CompareSettings::final_half);
    auto* each_run = makeCheck(tr("each run"), tr("Every run as a thin line"), &CompareSettings::each_run);
    auto* tab = new QWidget;
    columnOf({makeFlowRow({curve, across, spread, final_half_, each_run}), {curves_, 1}}, tab);
    return tab;
}

QWidget* ComparePage::makeBoardTab() {
    board_summary_ = wrappedLabel();
    queue_missing_ = makeActionButton(tr("Queue missing runs"),
                                      tr("Queue a run for every empty square, twins next to each other"),
                                      this, [this] { emit runsRequested(missingRuns(board_->rows())); });
    measure_speed_ =
        makeActionButton(tr("Measure speed here"),
                         tr("Time a few steps of every setting that has not been run on this machine yet"),
                         speed_, &SpeedMeasurement::start);
    auto* tab = new QWidget;
    columnOf({{board_, 1}, rowOf({queue_missing_, measure_speed_, {board_summary_, 1}})}, tab);
    return tab;
}

/// Buttons for the next steps: train runs that would settle the question, or inspect a run.
QWidget* ComparePage::makeNextSteps() {
    train_twins_ = new QPushButton;
    train_pairs_ = new QPushButton;
    inspect_first_ = new QPushButton;
    inspect_second_ = new QPushButton;
    for (auto [button, kind] : {std::pair{train_twins_, FollowUp::Kind::missing_twins},
                                std::pair{train_pairs_, FollowUp::Kind::more_pairs}})
        connect(button, &QPushButton::clicked, this, [this, kind = kind] {
            for (const CompareState::SuggestedRuns& next : state_->suggestedRuns())
                if (next.follow_up.kind == kind) return emit runsRequested(next.follow_up.runs);
        });
    for (QPushButton* button : {inspect_first_, inspect_second_})
        connect(button, &QPushButton::clicked, this,
                [this, button] { emit inspectRequested(button->property(kRunProperty).toString()); });
    return makeFlowRow({train_pairs_, train_twins_, inspect_first_, inspect_second_});
}

void ComparePage::showNextSteps() {
    for (QPushButton* button : {train_twins_, train_pairs_})
        button->hide();
    for (const CompareState::SuggestedRuns& next : state_->suggestedRuns()) {
        const auto count = static_cast<int>(next.follow_up.runs.size());
        const bool are_pairs = next.follow_up.kind == FollowUp::Kind::more_pairs;
        QPushButton* button = are_pairs ? train_pairs_ : train_twins_;
        const QString what =
            are_pairs ? countText(count / 2, tr("more pair")) : countText(count, tr("missing twin"));
        button->setText(tr("Queue %1 (%2)").arg(what, shortDuration(next.time.seconds)));
        button->setToolTip(
            tr("The same settings, %1: %2")
                .arg(are_pairs ? tr("seeds that neither group has") : tr("the seeds that one group lacks"),
                     expectedTimeText(next.time)));
        button->show();
    }
    // The first seed with both outcomes represents the pair.
    const SeedPair* pair = nullptr;
    if (state_->comparison())
        for (const SeedPair& candidate : state_->comparison()->pairs)
            if (pair == nullptr && candidate.isKnown()) pair = &candidate;
    for (auto [button, first] : {std::pair{inspect_first_, true}, std::pair{inspect_second_, false}}) {
        button->setVisible(pair != nullptr);
        if (pair == nullptr) continue;
        const QString run = QString::fromStdString(first ? pair->run_a : pair->run_b);
        const RunWatcher* watcher = store_.find(run);
        const QString method = watcher != nullptr && watcher->specification()
                                   ? QString::fromStdString(watcher->specification()->methodTitle())
                                   : run;
        button->setProperty(kRunProperty, run);
        button->setText(tr("Inspect %1").arg(method));
        button->setToolTip(tr("What %1 has learned: its attention and its values").arg(store_.titleOf(run)));
    }
}

void ComparePage::addActions(Actions& actions) {
    const QString group = tr("Compare");
    const std::pair<Tab, QString> tabs[] = {{Tab::curves, tr("Curves with bands")},
                                            {Tab::run_by_run, tr("Outcome of every run")},
                                            {Tab::seed_by_seed, tr("Difference seed by seed")},
                                            {Tab::all_outcomes, tr("All outcomes in one table")},
                                            {Tab::board, tr("The RoPER note's table")},
                                            {Tab::lengths, tr("Longer problems than in training")}};
    for (const auto& [tab, title] : tabs)
        actions.add(group, title, {}, [this, tab = tab] { showTab(tab); });
    actions.add(group, tr("Drop the worst run"), {}, [this] { drop_worst_->toggle(); });
    actions.add(group, tr("Final half"), {}, [this] { final_half_->toggle(); });
    actions.add(group, tr("Choose runs"), QKeySequence::Find, [this] { filter_->setFocus(); });
    actions.add(group, tr("Import metrics from a file…"), {}, [this] { importFile(); });
    actions.add(group, tr("Import metrics from a folder of TensorBoard events…"), {},
                [this] { importFolder(); });
    actions.add(group, tr("Queue the runs missing in the table"), {}, [this] {
        showTab(Tab::board);
        queue_missing_->click();
    });
}

void ComparePage::importFile() {
    importFrom(QFileDialog::getOpenFileName(
        this, tr("Import metrics from a file"), {},
        tr("Metrics (*.csv *.tsv *.jsonl *.json *.txt *tfevents*);;All files (*)")));
}

void ComparePage::importFolder() {
    importFrom(
        QFileDialog::getExistingDirectory(this, tr("Import metrics from a folder of TensorBoard events")));
}

void ComparePage::importFrom(const QString& path) {
    if (path.isEmpty()) return;
    ImportDialog dialog(path.toStdString(), store_.folder(), this);
    if (dialog.exec() == QDialog::Accepted) store_.refresh();
}

}  // namespace roper
