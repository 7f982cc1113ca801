#include "ui/window/main_window.h"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QLayout>
#include <QMenuBar>
#include <QMimeData>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/runs/user_record.h"
#include "ui/charts/export_dialog.h"
#include "ui/controls/input_guards.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/published_models.h"
#include "ui/live/training_end_reporter.h"
#include "ui/page/page_figure.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"
#include "ui/window/action_lists.h"

namespace roper {
namespace {

constexpr QSize kInitialSize{1360, 860}, kMinSize{800, 520};
constexpr const char* kPageKey = "view.page";  // in copied setups
constexpr int kRoomForNames = 1150;            // minimum window width for names in the sidebar

/// Path of the only file or folder among dropped data; empty if there is none or several.
QString droppedFile(const QMimeData& data) {
    const QList<QUrl> urls = data.urls();
    return urls.size() == 1 ? urls.front().toLocalFile() : QString();
}

/// Path of the first published model on this machine whose title contains `name`; empty: none.
QString pathOfModel(const std::string& name) {
    for (const QString& path : publishedModels())
        if (modelTitle(path).contains(QString::fromStdString(name), Qt::CaseInsensitive)) return path;
    return {};
}

}  // namespace

MainWindow::MainWindow(std::filesystem::path runs, QueueLauncher::WorkerMode worker_mode)
    : set_(runs, worker_mode),
      sidebar_(new QToolBar(tr("Pages"))),
      stack_(new QStackedWidget),
      explanation_(new QDockWidget(tr("Explain"))),
      explanation_text_(new HtmlView),
      tour_(new TourDock(this, [this] { return currentPage(); })),
      invitation_(new TourInvitation(this)),
      training_label_(new QLabel),
      training_bar_(new QProgressBar) {
    installAccessibility();
    std::error_code unknown;
    const std::filesystem::path named = std::filesystem::absolute(runs, unknown);
    setWindowTitle(
        tr("RoPER Lab – %1").arg(plainTitle(QString::fromStdString((unknown ? runs : named).string()))));
    qApp->installEventFilter(this);
    setAcceptDrops(true);
    resize(kInitialSize);
    setMinimumSize(kMinSize);
    connect(&Zoom::instance(), &Zoom::changed, this, &MainWindow::fitSidebar);
    sidebar_->setObjectName("sidebar");
    sidebar_->setMovable(false);
    // the sidebar must stay, as it is the only way to change pages
    sidebar_->toggleViewAction()->setEnabled(false);
    addToolBar(Qt::LeftToolBarArea, sidebar_);
    for (Page* page : set_.pages)
        addPage(page);
    setCentralWidget(wrapInWidget(columnOf({invitation_, {stack_, 1}})));
    makeExplanation();
    makeTour();
    makeMenus();
    makeStatusBar();
    connect(&set_.store, &RunStore::changed, this, &MainWindow::showTraining);
    auto* ended = new TrainingEndReporter(set_.store, set_.queue, this);
    connect(ended, &TrainingEndReporter::ended, this, [this](const QString& title, const QString& text) {
        // No notification is needed while the window is active.
        if (!isActiveWindow() && notify_action_->isChecked()) notifyDesktop(title, text);
    });
    connect(set_.attention, &AttentionPage::valueMixingRequested, this, [this] {
        set_.selection.change(tr("Mix all tokens"), [](Setup& s) { s.mixed_tokens = MixedTokens::all; });
        showPage(set_.mixing);
    });
    connect(set_.attention, &AttentionPage::trainingRequested, this, [this] { showPage(set_.training); });
    connect(set_.training, &TrainingPage::queued, this, [this] { showPage(set_.training); });
    const auto inspect = [this](const QString& run, bool with_twin) {
        showPage(set_.inspect);
        set_.inspect->inspect(run, with_twin);
    };
    connect(set_.training, &TrainingPage::inspectRequested, this, inspect);
    connect(set_.compare, &ComparePage::inspectRequested, this,
            [inspect](const QString& run) { inspect(run, false); });
    connect(set_.training, &TrainingPage::compareRunsRequested, this, [this](const QStringList& chosen) {
        showPage(set_.compare);
        set_.compare->showOnly(chosen);
    });
    connect(set_.training, &TrainingPage::compareRequested, this, [this](const QString& filter) {
        set_.compare->setFilter(filter);
        showPage(set_.compare);
    });
    qApp->installEventFilter(new WheelGuard(this));
    qApp->installEventFilter(new FocusGuard(this));
    set_.store.refresh();  // a session may refer to one of the runs
    restoreSession();
    showTraining();
}

MainWindow::~MainWindow() {
    // Pages refer to members of the set, which would otherwise be destroyed first.
    delete takeCentralWidget();
}

void MainWindow::addPage(Page* page) {
    // If a page has less room than it needs, as beside the tour in a small window, it scrolls.
    auto* area = new QScrollArea;
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    area->setWidget(page);
    stack_->addWidget(area);
    auto* button = new QToolButton;
    button->setText(page->name());
    button->setIcon(makePageIcon(sidebar_buttons_.size(), palette()));
    button->setCheckable(true);
    button->setAutoExclusive(true);
    button->setAutoRaise(true);
    button->setAccessibleName(page->name());
    const auto number = static_cast<int>(sidebar_buttons_.size()) + 1;
    button->setToolTip(tr("%1 (Ctrl+%2)").arg(page->name()).arg(number));
    connect(button, &QToolButton::clicked, this, [this, page] { goTo(page); });
    connect(page, &Page::reported, this, [this](const QString& text) { statusBar()->showMessage(text); });
    connect(page, &Page::explanationChanged, this, [this, page] {
        if (page == currentPage()) showExplanation();
    });
    sidebar_->addWidget(button);
    sidebar_buttons_.push_back(button);
    actions_.add(tr("Go"), page->name(), QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number)),
                 [this, page] { goTo(page); });
}

SetupText MainWindow::setupAndView() const {
    SetupText text{set_.selection.setup(), {}};
    for (const Page* page : set_.pages)
        text.view.merge(page->viewSettings());
    text.view[kPageKey] = currentPage()->name().toStdString();
    return text;
}

QString MainWindow::setupText() const {
    return QString::fromStdString(formatSetup(setupAndView()));
}

bool MainWindow::applySetupText(const QString& text) {
    try {
        const SetupText read = parseSetup(text.toStdString());
        set_.selection.set(read.setup, tr("Paste setup"));
        if (const auto page = read.view.find(kPageKey); page != read.view.end())
            showPage(QString::fromStdString(page->second));
        for (Page* page : set_.pages)
            page->setViewSettings(read.view);
        return true;
    } catch (const Error& error) {
        constexpr int kShown_ms = 12000;
        statusBar()->showMessage(tr("Setup not pasted: %1").arg(QString::fromStdString(error.what())),
                                 kShown_ms);
        return false;
    }
}

QString MainWindow::copiedSetup() const {
    SetupText copied{set_.selection.setup(), currentPage()->viewSettings()};
    copied.view[kPageKey] = currentPage()->name().toStdString();
    if (copied.setup.source != VectorSource::run) {
        const Setup defaults;
        copied.setup.run = defaults.run;
        copied.setup.run_text = defaults.run_text;
        copied.setup.layer = defaults.layer;
    }
    return QString::fromStdString(formatSetup(copied));
}

void MainWindow::copySetup() {
    constexpr int kShown_ms = 6000;
    QApplication::clipboard()->setText(copiedSetup());
    statusBar()->showMessage(
        tr("Setup copied as a line of text: paste it anywhere, or open it here with “Paste setup”"),
        kShown_ms);
}

void MainWindow::pasteSetup() {
    constexpr int kShown_ms = 6000;
    if (applySetupText(QApplication::clipboard()->text()))
        statusBar()->showMessage(tr("Setup restored"), kShown_ms);
}

void MainWindow::makeStatusBar() {
    training_bar_->setMaximumWidth(220);
    training_bar_->setTextVisible(true);
    training_bar_->setAccessibleName(tr("Training progress"));
    training_label_->setContentsMargins(10, 0, 10, 0);
    statusBar()->addWidget(training_label_);
    statusBar()->addWidget(training_bar_);
    if (const auto other = otherOwnerOf(set_.store.folder()); other && !isTrusted(set_.store.folder())) {
        auto* reading_only = new QLabel;
        reading_only->setText(
            tr("This folder belongs to %1: it is open read-only").arg(QString::fromStdString(*other)));
        reading_only->setToolTip(tr("Use “roper-train trust FOLDER” to treat it as your own"));
        statusBar()->addPermanentWidget(reading_only);
    }
}

void MainWindow::makeExplanation() {
    explanation_->setObjectName("explanation");
    explanation_->setWidget(explanation_text_);
    explanation_text_->setFrameShape(QFrame::NoFrame);
    explanation_text_->setAccessibleName(tr("Explanation of this page"));
    explanation_text_->setMinimumWidth(260);
    addDockWidget(Qt::RightDockWidgetArea, explanation_);
    explanation_->hide();
    connect(explanation_, &QDockWidget::visibilityChanged, this, &MainWindow::showExplanation);
}

void MainWindow::makeTour() {
    addDockWidget(Qt::LeftDockWidgetArea, tour_);
    connect(tour_, &TourDock::stopReached, this, &MainWindow::showStop);
    connect(tour_, &TourDock::left, this, &MainWindow::leaveTour);
    connect(&tour_->panel(), &TourPanel::coverChanged, this, &MainWindow::showExplanation);
    connect(&tour_->panel(), &TourPanel::pageRequested, this,
            [this](const QString& page) { showPage(page); });
    connect(&tour_->panel(), &TourPanel::citationRequested, this, [this] {
        constexpr int kShown_ms = 4000;
        copyCitation();
        statusBar()->showMessage(tr("Citation copied"), kShown_ms);
    });
    connect(invitation_, &TourInvitation::accepted, this, [this] { startTour(); });
}

void MainWindow::setTour(Tour tour) {
    for (const TourStop& stop : tour.stops)
        if (pageNamed(QString::fromStdString(stop.page)) == nullptr)
            throw Error(ErrorKind::usage, "stop \"" + stop.name + "\" of the tour \"" + tour.title +
                                              "\": no page \"" + stop.page + "\"");
    for (const TourEnd::Next& next : tour.end.value_or(TourEnd{}).next)
        if (pageNamed(QString::fromStdString(next.page)) == nullptr)
            throw Error(ErrorKind::usage,
                        "the end of the tour \"" + tour.title + "\": no page \"" + next.page + "\"");
    showTour(tour);
    own_tour_ = std::move(tour);
}

/// Replaces the shown tour. @throws Error (usage) if its model is not on this machine
void MainWindow::showTour(Tour tour) {
    const QString model = tour.model.empty() ? QString() : pathOfModel(tour.model);
    if (!tour.model.empty() && model.isEmpty())
        throw Error(ErrorKind::usage, "the tour \"" + tour.title + "\" looks inside \"" + tour.model +
                                          "\"; open a model of that name on the Inspect page first");
    model_of_tour_ = model;
    tour_->setTour(std::move(tour));
}

bool MainWindow::startModelTour() {
    Tour tour = bundledTour("inside-a-model");
    if (pathOfModel(tour.model).isEmpty()) return false;
    showTour(std::move(tour));
    startTour();
    return true;
}

void MainWindow::startTour(const QString& stop) {
    const bool was_open = tour_->isVisible();
    tour_->start(stop);
    if (!was_open) resizeDocks({tour_}, {tour_->panel().sizeHint().width()}, Qt::Horizontal);
}

void MainWindow::showStop(const TourStop& stop) {
    InspectPage& inspect = *set_.inspect;
    if (!before_tour_)
        before_tour_ = {setupAndView(), set_.training->form().specification(), inspect.text().toPlainText(),
                        inspect.state().change()};
    set_.selection.set(stop.setup(), tr("Tour: %1").arg(QString::fromStdString(stop.title)));
    showPage(QString::fromStdString(stop.page));
    ViewSettings view = stop.view;
    if (!model_of_tour_.isEmpty()) {
        view["view.inspect_run"] = model_of_tour_.toStdString();
        inspect.state().setChange({});
    }
    for (Page* page : set_.pages)
        page->setViewSettings(view);
}

/// Restores what the stops have changed, but stays on the current page.
void MainWindow::leaveTour() {
    constexpr int kShown_ms = 8000;
    if (!before_tour_) return;
    const BeforeTour before = *std::exchange(before_tour_, {});
    const Setup of_tour = set_.selection.setup();
    set_.selection.set(before.setup.setup, tr("Leave the tour"));
    for (Page* page : set_.pages)
        page->setViewSettings(before.setup.view);
    set_.training->form().setSpecification(before.training);
    if (!before.inspect_text.isEmpty()) set_.inspect->readText(before.inspect_text);
    set_.inspect->state().setChange(before.inspect_change);
    if (!(set_.selection.setup() == of_tour))
        statusBar()->showMessage(
            tr("Your setup from before the tour is restored. Undo returns to the tour's setup."), kShown_ms);
}

Page* MainWindow::currentPage() const {
    const auto* area = qobject_cast<const QScrollArea*>(stack_->currentWidget());
    return area == nullptr ? nullptr : qobject_cast<Page*>(area->widget());
}

/// Until a run has been inspected, Inspect opens the run selected on Training.
void MainWindow::goTo(Page* page) {
    const RunWatcher* run = set_.training->runsPanel().selected();
    if (page == set_.inspect && set_.inspect->state().model().isEmpty() && run != nullptr)
        set_.inspect->inspect(run->name(), false);
    showPage(page);
}

void MainWindow::showPage(Page* page) {
    const auto index = std::ranges::find(set_.pages, page) - set_.pages.begin();
    stack_->setCurrentIndex(static_cast<int>(index));
    sidebar_buttons_[static_cast<std::size_t>(index)]->setChecked(true);  // unchecks the others
    page->setFocus();
    // A page's menu and shortcuts are active only while it is shown.
    for (const Page* one : set_.pages) {
        const auto menu = page_menus_.find(one->name());
        if (menu == page_menus_.end()) continue;
        menu->second->menuAction()->setVisible(one == page);
        for (QAction* action : menu->second->actions())
            action->setEnabled(one == page);
    }
    showExplanation();
}

/// Finds a page by name; a hyphen may replace the space, as in file names and on command lines.
Page* MainWindow::pageNamed(const QString& name) const {
    QString plain = QString(name).replace('-', ' ');
    if (plain.compare(QLatin1String("models"), Qt::CaseInsensitive) == 0)
        plain = set_.inspect->name();  // older versions had two pages for this
    const auto page = std::ranges::find_if(
        set_.pages, [&](const Page* one) { return one->name().compare(plain, Qt::CaseInsensitive) == 0; });
    return page == set_.pages.end() ? nullptr : *page;
}

bool MainWindow::showPage(const QString& name) {
    Page* page = pageNamed(name);
    if (page != nullptr) showPage(page);
    return page != nullptr;
}

void MainWindow::showExplanation() {
    if (explanation_->isVisible() && currentPage() != nullptr)
        explanation_text_->setHtml(currentPage()->isEnabled() ? currentPage()->explanation() : QString());
}

/// The status bar names the first run in training, and the number of others.
void MainWindow::showTraining() {
    const RunWatcher* first = nullptr;
    int others = -1;
    for (const RunWatcher* run : set_.store.runs()) {
        if (!run->isActive()) continue;
        if (first == nullptr) first = run;
        ++others;
    }
    training_bar_->setVisible(first != nullptr);
    if (first == nullptr) return training_label_->setText(tr("Nothing is training"));
    const bool trains = first->state() == RunState::running && !first->isSuspended();
    const QString state = trains                 ? tr("training: %1")
                          : first->isSuspended() ? tr("suspended: %1")
                                                 : tr("paused: %1");
    QStringList parts{state.arg(set_.store.titleOf(first->name()))};
    if (others > 0) parts << tr("and %1 more").arg(others);
    if (trains && first->stepsPerSecond() > 0)
        parts << tr("%1 steps/s").arg(first->stepsPerSecond(), 0, 'f', 1);
    if (const auto left = first->remainingSeconds()) parts << tr("%1 left").arg(shortDuration(*left));
    training_label_->setText(parts.join("   "));
    training_bar_->setRange(0, static_cast<int>(std::max<std::int64_t>(1, first->steps())));
    training_bar_->setValue(static_cast<int>(first->step()));
}

void MainWindow::exportCurrent() {
    if (!currentPage()->isEnabled()) return;  // the tour covers the page
    const std::vector<const Figure*> figures = currentPage()->figures();
    if (figures.size() == 1) return exportFigureOf(*currentPage(), *figures.front());
    QMenu menu(this);
    for (const Figure* figure : figures)
        menu.addAction(plainCaption(figure->figureTitle()), this,
                       [this, figure] { exportFigureOf(*currentPage(), *figure); });
    const PageFigure page(*currentPage());
    if (page.parts() > 1) {
        menu.addSeparator();
        menu.addAction(plainCaption(page.figureTitle()), this, [this, &page] { exportByDialog(page, this); });
    }
    menu.exec(mapToGlobal(rect().center()));
}

/// Figures behind another tab are updated first.
void MainWindow::exportFigureOf(Page& page, const Figure& figure) {
    const auto* widget = dynamic_cast<const QWidget*>(&figure);
    if (widget != nullptr && !widget->isVisible()) page.refreshHiddenTabs();
    exportByDialog(figure, this);
}

void MainWindow::restoreSession() {
    QSettings settings;
    restoreGeometry(settings.value("window/geometry").toByteArray());
    restoreState(settings.value("window/state").toByteArray());
    try {
        const SetupText text = parseSetup(settings.value("session/setup").toString().toStdString());
        set_.selection.replace(text.setup);
        for (Page* page : set_.pages)
            page->setViewSettings(text.view);
    } catch (const Error&) {
        // On the first start, or with settings of a version with other keys, the defaults apply.
    }
    if (!showPage(settings.value("window/page").toString())) showPage(set_.rotation);
}

void MainWindow::saveSession() {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/state", saveState());
    settings.setValue("window/page", currentPage()->name());
    settings.setValue("session/setup",
                      before_tour_ ? QString::fromStdString(formatSetup(before_tour_->setup)) : setupText());
}

void MainWindow::resetLayout() {
    explanation_->hide();
    resize(kInitialSize);
    QSettings().remove("window");
}

/// Shows only icons if names are switched off or do not fit.
void MainWindow::fitSidebar() {
    constexpr QSize kNamed{84, 62}, kIconOnly{44, 44};
    constexpr int kIcon = 28, kAroundIcon = 8;  // pixels: the icon, and its padding on both sides together
    // All buttons are made to fit, because a tool bar hides those that do not.
    const auto count = static_cast<int>(sidebar_buttons_.size());
    const QMargins margins = sidebar_->layout()->contentsMargins();
    const int available = height() - menuBar()->sizeHint().height() - statusBar()->sizeHint().height() -
                          margins.top() - margins.bottom();
    const int spacing = sidebar_->style()->pixelMetric(QStyle::PM_ToolBarItemSpacing, nullptr, sidebar_);
    const int room = available / count - spacing - 1;
    const bool has_room = width() >= zoomed(kRoomForNames) && room >= zoomed(kNamed.height());
    const bool names = names_action_->isChecked() && has_room;
    names_action_->setEnabled(has_room);
    const QSize size = zoomed(names ? kNamed : kIconOnly).boundedTo({QWIDGETSIZE_MAX, room});
    const int icon = std::min(zoomed(kIcon), size.height() - kAroundIcon);
    sidebar_->setIconSize({icon, icon});  // tool bars set the icon size of their buttons
    for (QToolButton* button : sidebar_buttons_) {
        button->setToolButtonStyle(names ? Qt::ToolButtonTextUnderIcon : Qt::ToolButtonIconOnly);
        button->setFixedSize(size);
    }
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    fitSidebar();
}

/// A file or folder that is dropped onto the window is opened as a model.
void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!droppedFile(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QString path = droppedFile(*event->mimeData());
    if (path.isEmpty()) return;
    event->acceptProposedAction();
    showPage(&inspectPage());
    inspectPage().openPublished(path);
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() != QEvent::PaletteChange) return;
    for (std::size_t i = 0; i < sidebar_buttons_.size(); ++i)
        sidebar_buttons_[i]->setIcon(makePageIcon(i, palette()));
}

/// Passes all keys to an open popup, and those of `window_shortcuts_` to the window.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        if (QApplication::activePopupWidget() != nullptr) {
            event->accept();  // for the popup, which may handle this very event: a list selects on Return
            return false;
        }
        // On some desktops, Ctrl+E and Ctrl+K are editing keys of line edits; here they are shortcuts.
        const auto* key = static_cast<QKeyEvent*>(event);
        if (QApplication::activeModalWidget() == nullptr &&
            window_shortcuts_.contains(QKeySequence(key->keyCombination()))) {
            event->ignore();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    saveSession();
    event->accept();
}

}  // namespace roper
