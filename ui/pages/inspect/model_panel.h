#pragma once

#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <QWidget>
#include <utility>

#include "ui/page/page_figures.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

struct InspectPicture;

/// The model that the page shows, and the one beside it, which reads the same text.
struct ShownModels {
    InspectState &state, &beside;
};

/// One side of the page: its controls, and pictures of what a model answers. What nobody sees is not drawn.
class ModelPanel : public QWidget {
    Q_OBJECT

  public:
    /// @param title  one or two words
    /// @param help   a phrase: what is seen in it
    ModelPanel(const QString& title, const QString& help, const ShownModels& models, QWidget* parent);

    const QString& title() const { return title_; }
    const QString& help() const { return help_; }
    virtual PageFigures::Figures figures() const = 0;
    /// What it asks of the model while it is seen, in this order.
    virtual std::vector<const Need*> needs() const { return {&need::model}; }
    /// The same of the model beside it.
    virtual std::vector<const Need*> besideNeeds() const { return {}; }
    /// What one picture asks of both; nothing where it is made of what is seen of a run.
    virtual std::vector<const Need*> needsOf(const QString& figure) const {
        return static_cast<void>(figure), needs();
    }
    /// Sets what a picture without a window is to show, and requests what it needs.
    virtual void prepare(const QString& figure, const InspectPicture& picture) {
        static_cast<void>(figure), static_cast<void>(picture);
    }

    void refreshWhenSeen();
    void refreshNow();

  signals:
    /// The numbers under the pointer as text; empty when it has left.
    void pointed(const QString& readout);
    /// Other answers are needed than before.
    void needsChanged();

  protected:
    /// Shows what is known now.
    virtual void refresh() = 0;
    void showEvent(QShowEvent* event) override;

    InspectState& state() const { return models_.state; }
    InspectState& beside() const { return models_.beside; }
    bool isBeside() const { return !beside().model().isEmpty(); }
    const QString modelName() const;
    /// Hands on what is under the pointer of these pictures.
    template <class... Views>
    void hear(Views*... views) {
        (connect(views, &Views::pointed, this, &ModelPanel::pointed), ...);
    }

    /// A map of the panel, with what stands in its place while it is empty, and what is said of a cell that
    /// is pointed at.
    template <class Panel>
    HeatMapView* makeMap(const QString& figure, const QString& instead,
                         QString (Panel::*text_at)(int row, int column) const) {
        auto* map = new HeatMapView(figure, this);
        map->setEmptyText(instead);
        connect(map, &HeatMapView::cellPointed, this, [this, text_at](int row, int column) {
            const bool is_on = row >= 0 && column >= 0;
            emit pointed(is_on ? (static_cast<Panel*>(this)->*text_at)(row, column) : QString());
        });
        hear(map);
        return map;
    }

    static QWidget* column(std::initializer_list<std::pair<QWidget*, int>> widgets);
    /// Widgets side by side, those with a stretch as wide as there is room.
    static QHBoxLayout* row(std::initializer_list<std::pair<QWidget*, int>> widgets);
    /// Widgets side by side, in several lines where there is little room.
    static QLayout* row(std::initializer_list<QWidget*> widgets);
    static QSplitter* splitter(Qt::Orientation orientation, std::initializer_list<QWidget*> widgets,
                               const QList<int>& sizes = {});
    /// A picture below a title, which is given back.
    static QWidget* titled(QLabel*& title, QWidget* picture);
    /// As high as its contents want to be.
    static QWidget* scrolled(QWidget* widget);

  private:
    QString title_, help_;
    ShownModels models_;
    bool is_stale_ = true;
};

/// Rows of numbers, all of one length, as a map.
HeatMapView::Map answerMap(const std::vector<std::vector<double>>& rows, HeatMapView::Scale scale);
/// The same with a limit of its own.
HeatMapView::Map answerMap(const std::vector<std::vector<double>>& rows, HeatMapView::Scale scale,
                           double limit);
double largestOf(const std::vector<std::vector<double>>& rows);

}  // namespace roper
