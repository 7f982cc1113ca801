#include "ui/pages/spectrum/spectrum_page.h"

// Buttons and actions of the Spectrum page; the inputs are in SpectrumPanel.

namespace roper {

void SpectrumPage::addActions(Actions& actions) {
    const QString group = tr("Spectrum");
    const auto step = [this](int by) {
        panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = std::max(0, s.pair + by); });
    };
    actions.add(group, tr("Next pair"), Qt::Key_Right, [step] { step(1); });
    actions.add(group, tr("Previous pair"), Qt::Key_Left, [step] { step(-1); });
    actions.add(group, tr("Ten pairs forward"), Qt::SHIFT | Qt::Key_Right, [step] { step(10); });
    actions.add(group, tr("Ten pairs back"), Qt::SHIFT | Qt::Key_Left, [step] { step(-10); });
    actions.add(group, tr("First pair"), Qt::Key_Home, [step] { step(-bounds::kMaxHeadDim); });
    actions.add(group, tr("Paste a config.json…"), {}, [this] { panel_->askForConfig(); });
    actions.add(group, tr("Copy as config.json"), {}, [this] { panel_->copyConfig(); });
}

}  // namespace roper
