#include "ui/pages/inspect/sizes_panel.h"

#include "core/base/error.h"
#include "ui/controls/named.h"
#include "ui/pages/inspect/models_fields.h"

namespace roper {

SizesPanel::SizesPanel(ModelsState& state, InspectState& run, InspectState& beside, QWidget* parent)
    : ModelPanel(tr("Solved by size"), state, parent),
      run_(run),
      beside_(beside),
      sizes_(new SizesView(run, this)),
      beside_sizes_(new SizesView(beside, this)),
      problems_(named(new QSpinBox, tr("Problems of each size"), tr("More take longer and scatter less"))),
      count_(named(new QPushButton(tr("Solve")), tr("Solve"),
                   tr("Let the model solve problems of every size; takes seconds to minutes"))),
      with_working_(named(new QCheckBox(tr("Fully solved")), tr("Fully solved"),
                          tr("Count only problems with every step of the working right"))) {
    problems_->setRange(1, 1024);
    problems_->setValue(16);
    problems_->setSuffix(tr(" problems of each size"));
    connect(count_, &QPushButton::clicked, this, &SizesPanel::count);
    with_working_->hide();
    for (SizesView* view : {sizes_, beside_sizes_})
        connect(with_working_, &QCheckBox::toggled, view, &SizesView::setFully);
    for (InspectState* one : {&run_, &beside_})
        for (auto signal : {&InspectState::runChanged, &InspectState::sizesChanged})
            connect(one, signal, this, &SizesPanel::refreshWhenSeen);
    hear(sizes_, beside_sizes_);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row({problems_, count_, with_working_}));
    layout->addWidget(splitter(Qt::Horizontal, {sizes_, beside_sizes_}), 1);
    SizesPanel::refresh();  // what stands beside takes no room until it is there
}

PageFigures::Figures SizesPanel::figures() const {
    PageFigures::Figures all{&sizes_->map()};
    if (!beside_.run().isEmpty()) all.push_back(&beside_sizes_->map());
    return all;
}

void SizesPanel::prepare(const QString&, const ModelsPicture& picture) {
    run_.setStep(picture.step);
    run_.askForSizes(static_cast<int>(picture.problems));
    waitWhile([&] { return run_.isCountingSizes(); }, "the answer of the model");
    if (!run_.message().isEmpty()) throw Error(ErrorKind::usage, run_.message().toStdString());
}

void SizesPanel::count() {
    const bool stops = isCounting();
    if (!stops) beside_.matchStep(run_);
    for (InspectState* run : {&run_, &beside_}) {
        if (stops)
            run->stopAskingForSizes();
        else if (!run->run().isEmpty())
            run->askForSizes(problems_->value());
    }
}

void SizesPanel::refresh() {
    const RunWatcher* run = run_.store().find(run_.run());
    const bool has_problems =
        run != nullptr && run->specification() && run->specification()->task.hasProblems();
    const bool is_beside = !beside_.run().isEmpty();
    count_->setEnabled(has_problems);
    problems_->setEnabled(has_problems);
    count_->setText(isCounting() ? tr("Cancel") : tr("Solve"));
    with_working_->setVisible(sizes_->hasWorking() || beside_sizes_->hasWorking());
    beside_sizes_->setVisible(is_beside);
    for (SizesView* view : {sizes_, beside_sizes_})
        view->setNamed(is_beside);
}

}  // namespace roper
