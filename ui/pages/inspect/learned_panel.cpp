#include "ui/pages/inspect/learned_panel.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/pages/inspect/models_fields.h"

namespace roper {

LearnedPanel::LearnedPanel(ModelsState& state, InspectState& run, QWidget* parent)
    : ModelPanel(tr("Learned positions"), state, parent), learned_(new LearnedView(run, this)) {
    hear(&learned_->chart());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(learned_, 1);
}

void LearnedPanel::prepare(const QString&, const ModelsPicture& picture) {
    LearnedView& view = *learned_;
    view.refresh();
    if (picture.learned) {
        const int index = view.quantity().findData(QString::fromStdString(*picture.learned));
        std::vector<std::string> recorded;
        for (int i = 0; i < view.quantity().count(); ++i)
            recorded.push_back(view.quantity().itemData(i).toString().toStdString());
        if (index < 0)
            throw Error(ErrorKind::usage, "the run has recorded no \"" + *picture.learned + "\"; there are " +
                                              join(recorded, ", "));
        view.quantity().setCurrentIndex(index);
    }
    if (view.chart().curves().empty())
        throw Error(ErrorKind::usage, "this run's positions have nothing to learn or to watch");
    const auto layers = std::max(1, view.layer().count());
    const std::int64_t layer = picture.look.layer.value_or(0);
    if (layer >= layers)
        throw Error(ErrorKind::usage, "layer must be a whole number from 0 to " + std::to_string(layers - 1) +
                                          ", not \"" + std::to_string(layer) + "\"");
    view.layer().setCurrentIndex(static_cast<int>(layer));
}

}  // namespace roper
