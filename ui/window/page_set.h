#pragma once

#include <QPointer>
#include <filesystem>
#include <vector>

#include "ui/explorer/attention_state.h"
#include "ui/explorer/selection.h"
#include "ui/live/queue_launcher.h"
#include "ui/live/run_store.h"
#include "ui/live/trainer_launcher.h"
#include "ui/pages/attention/attention_page.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/inspect/inspect_page.h"
#include "ui/pages/mixing/mixing_page.h"
#include "ui/pages/rotation/rotation_page.h"
#include "ui/pages/spectrum/spectrum_page.h"
#include "ui/pages/training/training_page.h"
#include "ui/theme/plain_text.h"

namespace roper {

/// All pages, and what they share: the selection, the runs of a folder, its queue. A window shows them;
/// pictures are made of them without one.
class PageSet {
  public:
    /// @param duty  whether the queue of the folder is to be worked through
    PageSet(const std::filesystem::path& runs, QueueLauncher::Duty duty);
    ~PageSet();
    PageSet(const PageSet&) = delete;
    PageSet& operator=(const PageSet&) = delete;

    PlainText plain_text;  ///< before all that shows texts
    Selection selection;
    RunStore store;
    TrainerLauncher launcher;
    QueueLauncher queue;
    AttentionState attention_state;

    RotationPage* rotation;
    SpectrumPage* spectrum;
    AttentionPage* attention;
    MixingPage* mixing;
    TrainingPage* training;
    ComparePage* compare;
    InspectPage* inspect;

    /// In the order in which they are shown.
    std::vector<Page*> all() const;

  private:
    std::vector<QPointer<Page>> alive_;
};

}  // namespace roper
