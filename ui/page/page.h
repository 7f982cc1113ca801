#pragma once

#include <QAction>
#include <QKeySequence>
#include <QLabel>
#include <QObject>
#include <QTabWidget>
#include <QVBoxLayout>
#include <QWidget>
#include <functional>
#include <vector>

#include "core/explorer/setup_text.h"
#include "ui/page/page_figures.h"

namespace roper {

/// All actions of the program in one list, which feeds menus, shortcuts and the command palette.
class Actions : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    /// @param group  menu of the action ("Go", "Training", …)
    /// @param run    called when the action is triggered
    QAction* add(const QString& group, const QString& text, const QKeySequence& shortcut,
                 std::function<void()> run);

    const QList<QAction*>& all() const { return all_; }
    QList<QAction*> inGroup(const QString& group) const;
    QString groupOf(const QAction* action) const { return action->data().toString(); }

  private:
    QList<QAction*> all_;
};

/// A page of the window: a title, a sentence that describes it, the page's contents, and a readout line for
/// the numbers under the pointer.
class Page : public QWidget {
    Q_OBJECT

  public:
    Page(const QString& name, const QString& sentence, QWidget* parent);

    const QString& name() const { return name_; }

    const PageFigures& pageFigures() const { return page_figures_; }
    PageFigures& pageFigures() { return page_figures_; }
    PageFigures::Figures figures() const { return page_figures_.all(); }

    /// Prepares a figure that is drawn without a window, and waits until it is complete.
    /// @throws Error (usage) naming the wrong setting or what is missing
    virtual Figure& prepareFigure(FigureRequest request) = 0;

    /// Adds the page's actions to the program's.
    virtual void addActions(Actions& actions) = 0;

    /// Text shown by F1: the formula in use with its current numbers, as rich text.
    virtual QString explanation() const = 0;

    /// Settings such as the selected tab, which are stored with a setup; keys begin with "view.".
    ViewSettings viewSettings() const;
    /// Applies the settings that belong to this page; invalid values are ignored.
    void setViewSettings(const ViewSettings& settings);

    /// Updates the whole page even if it is hidden or only one of its tabs is visible; for exports.
    void refreshNow();

    /// Updates what `refresh` skips because it is behind another tab.
    virtual void refreshHiddenTabs() {}

    /// The minimum height: the page's preferred height must not make the window scroll.
    int heightForWidth(int width) const override { return layout()->totalMinimumHeightForWidth(width); }

  signals:
    void explanationChanged();
    /// A message for the status bar.
    void reported(const QString& text);

  protected:
    /// Calls `refresh` now if the page is visible, otherwise once when it is next shown, so that hidden pages
    /// compute nothing.
    void refreshWhenVisible();

    /// Whether a `refresh` is pending.
    bool isStale() const { return is_stale_; }

    /// Shows the current state of the page, at least its visible part.
    virtual void refresh() {}

    /// Called when the page is shown or hidden, before `refresh`.
    virtual void onVisibilityChanged(bool) {}

    void showEvent(QShowEvent* event) final;
    void hideEvent(QHideEvent* event) final;
    void resizeEvent(QResizeEvent* event) override;

    /// Lets a focused control use its own keys before shortcuts of the page take them.
    bool event(QEvent* event) override;

    /// Registers a value that is kept among the view settings.
    /// @param text     returns the current value; empty: not stored
    /// @param restore  applies a stored value; receives an empty text if none is stored
    void registerViewSetting(const std::string& key, std::function<std::string()> text,
                             std::function<void(const std::string& text)> restore);
    /// The same for a whole number from 0 to 1000.
    void registerNumberSetting(const std::string& key, std::function<int()> number,
                               std::function<void(int number)> restore);
    /// The same for the index of the selected tab.
    void registerTabSetting(const std::string& key, QTabWidget& tabs);

    QVBoxLayout* contents() { return contents_; }
    /// Sets the readout line below the contents; empty: a hint. Texts of more than 500 characters are cut.
    void setReadout(const QString& text);
    /// Shows a message about an action in the readout line; it disappears after some seconds.
    void showMessage(const QString& text);

  private:
    struct RegisteredSetting {
        std::string key;
        std::function<std::string()> text;
        std::function<void(const std::string&)> restore;
    };

    QString name_;
    PageFigures page_figures_;
    std::vector<RegisteredSetting> registered_settings_;  ///< in the order of restoring
    bool is_stale_ = true;                                ///< `refresh` is pending
    QLabel* sentence_;                                    ///< what the page is for
    QVBoxLayout* contents_;
    QLabel* readout_;
    int readout_width_ = 0;  ///< width for which the height was computed
};

}  // namespace roper
