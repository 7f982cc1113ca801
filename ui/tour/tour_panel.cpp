#include "ui/tour/tour_panel.h"

#include <QMouseEvent>
#include <QRadioButton>
#include <QScrollBar>
#include <QTimer>
#include <algorithm>

#include "ui/controls/layout_helpers.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr int kMargin = 16, kGap = 8;
const QString kCitation = QStringLiteral("#citation");  // link target that is not the name of a page

/// A small heading: “Predict”, “Try”, “What happens”.
QLabel* makeHeading(const QString& text) {
    auto* label = new QLabel(text);
    label->setFont(boldFont(label->font()));
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

/// A radio button with word wrap, which QRadioButton lacks.
class ChoiceRow : public QWidget {
  public:
    explicit ChoiceRow(const QString& text) : button_(new QRadioButton), text_(wrappedLabel(text)) {
        button_->setAccessibleName(text);
        auto* row = rowOf({{button_, 0, Qt::AlignTop}, {text_, 1}}, this);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(kGap);
    }
    QRadioButton* button() { return button_; }
    void setStrong(bool strong) {
        QFont font = this->font();
        font.setBold(strong);
        text_->setFont(font);
    }

  protected:
    void mousePressEvent(QMouseEvent*) override {
        if (button_->isEnabled()) button_->click();
    }

  private:
    QRadioButton* button_;
    QLabel* text_;
};

/// A container whose contents are shown and hidden together.
/// @param margin  left, right and below, in pixels
QWidget* makePart(std::initializer_list<LayoutItem> all, int margin = 0) {
    auto* part = new QWidget;
    auto* column = columnOf(all, part);
    column->setContentsMargins(margin, kGap, margin, margin);
    column->setSpacing(kGap);
    return part;
}

/// Gives a text a background that sets it off from those around it.
void setOff(QLabel& label) {
    label.setAutoFillBackground(true);
    label.setBackgroundRole(QPalette::AlternateBase);
    label.setMargin(10);
}

}  // namespace

TourPanel::TourPanel(QWidget* parent)
    : QWidget(parent),
      stops_(new QComboBox),
      progress_(new QProgressBar),
      title_(wrappedLabel()),
      question_(wrappedLabel()),
      choices_(new QVBoxLayout),
      task_(wrappedLabel()),
      verdict_(wrappedLabel()),
      reveal_(wrappedLabel()),
      takeaway_(wrappedLabel()),
      reveal_button_(new QPushButton(tr("Show what happens"))),
      back_(new QPushButton(tr("Back"))),
      next_(new QPushButton(tr("Next"))),
      scroll_(new QScrollArea),
      cards_(new QStackedWidget),
      end_text_(wrappedLabel()),
      takeaways_(wrappedLabel()),
      next_steps_(wrappedLabel()) {
    stops_->setAccessibleName(tr("Stops of the tour"));
    allowShrinking(*stops_, 12);
    connect(stops_, &QComboBox::activated, this, qOverload<int>(&TourPanel::goTo));
    progress_->setTextVisible(false);
    progress_->setMaximumHeight(4);
    progress_->setAccessibleName(tr("Progress of the tour"));
    title_->setFont(titleFont(title_->font()));
    choices_->setSpacing(kGap);
    reveal_button_->setToolTip(tr("Even if you have not tried it"));
    connect(reveal_button_, &QPushButton::clicked, this, &TourPanel::reveal);
    connect(back_, &QPushButton::clicked, this, [this] { goTo(is_at_end_ ? stop_ : stop_ - 1); });
    connect(next_, &QPushButton::clicked, this, &TourPanel::next);
    next_->installEventFilter(this);

    takeaway_->setFont(boldFont(takeaway_->font()));
    setOff(*takeaway_);
    trying_ = makePart({makeHeading(tr("Try")), task_, reveal_button_});
    revealed_ = makePart(
        {makeHeading(tr("What happens")), verdict_, reveal_, makeHeading(tr("Takeaway")), takeaway_});
    QWidget* body = makePart(
        {title_, makeHeading(tr("Predict")), question_, choices_, trying_, revealed_, kSpacer}, kMargin);
    for (QLabel* links : {takeaways_, next_steps_}) {
        links->setTextFormat(Qt::RichText);
        links->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    }
    connect(takeaways_, &QLabel::linkActivated, this, [this](const QString& stop) { goTo(stop.toInt()); });
    connect(next_steps_, &QLabel::linkActivated, this, &TourPanel::follow);
    end_text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setOff(*end_text_);
    auto* end_title = wrappedLabel(tr("The tour in short"));
    end_title->setFont(titleFont(end_title->font()));
    QWidget* end = makePart({end_title, end_text_, makeHeading(tr("Takeaways")), takeaways_,
                             makeHeading(tr("What next")), next_steps_, kSpacer},
                            kMargin);
    auto* end_scroll = new QScrollArea;
    for (const auto& [area, widget] : {std::pair(scroll_, body), std::pair(end_scroll, end)}) {
        area->setWidget(widget);
        area->setWidgetResizable(true);
        area->setFrameShape(QFrame::NoFrame);
        area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        cards_->addWidget(area);
    }

    QBoxLayout *head = columnOf({stops_, progress_}), *buttons = rowOf({back_, kSpacer, next_});
    head->setContentsMargins(kMargin, kGap, kMargin, 0);
    buttons->setContentsMargins(kMargin, 0, kMargin, kGap);
    columnOf({head, {cards_, 1}, buttons}, this)->setContentsMargins(0, 0, 0, 0);
}

void TourPanel::setTour(Tour tour) {
    tour_ = std::move(tour);
    stop_ = 0;
    stops_->clear();
    for (std::size_t i = 0; i < tour_.stops.size(); ++i)
        stops_->addItem(tr("%1 of %2: %3")
                            .arg(i + 1)
                            .arg(tour_.stops.size())
                            .arg(QString::fromStdString(tour_.stops[i].title)));
    if (tour_.end) stops_->addItem(tr("The tour in short"));
    progress_->setRange(0, static_cast<int>(tour_.stops.size()));
    fillEnd();
}

/// Fills the card after the last stop. A takeaway's number links to its stop.
void TourPanel::fillEnd() {
    if (!tour_.end) return;
    const auto link = [](const QString& target, const QString& text) {
        return QStringLiteral("<a href=\"%1\">%2</a>").arg(target.toHtmlEscaped(), text.toHtmlEscaped());
    };
    end_text_->setText(QString::fromStdString(tour_.end->text));
    QString takeaways, next;
    for (std::size_t i = 0; i < tour_.stops.size(); ++i)
        takeaways += QStringLiteral("<p>%1  %2</p>")
                         .arg(link(QString::number(i), QString::number(i + 1)),
                              QString::fromStdString(tour_.stops[i].takeaway).toHtmlEscaped());
    for (const TourEnd::Next& one : tour_.end->next)
        next += QStringLiteral("<p>%1</p>")
                    .arg(link(QString::fromStdString(one.page), QString::fromStdString(one.text)));
    next += QStringLiteral("<p>%1</p>").arg(link(kCitation, tr("Copy the citation (BibTeX)")));
    takeaways_->setText(takeaways);
    next_steps_->setText(next);
}

/// Ends the tour on a page, or copies the citation.
void TourPanel::follow(const QString& target) {
    if (target == kCitation) return emit citationRequested();
    emit tourEnded();
    emit pageRequested(target);
}

bool TourPanel::goTo(const QString& name) {
    const auto found = std::ranges::find(tour_.stops, name.toStdString(), &TourStop::name);
    if (found == tour_.stops.end()) return false;
    goTo(static_cast<int>(found - tour_.stops.begin()));
    return true;
}

void TourPanel::goTo(int stop) {
    if (tour_.end && stop == static_cast<int>(tour_.stops.size())) return showEnd();
    is_at_end_ = false;
    cards_->setCurrentIndex(0);
    stop_ = std::clamp(stop, 0, static_cast<int>(tour_.stops.size()) - 1);
    choice_ = -1;
    const TourStop& here = current();
    // Avoids line breaks in formulas after a minus sign.
    const auto text = [](const std::string& of) {
        constexpr QChar kMinus(0x2212);
        return QString::fromStdString(of).replace(QStringLiteral(" ") + kMinus + ' ',
                                                  QChar::Nbsp + QString(kMinus) + QChar::Nbsp);
    };
    stops_->setCurrentIndex(stop_);
    title_->setText(text(here.title));
    question_->setText(text(here.question));
    task_->setText(text(here.task));
    reveal_->setText(text(here.reveal));
    takeaway_->setText(text(here.takeaway));
    showChoices();
    scroll_->verticalScrollBar()->setValue(0);
    emit stopReached(here);
    showStage(Stage::predicting);
}

void TourPanel::showChoices() {
    while (QLayoutItem* item = choices_->takeAt(0)) {
        item->widget()->deleteLater();
        delete item;
    }
    delete group_;
    group_ = new QButtonGroup(this);
    for (std::size_t i = 0; i < current().choices.size(); ++i) {
        auto* choice = new ChoiceRow(QString::fromStdString(current().choices[i]));
        group_->addButton(choice->button(), static_cast<int>(i));
        choices_->addWidget(choice);
    }
    connect(group_, &QButtonGroup::idClicked, this, &TourPanel::predict);
}

void TourPanel::predict(int choice) {
    if (stage_ == Stage::revealed) return;
    choice_ = choice;
    showStage(Stage::trying);
}

void TourPanel::reveal() {
    const TourStop& here = current();
    const bool is_right = choice_ == static_cast<int>(here.answer);
    verdict_->setText(is_right
                          ? tr("As you predicted: %1.").arg(QString::fromStdString(here.choices[here.answer]))
                          : tr("You predicted: %1. The answer is: %2.")
                                .arg(QString::fromStdString(here.choices[static_cast<std::size_t>(choice_)]),
                                     QString::fromStdString(here.choices[here.answer])));
    showStage(Stage::revealed);
}

void TourPanel::showStage(Stage stage) {
    stage_ = stage;
    trying_->setVisible(stage != Stage::predicting);
    reveal_button_->setVisible(stage == Stage::trying);
    revealed_->setVisible(stage == Stage::revealed);
    for (QAbstractButton* button : group_->buttons()) {
        button->setEnabled(stage != Stage::revealed);
        static_cast<ChoiceRow*>(button->parentWidget())
            ->setStrong(stage == Stage::revealed && group_->id(button) == static_cast<int>(current().answer));
    }
    const bool is_last = stop_ + 1 == static_cast<int>(tour_.stops.size());
    progress_->setValue(stop_ + (stage == Stage::revealed ? 1 : 0));
    back_->setEnabled(stop_ > 0);
    next_->setText(is_last && !tour_.end      ? tr("End the tour")
                   : stage == Stage::revealed ? tr("Next")
                                              : tr("Skip"));
    next_->setDefault(stage == Stage::revealed);
    if (stage == Stage::revealed) next_->setFocus();  // the button that had the focus is hidden
    emit coverChanged(stage == Stage::predicting && current().covered);
    emit controlChanged(QString::fromStdString(stage == Stage::trying     ? current().control
                                               : stage == Stage::revealed ? current().reveal_control
                                                                          : std::string()));
    if (stage == Stage::predicting) return;
    // Scrolls to the new part once it has been laid out.
    QWidget* appeared = stage == Stage::trying ? trying_ : revealed_;
    QTimer::singleShot(0, this, [this, appeared] {
        if (appeared->isVisible()) scroll_->ensureWidgetVisible(appeared, 0, kGap);
    });
}

/// The second click of a double click on Next would skip the stop that the first one shows.
bool TourPanel::eventFilter(QObject* watched, QEvent* event) {
    return event->type() == QEvent::MouseButtonDblClick || QWidget::eventFilter(watched, event);
}

void TourPanel::next() {
    const bool is_last = stop_ + 1 == static_cast<int>(tour_.stops.size());
    if (is_at_end_ || (is_last && !tour_.end)) return emit tourEnded();
    goTo(stop_ + 1);
}

void TourPanel::showEnd() {
    stop_ = static_cast<int>(tour_.stops.size()) - 1;
    is_at_end_ = true;
    cards_->setCurrentIndex(1);
    stops_->setCurrentIndex(stop_ + 1);
    progress_->setValue(progress_->maximum());
    back_->setEnabled(true);
    next_->setText(tr("End the tour"));
    next_->setFocus();
    emit coverChanged(false);
    emit controlChanged({});
}

}  // namespace roper
