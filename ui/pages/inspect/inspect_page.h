#pragma once

#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>

#include "ui/page/page.h"
#include "ui/pages/inspect/bands_panel.h"
#include "ui/pages/inspect/change_panel.h"
#include "ui/pages/inspect/generation_panel.h"
#include "ui/pages/inspect/heads_panel.h"
#include "ui/pages/inspect/layers_panel.h"
#include "ui/pages/inspect/learned_panel.h"
#include "ui/pages/inspect/lengths_panel.h"
#include "ui/pages/inspect/patch_panel.h"
#include "ui/pages/inspect/sizes_panel.h"
#include "ui/pages/inspect/subsets_panel.h"
#include "ui/pages/inspect/text_panel.h"
#include "ui/pages/inspect/training_panel.h"
#include "ui/pages/inspect/values_panel.h"

namespace roper {

/// Page 7: inside a model, a run at a step or a published one: a chooser over panels, each of which shows one
/// thing of it, and what breaks when a part is taken away.
class InspectPage : public Page {
    Q_OBJECT

  public:
    InspectPage(RunStore& store, QWidget* parent);

    void refreshHidden() override;
    void addActions(Actions& actions) override;
    QString explanation() const override;

    /// The panel of a class.
    template <class Panel>
    Panel& panel() const {
        for (ModelPanel* one : panels_)
            if (auto* found = qobject_cast<Panel*>(one)) return *found;
        qFatal("the page has no such panel");
    }
    template <class Panel>
    void showPanel() {
        choose(panel<Panel>());
    }

    /// The names of the panels; the chosen one is shown.
    QListWidget& chooser() { return *chooser_; }
    InspectState& state() { return *state_; }
    /// What stands beside it: another model that reads the same text, at the same step and head; its bands,
    /// kernels, heads and texts are drawn along.
    InspectState& besideState() { return *beside_state_; }
    void setBeside(const QString& model);
    /// Shows a run, alone or with its twin beside it if it has one.
    void inspect(const QString& run, bool with_twin);
    /// Opens a model by the name of a run or the path of a published one.
    void open(const QString& model);
    /// Opens a published model that was chosen on the disk, or says why it is none.
    void openPublished(const QString& path);
    void readText(const QString& text);
    QPlainTextEdit& text() { return *text_; }
    QComboBox& models() { return *models_; }
    ChangePanel& change() { return *change_; }

  protected:
    void becomeSeen(bool seen) override;
    void refresh() override;

  private:
    QWidget* makeChooser();
    QWidget* makeWelcome();
    void addPanels();
    void choose(const ModelPanel& panel);
    QToolButton* makeOpenButton();
    void makeTextInput();
    void keepView();
    void connectState();
    ModelPanel& shownPanel() const { return *panels_[static_cast<std::size_t>(chooser_->currentRow())]; }
    Figure& prepareFigure(FigureRequest request);
    void requireModel(const QString& model);
    void openForPicture(const QString& model, const InspectPicture& picture);
    void openAtStep();
    void keepPanel();
    void fillSteps();
    void fillModels();
    void fillBeside();
    void fillWelcome();
    void chooseFile();
    void chooseFolder();
    void wantWhatIsSeen();
    void showModel();
    void showFront();
    void showWork();

    RunStore& store_;
    InspectState *state_, *beside_state_;
    ShownModels shown_;
    std::vector<ModelPanel*> panels_;  ///< in the order in which they are listed
    QComboBox *models_, *steps_, *beside_;
    QPlainTextEdit* text_;
    QLabel *summary_, *cost_, *message_;
    QPushButton *read_, *cancel_;
    QProgressBar* progress_;
    QListWidget* chooser_;
    QStackedWidget* stack_;  ///< what to do first, and the panels
    QVBoxLayout* welcome_buttons_;
    ChangePanel* change_;
    QWidget* change_area_;
    bool prepares_ = false;  ///< a picture without a window, which needs less than a panel
    bool filling_ = false;
    QString wished_model_;  ///< of the last session, to be opened when the page is seen
    QTimer listing_;        ///< runs that come one after the other are listed once
};

}  // namespace roper
