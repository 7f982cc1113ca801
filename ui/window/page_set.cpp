#include "ui/window/page_set.h"

namespace roper {

PageSet::PageSet(const std::filesystem::path& folder, QueueLauncher::WorkerMode worker_mode)
    : store(folder, nullptr),
      launcher(folder, nullptr),
      queue(folder, worker_mode, nullptr),
      attention_state(selection, store, nullptr),
      rotation(new RotationPage(selection, nullptr)),
      spectrum(new SpectrumPage(selection, nullptr)),
      attention(new AttentionPage(attention_state, nullptr)),
      mixing(new MixingPage(attention_state, nullptr)),
      training(new TrainingPage(store, launcher, queue, selection.history(), nullptr)),
      compare(new ComparePage(store, nullptr)),
      inspect(new InspectPage(store, nullptr)),
      pages{rotation, spectrum, attention, mixing, training, compare, inspect},
      guarded_pages_(pages.begin(), pages.end()) {
    QObject::connect(compare, &ComparePage::runsRequested, training,
                     [this](const auto& runs) { training->queueRuns(runs); });
}

PageSet::~PageSet() {
    for (const QPointer<Page>& page : guarded_pages_)
        delete page.data();  // null if a MainWindow has already deleted it
}

}  // namespace roper
