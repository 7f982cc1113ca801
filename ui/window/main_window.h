#pragma once

#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QMenu>
#include <QProgressBar>
#include <QSet>
#include <QStackedWidget>
#include <QToolBar>
#include <QToolButton>
#include <filesystem>
#include <optional>

#include "ui/page/page.h"
#include "ui/theme/plain_text.h"
#include "ui/window/page_set.h"
#include "ui/window/tour_dock.h"

namespace roper {

/// The window: sidebar, pages, menus, status bar, the guided tour.
class MainWindow : public QMainWindow {
    Q_OBJECT
    Q_PROPERTY(QString copiedSetup READ copiedSetup)  // for exports, which do not know this class

  public:
    /// @param worker_mode  whether this window keeps a worker running for the queue
    explicit MainWindow(std::filesystem::path runs,
                        QueueLauncher::WorkerMode worker_mode = QueueLauncher::WorkerMode::keep_worker);
    ~MainWindow() override;

    RotationPage& rotationPage() { return *set_.rotation; }
    SpectrumPage& spectrumPage() { return *set_.spectrum; }
    AttentionPage& attentionPage() { return *set_.attention; }
    MixingPage& mixingPage() { return *set_.mixing; }
    Selection& selection() { return set_.selection; }
    AttentionState& attentionState() { return set_.attention_state; }
    TrainingPage& trainingPage() { return *set_.training; }
    ComparePage& comparePage() { return *set_.compare; }
    InspectPage& inspectPage() { return *set_.inspect; }
    RunStore& runs() { return set_.store; }
    QueueLauncher& queue() { return set_.queue; }

    const std::vector<Page*>& pages() const { return set_.pages; }
    Page* currentPage() const;
    /// @param page  one of pages()
    void showPage(Page* page);
    /// @returns whether a page with this name exists
    bool showPage(const QString& name);

    /// Replaces the bundled guided tour. @throws Error (usage) for a page or model that does not exist
    void setTour(Tour tour);
    /// Opens the guided tour at a stop, or at the last position. @throws Error (usage)
    void startTour(const QString& stop = {});
    /// Opens the bundled tour of a published model. @returns false if the model is not on this machine
    bool startModelTour();
    /// Offers the guided tour at the first start.
    void offerTour() { invitation_->offer(); }
    TourDock& tour() { return *tour_; }

    /// The setup and the view of all pages, such as visible tabs, as one line of text.
    QString setupText() const;
    /// The same without what the current page does not show, such as names of runs on other pages, because
    /// it is sent to other people.
    QString copiedSetup() const;
    /// Restores setup and view from such a line. @returns false after an error, which the status bar shows
    bool applySetupText(const QString& text);

  protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    static constexpr auto kNamesKey = "window/sidebar_names", kNotifyKey = "training/notify";

    void addPage(Page* page);
    void goTo(Page* page);
    void makeMenus();
    void makeStatusBar();
    void makeExplanation();
    void addEditActions();
    void stepHistory(bool back);
    void addZoomActions();
    void addAppearanceActions();
    void addHelpActions();
    void makeTour();
    void showTour(Tour tour);
    void showStop(const TourStop& stop);
    void leaveTour();
    /// The setup and the view of all pages.
    SetupText setupAndView() const;
    Page* pageNamed(const QString& name) const;
    void copySetup();
    void pasteSetup();
    void showTraining();
    void showExplanation();
    void exportCurrent();
    void exportFigureOf(Page& page, const Figure& figure);
    void restoreSession();
    void saveSession();
    void resetLayout();
    void fitSidebar();

    /// The user's own state while the tour shows its stops.
    struct BeforeTour {
        SetupText setup;
        Specification training;  ///< in the form of the Training page
        QString inspect_text;
        ModelChange inspect_change;
    };

    PageSet set_;
    Actions actions_;
    std::optional<BeforeTour> before_tour_;
    std::optional<Tour> own_tour_;          ///< the tour of `setTour`
    QString model_of_tour_;                 ///< path of the model that the tour's stops show; empty: none
    QSet<QKeySequence> window_shortcuts_;   ///< active even while an input has the focus
    std::map<QString, QMenu*> page_menus_;  ///< by name of the page, or of another group of actions
    std::vector<QToolButton*> sidebar_buttons_;
    QToolBar* sidebar_;
    QAction* notify_action_ = nullptr;  ///< whether the end of training is shown on the desktop
    QAction* names_action_ = nullptr;   ///< whether the sidebar shows names if there is room
    QStackedWidget* stack_;
    QDockWidget* explanation_;
    HtmlView* explanation_text_;
    TourDock* tour_;
    TourInvitation* invitation_;
    QLabel* training_label_;
    QProgressBar* training_bar_;
};

}  // namespace roper
