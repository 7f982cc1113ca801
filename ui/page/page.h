#pragma once

#include <QLabel>
#include <QTabWidget>
#include <QVBoxLayout>
#include <QWidget>
#include <optional>
#include <vector>

#include "core/explorer/setup_text.h"
#include "ui/charts/figure.h"
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

    /// Adds what this page can do to the program's actions.
    virtual void addActions(Actions& actions) = 0;

    /// What F1 shows: the formula in use with the numbers put in, as rich text.
    virtual QString explanation() const = 0;

    /// Which tab is in front and the like, for texts that restore a view; keys begin with "view.".
    virtual ViewSettings viewSettings() const { return {}; }
    /// Takes from the settings what is this page's own; what cannot be is passed over.
    virtual void setViewSettings(const ViewSettings&) {}

  signals:
    void explanationChanged();

  protected:
    /// Leaves to a focused control the keys that it uses itself, before shortcuts of the page take them.
    bool event(QEvent* event) override;

    static std::optional<int> viewNumber(const ViewSettings& settings, const std::string& key);
    static void setTab(QTabWidget& tabs, const ViewSettings& settings, const std::string& key);

    QVBoxLayout* contents() { return contents_; }
    void setReadout(const QString& text) {
        readout_->setText(text);
        readout_->setToolTip(text);
    }

  private:
    QString name_;
    QVBoxLayout* contents_;
    QLabel* readout_;
};

}  // namespace roper
