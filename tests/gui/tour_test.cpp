#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QGuiApplication>
#include <QLabel>
#include <QMenuBar>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTest>
#include <QTextBrowser>
#include <fstream>

#include "core/base/error.h"
#include "tests/support/page_test.h"
#include "tests/support/small_model.h"
#include "ui/live/published_models.h"

using namespace roper;

/// Walks through the guided tour like a reader, by clicking what the panel and the pages show.
class TourTest : public PageTest {
    Q_OBJECT

    using Stage = TourPanel::Stage;

  private slots:
    void initTestCase() { clearSettings("tour_test"); }
    void init() {
        QSettings().clear();
        openWindow("Compare");
        window_->resize(1360, 860);
    }
    void cleanup() { window_.reset(); }

    void everyStopHasItsPageItsViewAndItsControl() {
        window_->startTour();
        QVERIFY(window_->tour().isVisible());
        const std::size_t count = panel().tour().stops.size();
        for (std::size_t i = 0; i < count; ++i) {
            const TourStop& stop = panel().current();
            QCOMPARE(panel().stop(), static_cast<int>(i));
            QCOMPARE(window_->currentPage()->name().toLower().replace(' ', '-').toStdString(), stop.page);
            QCOMPARE(setup(), sanitized(stop.setup()));
            for (const auto& [key, value] : stop.view) {
                const ViewSettings shown = window_->currentPage()->viewSettings();
                QVERIFY2(shown.count(key) == 1, key.c_str());
                QCOMPARE(shown.at(key), value);
            }
            QVERIFY(panel().stage() == Stage::predicting);
            QVERIFY(window_->tour().marked() == nullptr);
            // A page that would reveal the answer is hidden until one is chosen.
            const QWidget* covered = window_->tour().covered();
            QCOMPARE(covered, stop.covered ? window_->currentPage() : nullptr);
            QCOMPARE(isCovered(), stop.covered);
            predict(stop.answer);
            QVERIFY(window_->tour().covered() == nullptr);
            QVERIFY(!isCovered());
            QVERIFY(panel().stage() == Stage::trying);
            const QWidget* marked = window_->tour().marked();
            QVERIFY2(marked != nullptr, ("no control \"" + stop.control + "\" at " + stop.name).c_str());
            QTRY_VERIFY2(marked->isVisible() && !marked->visibleRegion().isEmpty(), stop.control.c_str());
            press("Show what happens");
            QVERIFY(panel().stage() == Stage::revealed);
            QVERIFY2(panel().focusWidget() == nullptr ||
                         qobject_cast<QPushButton*>(panel().focusWidget()) == nullptr ||
                         qobject_cast<QPushButton*>(panel().focusWidget())->text() != "Back",
                     "Space would lead back");
            QCOMPARE(window_->tour().marked() != nullptr, !stop.reveal_control.empty());
            press("Next");
        }
        QVERIFY(panel().isAtEnd());
        press("End the tour");
        QVERIFY(!window_->tour().isVisible());
    }

    /// From the card after the last stop, one can return to any stop, copy the citation, or go on to a page.
    void theTourEndsWithWhatToRemember() {
        window_->startTour(QString::fromStdString(bundledTour().stops.back().name));
        press("Skip");
        QVERIFY(panel().isAtEnd());
        QVERIFY(window_->tour().covered() == nullptr && window_->tour().marked() == nullptr);
        const auto label_with = [this](const QString& text) -> QLabel* {
            for (QLabel* label : panel().findChildren<QLabel*>())
                if (label->isVisible() && label->text().contains(text) && label->text().contains("href"))
                    return label;
            return nullptr;
        };
        QLabel* takeaways =
            label_with(QString::fromStdString(bundledTour().stops[5].takeaway).toHtmlEscaped());
        QVERIFY(takeaways != nullptr);
        QVERIFY(takeaways->width() <= panel().width());  // nothing is cut on the right
        QTest::mouseClick(takeaways, Qt::LeftButton, {}, QPoint(3, 12));
        QVERIFY(!panel().isAtEnd());
        QCOMPARE(panel().stop(), 0);
        auto* stops = panel().findChild<QComboBox*>();
        stops->setCurrentIndex(stops->count() - 1);
        emit stops->activated(stops->count() - 1);
        QVERIFY(panel().isAtEnd());
        press("Back");
        QCOMPARE(panel().stop(), static_cast<int>(bundledTour().stops.size()) - 1);
        press("Skip");
        QLabel* next = label_with("Copy the citation");
        QVERIFY(next != nullptr);
        emit next->linkActivated("#citation");
        QVERIFY(QGuiApplication::clipboard()->text().contains("@software"));
        QTest::mouseClick(next, Qt::LeftButton, {}, QPoint(10, 8));  // the first link
        QVERIFY(!window_->tour().isVisible());
        QVERIFY(window_->currentPage() == &window_->comparePage());
    }

    /// Other pages can be visited meanwhile. A closed tour hides nothing; one that is reopened hides the page
    /// again.
    void theCoverStaysOnItsPage() {
        window_->startTour("decay");
        QVERIFY(window_->tour().covered() == &window_->spectrumPage());
        QVERIFY(!window_->spectrumPage().isEnabled());  // its keys reveal nothing either
        window_->showPage("rotation");
        QVERIFY(!isCovered() && window_->rotationPage().isEnabled());
        window_->resize(1000, 640);
        window_->showPage("spectrum");
        QTRY_VERIFY(isCovered());
        window_->tour().close();
        QTRY_VERIFY(!isCovered() && window_->spectrumPage().isEnabled());
        window_->tour().show();
        QTRY_VERIFY(isCovered());
        predict(0);
        QVERIFY(!isCovered() && window_->spectrumPage().isEnabled());
        const QWidget* marked = window_->tour().marked();
        QVERIFY(marked != nullptr);
        window_->tour().close();
        QTRY_VERIFY(window_->tour().marked() == nullptr);
        window_->tour().show();
        QTRY_COMPARE(window_->tour().marked(), marked);
    }

    /// Next to the tour, a small window has little room for the page, which scrolls to show the whole
    /// control.
    void theMarkedControlIsSeenWhole() {
        window_->resize(1000, 640);
        for (const TourStop& stop : bundledTour().stops) {
            window_->startTour(QString::fromStdString(stop.name));
            QCoreApplication::processEvents();
            predict(0);
            const QWidget* marked = window_->tour().marked();
            QVERIFY2(marked != nullptr, stop.name.c_str());
            QTRY_VERIFY2(marked->visibleRegion().boundingRect().width() == marked->width() ||
                             marked->width() > window_->currentPage()->parentWidget()->width(),
                         stop.name.c_str());
        }
    }

    void controlsOfTheStopsDoSomething() {
        // If the control can be dragged, the figure must react, or the stop shows nothing.
        for (const char* stop : {"one-pair", "relative", "values", "two-values", "inverse", "deepseek-v4"}) {
            window_->startTour(stop);
            predict(0);
            auto* slider = qobject_cast<QSlider*>(const_cast<QWidget*>(window_->tour().marked()));
            QVERIFY2(slider != nullptr, stop);
            const Setup before = setup();
            slider->setFocus();
            QTest::keyClick(slider, slider->value() > slider->minimum() ? Qt::Key_Left : Qt::Key_Right);
            QVERIFY2(!(setup() == before), stop);
        }
    }

    void anAnswerThatIsWrongIsSaidToBe() {
        window_->startTour("one-pair");
        predict(0);
        press("Show what happens");
        const QString all = texts();
        QVERIFY2(all.contains("You predicted: It grows. The answer is: It stays the same."), qPrintable(all));
        window_->startTour("one-pair");
        predict(1);
        press("Show what happens");
        QVERIFY(texts().contains("As you predicted: It stays the same."));
    }

    void itIsLeftAndResumed() {
        window_->startTour("decay");
        window_->tour().close();
        window_.reset();
        openWindow("Rotation");
        QVERIFY(!window_->tour().isVisible());
        window_->startTour();
        QCOMPARE(panel().current().name, std::string("decay"));
        press("Back");
        QCOMPARE(panel().current().name, std::string("relative"));
        // Each stop is one undo step, so undo restores the setup before the tour.
        QVERIFY(window_->selection().history().canUndo());
    }

    /// The tour works on a setup of its own.
    void theUsersSetupIsBackAfterTheTour() {
        const auto leaveBy = [&](const std::function<void()>& leave) {
            window_->showPage("spectrum");
            change([](Setup& s) {
                s.base = 777;
                s.head_dim = 24;
            });
            SpecificationForm& form = window_->trainingPage().form();
            Specification edited = form.specification();
            edited.model.layers = 3;
            form.setSpecification(edited);
            const Setup own = setup();
            const ViewSettings view = window_->rotationPage().viewSettings();
            window_->startTour("many-speeds");
            QVERIFY(!(setup() == own));
            window_->startTour("train");
            leave();
            QTRY_COMPARE(setup(), own);
            QCOMPARE(window_->rotationPage().viewSettings(), view);
            QCOMPARE(form.specification().model.layers, 3);
            window_->selection().history().undo();
            QVERIFY(!(setup() == own));  // that of the last stop
            window_->selection().history().redo();
        };
        leaveBy([&] { window_->tour().close(); });
        leaveBy([&] { window_->tour().toggleViewAction()->trigger(); });
        leaveBy([&] {
            window_->startTour(QString::fromStdString(bundledTour().stops.back().name));
            press("Skip");
            press("End the tour");
        });
        // If the window is closed meanwhile, the next one has the user's setup.
        change([](Setup& s) { s.base = 778; });
        window_->startTour("many-speeds");
        window_->close();
        window_.reset();
        openWindow("Rotation");
        QCOMPARE(setup().base, 778.0);
    }

    void aDoubleClickOnNextSkipsNoStop() {
        window_->startTour("one-pair");
        predict(0);
        press("Show what happens");
        for (QPushButton* button : panel().findChildren<QPushButton*>())
            if (button->text() == "Next") {
                QTest::mouseClick(button, Qt::LeftButton);
                QTest::mouseDClick(button, Qt::LeftButton);  // the second press and its release
            }
        QCOMPARE(panel().stop(), 1);
    }

    void everyStopHasALink() {
        for (const TourStop& stop : bundledTour().stops) {
            window_->startTour(QString::fromStdString(stop.name));
            QCOMPARE(panel().current().name, stop.name);
        }
        try {
            window_->startTour("no-such-stop");
            QFAIL("a stop that there is not was shown");
        } catch (const Error& error) {
            QVERIFY(QString(error.what()).contains("one-pair"));
        }
    }

    /// Each stop shows its panel, head and text; the user's own text returns at the end.
    void aTourLooksInsideAModel() {
        const QTemporaryDir models;
        makeSmallModel("llama", QDir(models.path()));
        QVERIFY(QDir(models.path()).rename("llama", "smollm2-135m-instruct"));
        const QString model = models.filePath("smollm2-135m-instruct");
        rememberModel(model);
        InspectPage& page = window_->inspectPage();
        page.readText("my own text");
        QVERIFY(window_->startModelTour());
        const Tour tour = bundledTour("inside-a-model");
        QCOMPARE(panel().tour().title, tour.title);
        for (const TourStop& stop : tour.stops) {
            QCOMPARE(panel().current().name, stop.name);
            QVERIFY(window_->currentPage() == &page);
            QCOMPARE(page.state().model(), model);
            const auto setting = [&](const char* key) { return QString::fromStdString(stop.view.at(key)); };
            QCOMPARE(page.chooser().currentItem()->text(), setting("view.inspect_panel"));
            QCOMPARE(page.text().toPlainText(), setting("view.inspect_text"));
            if (stop.view.count("view.inspect_other") > 0)
                QCOMPARE(control<QLineEdit>("Other text")->text(), setting("view.inspect_other"));
            predict(stop.answer);
            QCOMPARE(window_->tour().marked() != nullptr, !stop.control.empty());
            press("Show what happens");
            press("Next");
        }
        QVERIFY(panel().isAtEnd());
        press("End the tour");
        QCOMPARE(page.text().toPlainText(), QString("my own text"));
        trigger("Guided tour");
        QCOMPARE(panel().tour().name, std::string("rope-to-roper"));
        Tour own = tour;
        own.model = "no-such-model";
        try {
            window_->setTour(own);
            QFAIL("a tour of a model that is not here was opened");
        } catch (const Error& error) {
            QVERIFY(QString(error.what()).contains("no-such-model"));
        }
    }

    void aTeachersOwnTour() {
        Tour own = bundledTour();
        own.name = "course";
        own.title = "A course";
        own.stops.resize(2);
        window_->setTour(own);
        window_->startTour();
        QCOMPARE(window_->tour().windowTitle(), QString("Tour: A course"));
        own.stops[1].page = "no-such-page";
        QVERIFY_EXCEPTION_THROWN(window_->setTour(own), Error);
        QCOMPARE(panel().tour().stops.size(), std::size_t(2));
    }

    void itIsOfferedOnce() {
        auto* invitation = window_->findChild<TourInvitation*>();
        QVERIFY(!invitation->isVisible());
        window_->offerTour();
        QVERIFY(invitation->isVisible());
        for (QPushButton* button : invitation->findChildren<QPushButton*>())
            if (button->text() == "Not now") QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(!invitation->isVisible());
        window_->offerTour();
        QVERIFY(!invitation->isVisible());
        QSettings().clear();
        window_->offerTour();
        for (QPushButton* button : invitation->findChildren<QPushButton*>())
            if (button->text() == "Start the tour") QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(window_->tour().isVisible());
        QCOMPARE(panel().stop(), 0);
    }

    void theMarkFollowsItsControl() {
        window_->startTour("relative");
        predict(0);
        auto* marker = window_->findChild<ControlMarker*>();
        const auto around = [&] {
            const QWidget* marked = marker->marked();
            const QRect seen = marked->visibleRegion().boundingRect();
            return QRect(marked->mapTo(window_.get(), seen.topLeft()), seen.size());
        };
        QTRY_VERIFY(marker->isVisible() && marker->geometry().contains(around()));
        window_->resize(1500, 800);
        QTRY_VERIFY(marker->geometry().contains(around()) && marker->width() < around().width() + 20);
        QVERIFY(window_->showPage("Compare"));
        QTRY_VERIFY(!marker->isVisible());
        QVERIFY(window_->showPage("Rotation"));
        QTRY_VERIFY(marker->isVisible());
    }

    /// 1000 × 640 is enough for every page, and closing the tour and the explanation returns their space.
    void aSmallWindowShowsEveryPage() {
        window_->resize(1000, 640);
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            QCoreApplication::processEvents();
            QCOMPARE(window_->size(), QSize(1000, 640));
            const QWidget* room = page->parentWidget();
            QVERIFY2(page->width() <= room->width() && page->height() <= room->height(),
                     qPrintable(QStringLiteral("%1: %2 × %3 in %4 × %5")
                                    .arg(page->name())
                                    .arg(page->width())
                                    .arg(page->height())
                                    .arg(room->width())
                                    .arg(room->height())));
        }
        const QSize room = window_->currentPage()->parentWidget()->size();
        window_->startTour();
        window_->findChild<QDockWidget*>("explanation")->show();
        QCoreApplication::processEvents();
        QCOMPARE(window_->size(), QSize(1000, 640));
        window_->findChild<QDockWidget*>("explanation")->hide();
        window_->tour().close();
        window_->showPage(window_->pages().back());
        QTRY_COMPARE(window_->currentPage()->parentWidget()->size(), room);
    }

    void helpShowsKeysAndWords() {
        for (const auto& [title, text] :
             {std::pair{"Keys", "Ctrl+E"}, {"Glossary", "rotary position embedding"}}) {
            for (const QAction* menu : window_->menuBar()->actions())
                for (QAction* action : menu->menu()->actions())
                    if (menu->text() == "Help" && action->text() == title) action->trigger();
            QDialog* dialog = nullptr;
            for (QDialog* one : window_->findChildren<QDialog*>())
                if (one->windowTitle() == title) dialog = one;
            QVERIFY2(dialog != nullptr, title);
            const QString shown = dialog->findChild<QTextBrowser*>()->toPlainText();
            QVERIFY2(shown.contains(text), qPrintable(shown));
            dialog->close();
        }
    }

  private:
    /// Whether the cover hides the current page.
    bool isCovered() const {
        const QWidget* area = window_->currentPage()->parentWidget();
        return qobject_cast<PageCover*>(area->childAt(area->rect().center())) != nullptr;
    }

    TourPanel& panel() const { return window_->tour().panel(); }

    void predict(std::size_t choice) {
        QRadioButton* wanted = nullptr;
        for (QRadioButton* button : panel().findChildren<QRadioButton*>())
            if (button->accessibleName().toStdString() == panel().current().choices[choice]) wanted = button;
        QVERIFY(wanted != nullptr);
        QTest::mouseClick(wanted, Qt::LeftButton, {}, QPoint(8, wanted->height() / 2));
    }

    void press(const char* text) {
        for (QPushButton* button : panel().findChildren<QPushButton*>())
            if (button->text() == text && button->isVisible())
                return QTest::mouseClick(button, Qt::LeftButton);
        QFAIL(text);
    }

    QString texts() const {
        QStringList all;
        for (const QLabel* label : panel().findChildren<QLabel*>())
            if (label->isVisible()) all << label->text();
        return all.join('\n');
    }
};

ROPER_GUI_TEST(TourTest, "tour_test")
#include "tour_test.moc"
