#pragma once

#include <QLabel>
#include <QWidget>
#include <utility>

#include "ui/page/page_figures.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

struct InspectFigureSettings;

/// The model of the page, and the comparison model, which reads the same text.
struct ShownModels {
    InspectState &state, &comparison;
};

/// A panel of the Inspect page: controls, and figures of the model's answers. Refreshed only while visible.
class ModelPanel : public QWidget {
    Q_OBJECT

  public:
    /// @param title  one or two words
    /// @param help   a phrase that says what the panel shows
    ModelPanel(const QString& title, const QString& help, const ShownModels& models, QWidget* parent);

    const QString& title() const { return title_; }
    const QString& help() const { return help_; }
    virtual PageFigures::Figures figures() const = 0;
    /// Answers that the panel needs while it is visible, in this order.
    virtual AnswerSpecs requiredAnswers() const {
        return {&answers::predictions, &answers::changed_predictions};
    }
    /// The same for the comparison model.
    virtual AnswerSpecs comparisonAnswers() const { return {}; }
    /// Answers that one figure needs from both models; empty for figures made from a run's files.
    virtual AnswerSpecs answersForFigure(const QString& /*figure*/) const { return requiredAnswers(); }
    /// Applies the settings of a figure drawn without a window, and requests the answers that it needs.
    virtual void prepare(const QString& /*figure*/, const InspectFigureSettings& /*picture*/) {}

    /// Calls `refresh` now if the panel is visible, otherwise when it is next shown.
    void refreshWhenVisible();
    void refreshNow();

  signals:
    /// Emitted with the readout for the pointer; empty when it has left.
    void hovered(const QString& readout);
    /// Emitted when `requiredAnswers` has changed.
    void requiredAnswersChanged();
    /// Emitted when the attention, the values or the walkthrough of the chosen head are to be shown.
    void attentionRequested();
    void valuesRequested();
    void walkthroughRequested();

  protected:
    /// Shows the current answers.
    virtual void refresh() = 0;
    void showEvent(QShowEvent* event) override;

    InspectState& state() const { return models_.state; }
    InspectState& comparison() const { return models_.comparison; }
    bool hasComparison() const { return !comparison().model().isEmpty(); }
    QString modelName() const { return state().modelName(); }
    /// Forwards the readouts of these figures.
    template <class... Views>
    void forwardReadouts(Views*... views) {
        (connect(views, &Views::hovered, this, &ModelPanel::hovered), ...);
    }

    using HeadAt = std::function<std::optional<std::pair<int, int>>(const QPointF&)>;
    /// Adds actions on the head under the pointer to a figure's context menu: show its attention, show its
    /// values, walk through it, ablate it.
    /// @param headAt  layer and head at a point of the canvas; nothing if there is none
    void offerHeads(FigureView& figure, HeadAt headAt);

    /// The answer about the chosen head; null while unknown.
    template <class Answer>
    const Answer* answerForHead(const TypedAnswerSpec<Answer>& spec) const {
        const Answer* answer = state().answer(spec);
        const bool is_it =
            answer != nullptr && answer->layer == state().layer() && answer->head == state().head();
        return is_it ? answer : nullptr;
    }

    /// A heat map for an answer; the panel draws it, and `text_at` provides the readout of a cell.
    /// @param figure       name of the figure
    /// @param placeholder  text while the map is empty
    template <class Panel, class Answer>
    HeatMapView* makeMap(const QString& figure, const QString& placeholder,
                         const TypedAnswerSpec<Answer>& spec,
                         QString (Panel::*text_at)(const Answer& answer, std::size_t row, std::size_t column)
                             const) {
        auto* map = new HeatMapView(figure, this);
        map->setEmptyText(placeholder);
        connect(map, &HeatMapView::cellHovered, this, [this, what = &spec, text_at](int row, int column) {
            const Answer* answer = state().answer(*what);
            const bool is_on = answer != nullptr && row >= 0 && column >= 0;
            emit hovered(is_on ? (static_cast<Panel*>(this)->*text_at)(*answer, static_cast<std::size_t>(row),
                                                                       static_cast<std::size_t>(column))
                               : QString());
        });
        forwardReadouts(map);
        return map;
    }

    /// A figure below a title; `title` receives the label.
    static QWidget* titled(QLabel*& title, QWidget* picture);

  private:
    QString title_, help_;
    ShownModels models_;
    bool is_stale_ = true;  ///< `refresh` is pending
};

/// What the rows, columns and values of a map are.
struct MapNames {
    QString row, column, value;
};
/// A map of rows of numbers; all rows have the same length, and there is at least one.
/// @param limit  end of the color scale; 0: the largest magnitude
HeatMapView::Map answerMap(const std::vector<std::vector<double>>& rows, const MapNames& names,
                           HeatMapView::Scale scale, double limit = 0);
/// The number, if it is below `count`. @throws Error (usage) naming the setting `key` otherwise
int checkedBelow(const std::string& key, std::int64_t number, int count);
double largestOf(const std::vector<std::vector<double>>& rows);

}  // namespace roper
