#include <QActionGroup>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>

#include "ui/theme/appearance.h"
#include "ui/theme/plain_text.h"
#include "ui/theme/zoom.h"
#include "ui/window/action_lists.h"
#include "ui/window/main_window.h"

// The actions in the window's menus.

namespace roper {

void MainWindow::makeMenus() {
    actions_.add(tr("File"), tr("Export figure…"), Qt::CTRL | Qt::Key_E, [this] { exportCurrent(); });
    actions_.add(tr("File"), tr("Quit"), QKeySequence::Quit, [this] { close(); });
    addEditActions();
    actions_.add(tr("View"), tr("Explain this page"), Qt::Key_F1,
                 [this] { explanation_->setVisible(!explanation_->isVisible()); });
    actions_.add(tr("View"), tr("Commands…"), Qt::CTRL | Qt::Key_K,
                 [this] { CommandPalette(actions_, this).exec(); });
    actions_.add(tr("View"), tr("Reset layout"), {}, [this] { resetLayout(); });
    names_action_ = actions_.add(tr("View"), tr("Names in the sidebar"), {}, [this] {
        QSettings().setValue(kNamesKey, names_action_->isChecked());
        fitSidebar();
    });
    names_action_->setCheckable(true);
    names_action_->setChecked(QSettings().value(kNamesKey, true).toBool());
    notify_action_ = actions_.add(tr("View"), tr("Notify when training ends"), {},
                                  [this] { QSettings().setValue(kNotifyKey, notify_action_->isChecked()); });
    notify_action_->setCheckable(true);
    notify_action_->setChecked(QSettings().value(kNotifyKey, true).toBool());
    addZoomActions();
    addAppearanceActions();
    addHelpActions();
    for (const QString& group : {tr("File"), tr("Go"), tr("View")})
        for (const QAction* action : actions_.inGroup(group))
            for (const QKeySequence& keys : action->shortcuts())
                window_shortcuts_.insert(keys);
    for (Page* page : set_.pages)
        page->addActions(actions_);
    QStringList groups{tr("File"), tr("Edit"), tr("Go"), tr("View")};
    for (Page* page : set_.pages)
        groups << page->name();
    groups << tr("Help");
    for (const QString& group : groups) {
        const QList<QAction*> actions = actions_.inGroup(group);
        QMenu* menu = menuBar()->addMenu(group);
        menu->addActions(actions);
        page_menus_[group] = menu;
        // A page's shortcuts are active only while it is shown, so that Space and arrows act on the visible
        // page.
        for (QAction* action : actions) {
            for (Page* page : set_.pages) {
                if (page->name() != group) continue;
                action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
                page->addAction(action);
            }
        }
    }
}

void MainWindow::addZoomActions() {
    const QString view = tr("View");
    Zoom& zoom = Zoom::instance();
    QAction* larger = actions_.add(view, tr("Zoom in"), QKeySequence::ZoomIn, [&zoom] { zoom.step(1); });
    // On keyboards where + needs Shift, it is on the key of =.
    larger->setShortcuts({QKeySequence(QKeySequence::ZoomIn), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    actions_.add(view, tr("Zoom out"), QKeySequence::ZoomOut, [&zoom] { zoom.step(-1); });
    actions_.add(view, tr("Actual size"), Qt::CTRL | Qt::Key_0, [&zoom] { zoom.set(1); });
}

void MainWindow::addAppearanceActions() {
    auto* group = new QActionGroup(this);
    for (const auto& [name, appearance] : {std::pair{tr("Light colors"), Appearance::light},
                                           {tr("Dark colors"), Appearance::dark},
                                           {tr("Desktop colors"), Appearance::system}}) {
        QAction* action =
            actions_.add(tr("View"), name, {}, [appearance = appearance] { setAppearance(appearance); });
        action->setCheckable(true);
        action->setChecked(savedAppearance() == appearance);
        group->addAction(action);
    }
    QAction* reduced = actions_.add(tr("View"), tr("Reduce motion"), {}, [] {});
    reduced->setCheckable(true);
    reduced->setChecked(isMotionReduced());
    connect(reduced, &QAction::toggled, this, [](bool on) { setMotionReduced(on); });
}

void MainWindow::addHelpActions() {
    const QString help = tr("Help");
    actions_.add(help, tr("Guided tour"), {}, [this] {
        if (!model_of_tour_.isEmpty()) showTour(own_tour_ ? *own_tour_ : bundledTour());
        startTour();
    });
    actions_.add(help, tr("Tour of a language model"), {}, [this] {
        if (startModelTour()) return;
        QMessageBox::information(
            this, tr("Tour of a language model"),
            tr("This tour looks inside %1, which is not on this machine. “./lab setup --model” fetches its "
               "93 MB. A copy that Hugging Face, LM Studio, Ollama or llama.cpp has stored is found, too.")
                .arg(QString::fromStdString(bundledTour("inside-a-model").model)));
    });
    actions_.add(help, tr("Keys"), {}, [this] { showKeys(actions_, this); });
    actions_.add(help, tr("Glossary"), {}, [this] { showGlossary(this); });
    actions_.add(help, tr("About RoPER Lab"), {}, [this] { showAbout(this); });
}

void MainWindow::addEditActions() {
    const QString edit = tr("Edit");
    QUndoStack& history = set_.selection.history();
    const std::tuple<QAction*, QString, bool> steps[] = {
        {actions_.add(edit, tr("Undo"), QKeySequence::Undo, [this] { stepHistory(true); }), tr("Undo"), true},
        {actions_.add(edit, tr("Redo"), QKeySequence::Redo, [this] { stepHistory(false); }), tr("Redo"),
         false}};
    for (const auto& [action, name, back] : steps) {
        const auto show = [action = action, name = name, back = back, &history] {
            action->setEnabled(back ? history.canUndo() : history.canRedo());
            const QString what = back ? history.undoText() : history.redoText();
            action->setText(what.isEmpty() ? name : tr("%1: %2").arg(name, plainCaption(what)));
        };
        connect(&history, &QUndoStack::indexChanged, action, show);
        show();
    }
    actions_.add(edit, tr("Copy setup"), Qt::CTRL | Qt::SHIFT | Qt::Key_C, [this] { copySetup(); });
    actions_.add(edit, tr("Paste setup"), Qt::CTRL | Qt::SHIFT | Qt::Key_V, [this] { pasteSetup(); });
    actions_.add(edit, tr("Start over"), {}, [this] { set_.selection.set(Setup{}, tr("Start over")); });
}

/// Undoes or redoes the next step. If that changes the queue or runs, which may start training, the first
/// call only shows the Training page.
void MainWindow::stepHistory(bool back) {
    constexpr int kShown_ms = 12000;
    QUndoStack& history = set_.selection.history();
    const int step = back ? history.index() - 1 : history.index();
    if (changesRuns(history.command(step)) && currentPage() != set_.training) {
        showPage(set_.training);
        const QString what = plainCaption(history.text(step));
        statusBar()->showMessage(back ? tr("Press Undo again to take back: %1").arg(what)
                                      : tr("Press Redo again to repeat: %1").arg(what),
                                 kShown_ms);
        return;
    }
    if (back)
        history.undo();
    else
        history.redo();
}

}  // namespace roper
