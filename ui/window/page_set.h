#pragma once

#include <QIcon>
#include <QPalette>
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

/// All pages and their shared state: the selection, the runs of a folder, its queue. Used by a window, or to
/// draw figures without one.
class PageSet {
  public:
    /// @param worker_mode  whether to keep a worker running for the folder's queue
    PageSet(const std::filesystem::path& runs, QueueLauncher::WorkerMode worker_mode);
    ~PageSet();
    PageSet(const PageSet&) = delete;
    PageSet& operator=(const PageSet&) = delete;

    PlainText plain_text;  ///< constructed before everything that shows texts
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

    const std::vector<Page*> pages;  ///< all, in display order

  private:
    std::vector<QPointer<Page>> guarded_pages_;  ///< null once a window has deleted them
};

/// The sidebar icon of a page in the palette's text color, at several sizes.
/// @param page  its index in PageSet::pages
QIcon makePageIcon(std::size_t page, const QPalette& palette);

}  // namespace roper
