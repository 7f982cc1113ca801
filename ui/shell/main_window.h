#pragma once

#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QProgressBar>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QToolButton>
#include <filesystem>

#include "ui/rotation/rotation_page.h"
#include "ui/runs/run_store.h"
#include "ui/runs/trainer_launcher.h"
#include "ui/shell/actions.h"
#include "ui/shell/icons.h"
#include "ui/shell/selection.h"
#include "ui/training/training_page.h"

namespace roper {

/// The window: rail, pages, status bar. Wires pages together and does nothing else.
class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(std::filesystem::path runs);
    ~MainWindow() override;

    RotationPage& rotationPage() { return *rotation_; }
    TrainingPage& trainingPage() { return *training_; }
    RunStore& runs() { return store_; }

    std::vector<Page*> pages() const { return pages_; }
    Page* currentPage() const;
    void showPage(Page* page);
    /// @returns whether there is a page of this name
    bool showPage(const QString& name);

  protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void addPage(Page* page, PageIcon icon);
    void makeMenus();
    void makeStatusBar();
    void makeExplanation();
    void showTraining();
    void showExplanation();
    void exportCurrent();
    void restoreSession();
    void saveSession();
    void resetLayout();

    Selection selection_;
    RunStore store_;
    TrainerLauncher launcher_;
    Actions actions_;
    RotationPage* rotation_;
    TrainingPage* training_;
    std::vector<Page*> pages_;
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
