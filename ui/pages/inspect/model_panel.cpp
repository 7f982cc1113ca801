#include "ui/pages/inspect/model_panel.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/inspect/head_maps.h"

namespace roper {
namespace {

/// The change without its ablations and other changes of heads; changes of positions remain.
ModelChange withoutHeads(ModelChange change) {
    change.layer.reset();
    change.head.reset();
    change.mute.clear();
    change.mute_heads = change.no_rotation = change.no_value_rotation = change.no_inverse = false;
    return change;
}

}  // namespace

ModelPanel::ModelPanel(const QString& title, const QString& help, const ShownModels& models, QWidget* parent)
    : QWidget(parent), title_(title), help_(help), models_(models) {
    for (InspectState* one : {&models.state, &models.comparison}) {
        for (auto signal : {&InspectState::modelChanged, &InspectState::inputsChanged,
                            &InspectState::headChanged, &InspectState::snapshotsChanged})
            connect(one, signal, this, &ModelPanel::refreshWhenVisible);
        connect(one, &InspectState::answered, this, &ModelPanel::refreshWhenVisible);
    }
}

void ModelPanel::refreshWhenVisible() {
    is_stale_ = !isVisible();
    if (!is_stale_) refresh();
}

void ModelPanel::refreshNow() {
    is_stale_ = false;
    refresh();
}

void ModelPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (std::exchange(is_stale_, false)) refresh();
}

void ModelPanel::offerHeads(FigureView& figure, HeadAt headAt) {
    figure.setMenuEntries([this, headAt = std::move(headAt)](QMenu& menu, const QPointF& at) {
        const auto found = headAt(at);
        if (!found || state().summary() == nullptr) return;
        const auto [layer, head] = *found;
        const QString title = headTitle(layer, head);
        menu.addSeparator();
        for (const auto& [text, show] :
             {std::pair(tr("Show the attention of %1"), &ModelPanel::attentionRequested),
              std::pair(tr("Show the values of %1"), &ModelPanel::valuesRequested),
              std::pair(tr("Walk through %1"), &ModelPanel::walkthroughRequested)})
            menu.addAction(text.arg(title), this, [this, layer = layer, head = head, show = show] {
                state().setHead(layer, head);
                emit(this->*show)();
            });
        // Other changes of heads are dropped, because they would now apply to this head.
        const ModelChange restored = withoutHeads(state().change());
        ModelChange ablated = restored;
        ablated.layer = layer;
        ablated.head = head;
        ablated.mute_heads = true;
        const bool is_ablated = state().change() == ablated;
        menu.addAction(is_ablated ? tr("Ablate nothing") : tr("Ablate %1").arg(title), this,
                       [this, change = is_ablated ? restored : ablated] {
                           state().setChange(change);
                           // A panel that does not show changes, such as Snapshots, gives way to Heads.
                           const auto shown = requiredAnswers();
                           if (std::ranges::find(shown, &answers::changed_predictions) == shown.end())
                               emit attentionRequested();
                       });
    });
}

QWidget* ModelPanel::titled(QLabel*& title, QWidget* picture) {
    title = new QLabel;
    // Long names must not widen the panel.
    title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    return wrapInWidget(columnOf({title, {picture, 1}}));
}

HeatMapView::Map answerMap(const std::vector<std::vector<double>>& rows, const MapNames& names,
                           HeatMapView::Scale scale, double limit) {
    Eigen::MatrixXd values(static_cast<Eigen::Index>(rows.size()),
                           static_cast<Eigen::Index>(rows.front().size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t k = 0; k < rows[i].size(); ++k)
            values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = rows[i][k];
    HeatMapView::Map map;
    map.scale = scale;
    map.limit = limit > 0 ? limit : HeatMapView::limitOf(values, false);
    map.setValues(std::move(values));
    map.row_name = names.row;
    map.column_name = names.column;
    map.value_name = names.value;
    return map;
}

int checkedBelow(const std::string& key, std::int64_t number, int count) {
    if (number < count) return static_cast<int>(number);
    throw Error(ErrorKind::usage, key + " must be a whole number from 0 to " + std::to_string(count - 1) +
                                      ", not \"" + std::to_string(number) + "\"");
}

double largestOf(const std::vector<std::vector<double>>& rows) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const std::vector<double>& row : rows)
        for (const double number : row)
            largest = std::max(largest, number);
    return largest;
}

}  // namespace roper
