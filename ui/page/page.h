#pragma once

#include <QLabel>
#include <QTabWidget>
#include <QVBoxLayout>
#include <QWidget>
#include <optional>
#include <vector>

#include "core/explorer/setup_text.h"
#include "ui/charts/figure.h"
#include "ui/charts/figure_request.h"
#include "ui/page/actions.h"

namespace roper {

/// One page of the window: a title, one sentence that says what is seen, the page's own contents below, and a
/// line for the numbers under the pointer.
class Page : public QWidget {
    Q_OBJECT

  public:
    Page(const QString& name, const QString& sentence, QWidget* parent);

    const QString& name() const { return name_; }

    /// The pictures that can be exported, the main one first.
    virtual std::vector<const Figure*> figures() const = 0;

    /// The names of all pictures that the page can draw: those of its figures, also in other states.
    virtual std::vector<std::string> figureKinds() const;

    /// The settings that its pictures know.
    virtual std::vector<const FieldInfo*> figureSettings() const = 0;

    /// Brings a picture to what is requested and waits until it is complete, for pictures without a window.
    /// @throws Error (usage) saying which setting is wrong, or what is missing
    virtual Figure& prepareFigure(FigureRequest request) = 0;

    /// Adds what this page can do to the program's actions.
    virtual void addActions(Actions& actions) = 0;

    /// What F1 shows: the formula in use with the numbers put in, as rich text.
    virtual QString explanation() const = 0;

    /// Which tab is in front and the like, for texts that restore a view; keys begin with "view.".
    virtual ViewSettings viewSettings() const { return {}; }
    /// Takes from the settings what is this page's own; what cannot be is passed over.
    virtual void setViewSettings(const ViewSettings&) {}

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

    /// The figure that has a name. @throws Error (other) if the page draws none
    Figure& figureNamed(const std::string& kind);

    static std::optional<int> viewNumber(const ViewSettings& settings, const std::string& key);
    static void setTab(QTabWidget& tabs, const ViewSettings& settings, const std::string& key);

    QVBoxLayout* contents() { return contents_; }
    /// The line below the page; of a text that is longer than any line, its beginning.
    void setReadout(const QString& text);
    /// The same for what has been done: it goes away after a while.
    void say(const QString& text);

  private:
    QString name_;
    bool is_stale_ = true;  ///< `refresh` is due
    QVBoxLayout* contents_;
    QLabel* readout_;
    int readout_width_ = 0;  ///< for which its height was found
};

}  // namespace roper
