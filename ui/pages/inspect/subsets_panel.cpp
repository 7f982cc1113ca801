#include "ui/pages/inspect/subsets_panel.h"

#include <algorithm>

#include "ui/controls/named.h"
#include "ui/pages/inspect/inspect_fields.h"

namespace roper {

SubsetsPanel::SubsetsPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Subsets of bands"), models, parent),
      subsets_(new SubsetsView(models.state, this)),
      band_count_(named(new QSpinBox, tr("Number of bands"),
                        tr("Into how many bands the pairs are cut; 2 to that power passes"))),
      compute_(named(new QPushButton, tr("Read with every subset"),
                     tr("The loss when scores are made of some bands alone, for every choice of them"))) {
    const auto say_passes = [this](int bands) {
        compute_->setText(tr("Read with every subset (%1 passes)").arg(1 << bands));
    };
    band_count_->setRange(1, 8);
    band_count_->setValue(4);
    band_count_->setSuffix(tr(" bands"));
    connect(band_count_, &QSpinBox::valueChanged, this, say_passes);
    say_passes(band_count_->value());
    connect(compute_, &QPushButton::clicked, this, [this] {
        emit needsChanged();  // also after it was cancelled
        Question question{"subsets"};
        question.count = band_count_->value();
        state().request(need::subsets, question);
    });
    hear(subsets_);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({band_count_, compute_}));
    layout->addWidget(scrolled(subsets_), 1);
}

void SubsetsPanel::prepare(const QString&, const InspectPicture& picture) {
    Question question = picture.look;
    if (!question.count) question.count = 4;
    state().request(need::subsets, question);
}

void SubsetsPanel::refresh() {
    const ModelSummary* model = state().summary();
    compute_->setEnabled(model != nullptr);
    if (model != nullptr)
        band_count_->setRange(1, static_cast<int>(std::clamp<std::size_t>(model->theta.size(), 1, 8)));
}

}  // namespace roper
