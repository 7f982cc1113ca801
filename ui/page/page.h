#pragma once

#include <QLabel>
#include <QTabWidget>
#include <QVBoxLayout>
#include <QWidget>
#include <vector>

#include "core/explorer/setup_text.h"
#include "ui/page/actions.h"
#include "ui/page/page_figures.h"

namespace roper {

/// One page of the window: a title, one sentence that says what is seen, the page's own contents below, and a
/// line for the numbers under the pointer.
class Page : public QWidget {
    Q_OBJECT

  public:
    Page(const QString& name, const QString& sentence, QWidget* parent);

    const QString& name() const { return name_; }

    const PageFigures& pictures() const { return pictures_; }
    PageFigures::Figures figures() const { return pictures_.all(); }

    /// Adds what this page can do to the program's actions.
    virtual void addActions(Actions& actions) = 0;

    /// What F1 shows: the formula in use with the numbers put in, as rich text.
    virtual QString explanation() const = 0;

    /// Which tab is in front and the like, for texts that restore a view; keys begin with "view.".
    ViewSettings viewSettings() const;
    /// Takes from the settings what is this page's own; what cannot be is passed over.
    void setViewSettings(const ViewSettings& settings);

    /// Brings all of the page up to date, although it is not shown, or only one of its tabs: for exports.
    void refreshNow();

    /// Brings up to date what `refresh` leaves out, because it is behind another tab.
    virtual void refreshHidden() {}

    /// The least height: what a page would like to have must not make its window scroll.
    int heightForWidth(int width) const override { return layout()->totalMinimumHeightForWidth(width); }

  signals:
    void explanationChanged();
    /// A line for the status bar.
    void said(const QString& text);

  protected:
    /// Has `refresh` called: at once if the page is seen, else once when it next is. What nobody looks at is
    /// not computed.
    void refreshWhenSeen();

    /// Whether that is still to come.
    bool isStale() const { return is_stale_; }

    /// Shows what the page's state is now.
    virtual void refresh() {}

    /// The page has come to the front or gone from it; before `refresh`.
    virtual void becomeSeen(bool) {}

    void showEvent(QShowEvent* event) final;
    void hideEvent(QHideEvent* event) final;

    /// Leaves to a focused control the keys that it uses itself, before shortcuts of the page take them.
    bool event(QEvent* event) override;

    PageFigures& pictures() { return pictures_; }

    /// Has something kept among the view's settings.
    /// @param text     what it is now; empty: not worth keeping
    /// @param restore  takes such a text; empty where the settings have none
    void keep(const std::string& key, std::function<std::string()> text,
              std::function<void(const std::string& text)> restore);
    /// The same of a number of at most 1000.
    void keepNumber(const std::string& key, std::function<int()> number,
                    std::function<void(int number)> restore);
    void keepTab(const std::string& key, QTabWidget& tabs);

    QVBoxLayout* contents() { return contents_; }
    /// The line below the page; of a text that is longer than any line, its beginning.
    void setReadout(const QString& text);
    /// The same for what has been done: it goes away after a while.
    void say(const QString& text);

  private:
    struct Kept {
        std::string key;
        std::function<std::string()> text;
        std::function<void(const std::string&)> restore;
    };

    QString name_;
    PageFigures pictures_;
    std::vector<Kept> kept_;  ///< in the order in which it is restored
    bool is_stale_ = true;    ///< `refresh` is due
    QVBoxLayout* contents_;
    QLabel* readout_;
    int readout_width_ = 0;  ///< for which its height was found
};

}  // namespace roper
