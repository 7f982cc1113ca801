#pragma once

#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <optional>

#include "ui/page/page.h"
#include "ui/pages/inspect/change_panel.h"
#include "ui/pages/inspect/experts_panel.h"
#include "ui/pages/inspect/generation_panel.h"
#include "ui/pages/inspect/heads_panel.h"
#include "ui/pages/inspect/layers_panel.h"
#include "ui/pages/inspect/learned_panel.h"
#include "ui/pages/inspect/lengths_panel.h"
#include "ui/pages/inspect/pairs_panel.h"
#include "ui/pages/inspect/patch_panel.h"
#include "ui/pages/inspect/sizes_panel.h"
#include "ui/pages/inspect/snapshots_panel.h"
#include "ui/pages/inspect/subsets_panel.h"
#include "ui/pages/inspect/text_panel.h"
#include "ui/pages/inspect/values_panel.h"
#include "ui/pages/inspect/walkthrough_panel.h"

namespace roper {

/// Page 7: a look inside a model, either a run at a step or a published model. A list selects a panel; each
/// panel shows one aspect of the model, and the change panel ablates parts of it.
class InspectPage : public Page {
    Q_OBJECT

  public:
    InspectPage(RunStore& store, QWidget* parent);

    void refreshHiddenTabs() override;
    void addActions(Actions& actions) override;
    QString explanation() const override;

    /// The panel of the given class.
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

    /// The list of panel names; the chosen panel is shown.
    QListWidget& chooser() { return *chooser_; }
    InspectState& state() { return *state_; }
    /// The comparison model: same text, step and head. Some panels show it beside the model of the page.
    InspectState& comparisonState() { return *comparison_state_; }
    /// @param model  as in `open`; empty: no comparison
    void setComparison(const QString& model);
    /// Shows a run, alone or together with its twin if it has one.
    void inspect(const QString& run, bool with_twin);
    /// Opens a model by the name of a run or the path of a published model.
    void open(const QString& model);
    /// Opens a published model chosen on the disk, or shows why it cannot be read.
    void openPublished(const QString& path);
    void readText(const QString& text);
    QPlainTextEdit& text() { return *text_; }

  protected:
    void onVisibilityChanged(bool seen) override;
    void resizeEvent(QResizeEvent* event) override;
    void refresh() override { requestVisibleAnswers(); }

  private:
    QWidget* makeChooser();
    QWidget* makeWelcome();
    void addPanels();
    void choose(const ModelPanel& panel);
    QToolButton* makeOpenButton();
    QToolButton* makeChangesButton();
    void makeTextInput();
    void registerViewSettings();
    void connectState();
    ModelPanel& shownPanel() const { return *panels_[static_cast<std::size_t>(chooser_->currentRow())]; }
    Figure& prepareFigure(FigureRequest request) override;
    void requireModel(const QString& model);
    void openForFigure(const QString& model, const InspectFigureSettings& picture);
    void registerPanelSetting();
    void fillSteps();
    void fillModels();
    void fillComparison();
    void fillWelcome();
    void chooseStored();
    void chooseFile();
    void chooseFolder();
    void requestVisibleAnswers();
    void showModel();
    void showCurrentPanel();
    void showOrHideChanges();
    QStringList comparingPanels() const;
    void showProgress();

    RunStore& store_;
    InspectState *state_, *comparison_state_;
    ShownModels shown_;
    std::vector<ModelPanel*> panels_;  ///< in the order of `chooser_`
    QComboBox *models_, *steps_, *comparison_box_;
    QPlainTextEdit* text_;
    QLabel *summary_, *cost_, *message_;
    QPushButton *read_, *cancel_;
    QProgressBar* progress_;
    QListWidget* chooser_;
    QStackedWidget* stack_;  ///< the welcome text, and the panels
    QVBoxLayout* welcome_buttons_;
    ChangePanel* change_;
    QWidget* change_area_;
    QToolButton* changes_button_;              ///< shows or hides `change_area_`
    std::optional<bool> changes_wanted_ = {};  ///< the user's choice; nothing: shown where there is room
    /// A figure is being prepared without a window; it requests fewer answers than a panel.
    bool is_preparing_ = false;
    QString model_to_restore_;  ///< model of the last session, opened when the page is first shown
};

}  // namespace roper
