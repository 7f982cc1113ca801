#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "tests/support/gui_test.h"
#include "ui/window/main_window.h"

using namespace roper;

/// The Rotation page in the window, controlled by mouse and keyboard.
class RotationPageTest : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName("RoPER Lab tests");
        QCoreApplication::setApplicationName("rotation_page_test");
        QSettings().clear();
    }

    void init() {
        window_ = std::make_unique<MainWindow>(folder_.path().toStdString());
        window_->show();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        QVERIFY(window_->showPage("Rotation"));
        page_ = &window_->rotationPage();
        page_->state().loadWorkedExample();
    }

    void cleanup() { window_.reset(); }

    void theExampleGivesTheSourcesNumbers() {
        const Eigen::VectorXd rotated = page_->state().rotated();
        const double expected[] = {-0.353876, 1.060553, 0.841964, 2.353953};
        for (int i = 0; i < 4; ++i)
            QVERIFY(std::abs(rotated[i] - expected[i]) < 5e-7);
    }

    void draggingTheArrowSetsThePair() {
        auto* circle = page_->findChild<CircleView*>();
        const QPoint center = circle->rect().center();
        // Away from both arrow heads, nothing is dragged.
        const Eigen::VectorXd before = page_->state().x();
        QTest::mousePress(circle, Qt::LeftButton, {}, center + QPoint(0, 5));
        QTest::mouseMove(circle, center + QPoint(60, 0));
        QTest::mouseRelease(circle, Qt::LeftButton, {}, center + QPoint(60, 0));
        QVERIFY(page_->state().x() == before);
        QTest::mousePress(circle, Qt::LeftButton, {}, circle->tip(false).toPoint());
        QTest::mouseMove(circle, center + QPoint(0, -60));
        QTest::mouseRelease(circle, Qt::LeftButton, {}, center + QPoint(0, -60));
        QVERIFY(std::abs(page_->state().x()[0]) < 0.05);
        QVERIFY(page_->state().x()[1] > 0.2);
        QCOMPARE(page_->state().x()[2], 1.5);  // the other pair does not change
        // Dragging the rotated arrow moves its vector.
        QTest::mousePress(circle, Qt::LeftButton, {}, circle->tip(true).toPoint());
        const QPoint goal = center + QPoint(50, 30);
        QTest::mouseMove(circle, goal);
        QTest::mouseRelease(circle, Qt::LeftButton, {}, goal);
        QVERIFY((circle->tip(true) - goal).manhattanLength() < 4);
        // The table next to it shows the new numbers.
        auto* table = page_->findChild<QTableWidget*>();
        QCOMPARE(table->item(1, 0)->text().toDouble(), page_->state().x()[1]);
    }

    void keysStep() {
        QTest::keyClick(page_, Qt::Key_Right);
        QCOMPARE(page_->state().setup().position, 4.0);
        QTest::keyClick(page_, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(page_->state().setup().position, 14.0);
        QTest::keyClick(page_, Qt::Key_Left);
        QCOMPARE(page_->state().setup().position, 13.0);
        QTest::keyClick(page_, Qt::Key_Home);
        QCOMPARE(page_->state().setup().position, 0.0);
        QVERIFY((page_->state().rotated() - page_->state().x()).norm() == 0.0);
    }

    void spacePlaysAndPauses() {
        QTest::keyClick(page_, Qt::Key_Space);
        QTRY_VERIFY(page_->state().setup().position > 3.1);
        QTest::keyClick(page_, Qt::Key_Space);
        const double position = page_->state().setup().position;
        QCOMPARE(position, std::round(position));
        QTest::qWait(120);
        QCOMPARE(page_->state().setup().position, position);
    }

    void aDialSelectsItsPair() {
        auto* dials = page_->findChild<DialsView*>();
        QTest::mouseClick(dials, Qt::LeftButton, {}, dials->dialRect(1).center().toPoint());
        QCOMPARE(page_->state().setup().pair, 1);
    }

    void everyControlChangesWhatItSays() {
        const auto box = [&](const char* name) {
            for (QWidget* widget : page_->findChildren<QWidget*>())
                if (widget->accessibleName() == name) return widget;
            return static_cast<QWidget*>(nullptr);
        };
        QImage before = page_->findChild<CircleView*>()->grab().toImage();
        const auto expectNewPicture = [&](const char* what) {
            QCoreApplication::processEvents();
            const QImage now = page_->findChild<CircleView*>()->grab().toImage();
            QVERIFY2(now != before, what);
            before = now;
        };
        qobject_cast<QComboBox*>(box("Pairing"))->setCurrentIndex(0);
        QCOMPARE(page_->state().setup().pairing, Pairing::half);
        expectNewPicture("pairing");
        qobject_cast<QSpinBox*>(box("Head width d"))->setValue(64);
        QCOMPARE(page_->state().x().size(), 64);
        expectNewPicture("head width");
        qobject_cast<QSpinBox*>(box("Pair i"))->setValue(5);
        expectNewPicture("pair");
        qobject_cast<QComboBox*>(box("Frequency formula"))->setCurrentIndex(0);
        QCOMPARE(page_->state().setup().frequency_formula, FrequencyFormula::standard);
        expectNewPicture("frequency formula");
        auto* base = qobject_cast<NumberEdit*>(box("Base b"));
        base->selectAll();
        QTest::keyClicks(base, "500");
        QCOMPARE(page_->state().setup().base, 500.0);
        expectNewPicture("base");
        qobject_cast<QSlider*>(box("Position slider"))->setValue(50);
        QCOMPARE(page_->state().setup().position, 50.0);
        expectNewPicture("position");
    }

    void aNumberIsTypedWhole() {
        auto* width = page_->findChild<QSpinBox*>();
        for (QSpinBox* box : page_->findChildren<QSpinBox*>())
            if (box->accessibleName() == "Head width d") width = box;
        width->setFocus();
        width->selectAll();
        QTest::keyClicks(width, "96");
        QCOMPARE(page_->state().x().size(), 4);
        QTest::keyClick(width, Qt::Key_Return);
        QCOMPARE(page_->state().x().size(), 96);
        QCOMPARE(page_->state().x()[3], 2.0);  // existing entries are kept
        auto* position = page_->findChild<QDoubleSpinBox*>();
        position->setFocus();
        position->selectAll();
        QTest::keyClicks(position, "12.25");
        QTest::keyClick(position, Qt::Key_Return);
        QCOMPARE(page_->state().setup().position, 12.25);
    }

    void spacePressesAFocusedButton() {
        auto* view = page_->findChild<WorkedExampleView*>();
        view->setStep(1);
        page_->showWorkedExample(1);
        for (QPushButton* button : page_->findChildren<QPushButton*>()) {
            if (button->text() != "Next step") continue;
            button->setFocus();
            QTest::keyClick(button, Qt::Key_Space);
        }
        QCOMPARE(view->step(), 2);
        QTest::qWait(120);
        QCOMPARE(page_->state().setup().position, 3.0);  // the animation is stopped
    }

    void theNewestLineOfTheExampleIsInSight() {
        page_->showWorkedExample(WorkedExampleView::kSteps);
        auto* view = page_->findChild<WorkedExampleView*>();
        QTRY_VERIFY(view->height() >= view->sizeHint().height());
        QTRY_VERIFY(view->visibleRegion().boundingRect().bottom() >= view->height() - 2);
    }

    void nonsenseInAFieldIsPutBack() {
        auto* table = page_->findChild<QTableWidget*>();
        for (const char* nonsense : {"", "abc", "1e999", "nan", "1,5", "--3"}) {
            table->item(0, 0)->setText(nonsense);
            QCOMPARE(table->item(0, 0)->text(), QString("0.5"));
            QCOMPARE(page_->state().x()[0], 0.5);
        }
        auto* base = page_->findChild<NumberEdit*>();
        base->setFocus();
        base->selectAll();
        QTest::keyClicks(base, "-7x");
        QVERIFY(!base->toolTip().isEmpty());
        QCOMPARE(page_->state().setup().base, 10000.0);
        base->clearFocus();
        page_->setFocus();
        QTRY_COMPARE(base->text(), QString("10000"));
    }

    void theWorkedExampleGrowsStepByStep() {
        auto* view = page_->findChild<WorkedExampleView*>();
        view->setStep(1);
        int height = view->sizeHint().height();
        for (int step = 2; step <= WorkedExampleView::kSteps; ++step) {
            QTest::keyClick(page_, Qt::Key_PageDown);
            QCOMPARE(view->step(), step);
            QVERIFY(view->sizeHint().height() > height);
            height = view->sizeHint().height();
        }
        QTest::keyClick(page_, Qt::Key_PageDown);
        QCOMPARE(view->step(), WorkedExampleView::kSteps);
    }

    void readoutIsTheNumberUnderThePointer() {
        auto* bars = page_->findChild<BarsView*>();
        QSignalSpy hovered(bars, &FigureView::hovered);
        QTest::mouseMove(bars, QPoint(bars->width() / 2 + bars->width() / 8, bars->height() / 2));
        QTRY_VERIFY(!hovered.isEmpty());
        QVERIFY2(hovered.last()[0].toString().contains("feature 2") &&
                     hovered.last()[0].toString().contains("0.841964"),
                 qPrintable(hovered.last()[0].toString()));
    }

    void theSessionIsRestored() {
        Setup setup = page_->state().setup();
        setup.head_dim = 32;
        setup.position = 17;
        page_->state().selection().set(setup, "test");
        window_->close();
        window_ = std::make_unique<MainWindow>(folder_.path().toStdString());
        QCOMPARE(window_->rotationPage().state().setup().head_dim, 32);
        QCOMPARE(window_->rotationPage().state().setup().position, 17.0);
    }

    void everyInputHasAName() {
        for (QWidget* widget : page_->findChildren<QWidget*>()) {
            const bool is_input = qobject_cast<QAbstractSpinBox*>(widget) ||
                                  qobject_cast<QComboBox*>(widget) || qobject_cast<QSlider*>(widget) ||
                                  qobject_cast<NumberEdit*>(widget) || qobject_cast<FigureView*>(widget);
            if (is_input) QVERIFY2(!widget->accessibleName().isEmpty(), widget->metaObject()->className());
        }
    }

  private:
    QTemporaryDir folder_;
    std::unique_ptr<MainWindow> window_;
    RotationPage* page_ = nullptr;
};

ROPER_GUI_TEST(RotationPageTest, "rotation_page_test")
#include "rotation_page_test.moc"
