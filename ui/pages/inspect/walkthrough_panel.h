#pragma once

#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>

#include "ui/charts/bar_chart.h"
#include "ui/pages/inspect/model_panel.h"
#include "ui/pages/inspect/pair_arrows.h"

namespace roper {

/// A walk through everything that the chosen head computes for one token n, stage by stage: from the residual
/// stream to the prediction. Scores and rotations are shown for a chosen key j.
class WalkthroughPanel : public ModelPanel {
    Q_OBJECT

  public:
    WalkthroughPanel(const ShownModels& models, QWidget* parent);

    /// Values of the figure setting `stage`, in the order of the computation.
    static std::vector<std::string> stageNames();

    PageFigures::Figures figures() const override { return {bars_, arrows_}; }
    AnswerSpecs requiredAnswers() const override {
        return {&answers::walkthrough, &answers::predictions, &answers::changed_predictions};
    }
    /// @throws Error (usage) for a stage that the model does not have, or that the figure does not show
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

    QString text() const { return text_->text(); }

  protected:
    void refresh() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    struct Stage;
    static bool rotates(const Walkthrough& w, char tensor) {
        return w.rotated.find(tensor) != std::string::npos;
    }
    static const std::vector<Stage>& allStages();
    /// Null if there is no answer for the chosen head and token.
    const Walkthrough* walkthrough() const;
    /// The stage that is selected in the list; null: none.
    const Stage* shownStage() const;
    static const Stage& stageNamed(const QString& name);
    void fillStages();
    void fillInputs();
    void showStage();
    void move(int by);
    std::size_t keyIndex() const { return static_cast<std::size_t>(key_->value()); }

    // One function for each stage draws it and returns its description.
    QString showResidual(const Walkthrough& w);
    QString showProjections(const Walkthrough& w);
    QString showRotation(const Walkthrough& w);
    QString showScores(const Walkthrough& w);
    QString showWeights(const Walkthrough& w);
    QString showValueRotation(const Walkthrough& w);
    QString showSum(const Walkthrough& w);
    QString showRotationBack(const Walkthrough& w);
    QString showOutput(const Walkthrough& w);
    QString showPrediction(const Walkthrough& w);
    /// Draws a number for each key that the query sees, as bars.
    void showOverTokens(const Walkthrough& w, const QString& key, const QString& label, const QColor& color,
                        const std::vector<double>& values);
    /// @param first  number of the first category
    void showBars(const QString& x_name, const std::vector<BarChart::Series>& series, int first = 0);

    QListWidget* stages_;
    QLabel* text_;
    QStackedWidget* stack_;
    BarChart* bars_;
    PairArrows* arrows_;
    QSpinBox *layer_, *head_, *token_, *key_;
    QPushButton *back_, *next_;
    QString chosen_ = QStringLiteral("residual");  ///< name of a stage, which the model may not have
    std::optional<int> chosen_key_;  ///< the user's choice; nothing: the key with the largest weight
    QString text_of_key_;            ///< text for which `chosen_key_` was chosen
    bool is_filling_ = false;        ///< the program fills the inputs, so their signals are not choices
};

}  // namespace roper
