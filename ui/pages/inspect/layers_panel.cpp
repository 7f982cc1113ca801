#include "ui/pages/inspect/layers_panel.h"

#include <algorithm>

#include "ui/controls/layout_helpers.h"
#include "ui/live/token_texts.h"
#include "ui/theme/numbers.h"

namespace roper {

LayersPanel::LayersPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Layers"), tr("What each layer would predict"), models, parent),
      lens_map_(makeMap(QStringLiteral("logit-lens"), tr("The predictions of all layers are shown here."),
                        answers::lens, &LayersPanel::layerReadout)) {
    columnOf({{lens_map_, 1}}, this);
}

void LayersPanel::refresh() {
    const LensAnswer* answer = state().answer(answers::lens);
    lens_map_->setEmptyText(state().placeholder(tr("The predictions of all layers are shown here.")));
    if (answer == nullptr || answer->nll.front().empty()) return lens_map_->setMap({});
    constexpr double kDarkest_nats = 12;
    HeatMapView::Map map = answerMap(answer->nll, {tr("after layer"), tr("token"), tr("−ln p, nats")},
                                     HeatMapView::Scale::sequential,
                                     std::min(kDarkest_nats, std::max(0.1, largestOf(answer->nll))));
    map.row_labels << tr("emb");
    for (std::size_t layer = 0; layer + 1 < answer->nll.size(); ++layer)
        map.row_labels << QString::number(layer);
    map.row_labels_are_names = true;
    map.column_labels = formatTokens(answer->tokens).mid(0, map.values->cols());
    lens_map_->setTitle(tr("−ln p of the next token, read off after every layer (logit lens)"));
    lens_map_->setCaption(
        tr("−ln p of the next token from the residual stream after every layer, by the final norm and output "
           "head"));
    lens_map_->setMap(std::move(map));
}

QString LayersPanel::layerReadout(const LensAnswer& answer, std::size_t row, std::size_t column) const {
    const QString where = row == 0 ? tr("the embeddings") : tr("layer %1").arg(row - 1);
    return tr("after %1, “%2” is followed by “%3” (%4); the actual “%5” has −ln p %6 nats")
        .arg(where, formatToken(answer.tokens[column]), formatToken(answer.top[row][column]),
             probabilityText(answer.probability[row][column]), formatToken(answer.tokens[column + 1]),
             fixedNumberText(answer.nll[row][column], 3));
}

}  // namespace roper
