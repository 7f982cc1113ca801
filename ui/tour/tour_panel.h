#pragma once

#include <QButtonGroup>
#include <QComboBox>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/tour/tour.h"
#include "ui/theme/zoom.h"

namespace roper {

/// A guided tour beside the pages: at each stop the reader predicts a result, tries it on the page, and reads
/// why.
class TourPanel : public QWidget {
    Q_OBJECT

  public:
    /// The reader's progress at the current stop.
    enum class Stage { predicting, trying, revealed };

    explicit TourPanel(QWidget* parent);

    void setTour(Tour tour);
    const Tour& tour() const { return tour_; }

    /// Shows a stop; the receiver of `stopReached` shows its page.
    /// @param stop  index, clamped to the range
    void goTo(int stop);
    /// @returns whether the tour has a stop with this name
    bool goTo(const QString& name);
    /// Index of the current stop; at the end, of the last one.
    int stop() const { return stop_; }
    /// Whether the card after the last stop is shown.
    bool isAtEnd() const { return is_at_end_; }
    Stage stage() const { return stage_; }
    const TourStop& current() const { return tour_.stops[static_cast<std::size_t>(stop_)]; }

    QSize minimumSizeHint() const override { return zoomed(QSize(230, 200)); }
    QSize sizeHint() const override { return zoomed(QSize(300, 600)); }

  signals:
    /// Emitted when a stop is shown, to show its page and setup.
    void stopReached(const roper::TourStop& stop);
    /// Emitted with the name of the control to mark on the page; empty: none.
    void controlChanged(const QString& name);
    /// Emitted with whether the page is to be covered.
    void coverChanged(bool covered);
    /// Emitted when the reader has finished, or stops the tour.
    void tourEnded();
    /// Emitted when the reader ends the tour by going to a page.
    void pageRequested(const QString& page);
    void citationRequested();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void predict(int choice);
    void reveal();
    void showStage(Stage stage);
    void showChoices();
    void next();
    void showEnd();
    void fillEnd();
    void follow(const QString& target);

    Tour tour_;
    int stop_ = 0;
    int choice_ = -1;  ///< index of the predicted answer; −1: none yet
    Stage stage_ = Stage::predicting;
    bool is_at_end_ = false;

    QComboBox* stops_;
    QProgressBar* progress_;
    QLabel *title_, *question_;
    QVBoxLayout* choices_;
    QButtonGroup* group_ = nullptr;
    QWidget *trying_, *revealed_;  ///< contents shown from these stages on
    QLabel *task_, *verdict_, *reveal_, *takeaway_;
    QPushButton *reveal_button_, *back_, *next_;
    QScrollArea* scroll_;
    QStackedWidget* cards_;  ///< the stop, and the end
    QLabel *end_text_, *takeaways_, *next_steps_;
};

}  // namespace roper
