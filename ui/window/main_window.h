#pragma once

#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QMenu>
#include <QProgressBar>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QToolButton>
#include <filesystem>

#include "ui/explorer/selection.h"
#include "ui/live/queue_keeper.h"
#include "ui/live/run_store.h"
#include "ui/live/trainer_launcher.h"
#include "ui/page/actions.h"
#include "ui/pages/attention/attention_page.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/inspect/inspect_page.h"
#include "ui/pages/mixing/mixing_page.h"
#include "ui/pages/rotation/rotation_page.h"
#include "ui/pages/spectrum/spectrum_page.h"
#include "ui/pages/training/training_page.h"
#include "ui/window/icons.h"

namespace roper {

/// The window: rail, pages, status bar. Wires pages together and does nothing else.
class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    /// @param duty  whether this window sees to it that the queue is worked through
    explicit MainWindow(std::filesystem::path runs, QueueKeeper::Duty duty = QueueKeeper::Duty::work);
    ~MainWindow() override;

    RotationPage& rotationPage() { return *rotation_; }
    SpectrumPage& spectrumPage() { return *spectrum_; }
    AttentionPage& attentionPage() { return *attention_; }
    MixingPage& mixingPage() { return *mixing_; }
    Selection& selection() { return selection_; }
    AttentionState& attentionState() { return attention_state_; }
    TrainingPage& trainingPage() { return *training_; }
    ComparePage& comparePage() { return *compare_; }
    InspectPage& inspectPage() { return *inspect_; }
    RunStore& runs() { return store_; }
    QueueKeeper& queue() { return queue_; }

    std::vector<Page*> pages() const { return pages_; }
    Page* currentPage() const;
    void showPage(Page* page);
    /// @returns whether there is a page of this name
    bool showPage(const QString& name);

    /// The setup and what is in front, as one line of text.
    QString setupText() const;
    /// Restores what such a line says; says so in the status bar, or why it cannot be read.
    bool applySetupText(const QString& text);

  protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void addPage(Page* page, PageIcon icon);
    void makeMenus();
    void makeStatusBar();
    void makeExplanation();
    void addEditActions();
    void copySetup();
    void pasteSetup();
    void showTraining();
    void showExplanation();
    void exportCurrent();
    void restoreSession();
    void saveSession();
    void resetLayout();

    Selection selection_;
    RunStore store_;
    TrainerLauncher launcher_;
    QueueKeeper queue_;
    AttentionState attention_state_;
    Actions actions_;
    RotationPage* rotation_;
    SpectrumPage* spectrum_;
    AttentionPage* attention_;
    MixingPage* mixing_;
    TrainingPage* training_;
    ComparePage* compare_;
    InspectPage* inspect_;
    std::vector<Page*> pages_;
    std::map<QString, QMenu*> page_menus_;  ///< by the page's name, or another group's
    std::vector<QToolButton*> rail_buttons_;
    std::vector<PageIcon> icons_;
    QVBoxLayout* rail_;
    QStackedWidget* stack_;
    QDockWidget* explanation_;
    QTextBrowser* explanation_text_;
    QLabel* training_label_;
    QProgressBar* training_bar_;
};

}  // namespace roper
