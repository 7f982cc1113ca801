#include "ui/pages/inspect/text_panel.h"

#include <QLabel>

#include "ui/controls/named.h"
#include "ui/pages/inspect/inspect_fields.h"

namespace roper {

TextPanel::TextPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Text"), models, parent),
      surprise_(new SurpriseView(models.state, this)),
      predictions_(new PredictionsView(models.state, this)) {
    shade_ = named(new QComboBox, tr("What tokens are shaded by"),
                   tr("With a change: before, after, or what it adds"));
    shade_->addItems({tr("as it was trained"), tr("with the change"), tr("what the change adds")});
    connect(shade_, &QComboBox::currentIndexChanged, this,
            [this](int index) { surprise_->setShade(static_cast<SurpriseView::Shade>(index)); });
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({new QLabel(tr("Shaded:")), shade_}));
    layout->addWidget(splitter(Qt::Horizontal, {scrolled(surprise_), predictions_}, {640, 320}), 1);
    connect(surprise_, &SurpriseView::chosenChanged, predictions_, &PredictionsView::setToken);
    hear(surprise_, predictions_);
}

void TextPanel::setShade(SurpriseView::Shade shade) {
    shade_->setCurrentIndex(static_cast<int>(shade));
}

void TextPanel::prepare(const QString&, const InspectPicture& picture) {
    setShade(picture.shade);
    if (picture.token) {
        const auto token = static_cast<int>(*picture.token);
        connect(&state(), &InspectState::answered, surprise_, [this, token] { surprise_->choose(token); });
    }
}

}  // namespace roper
