#include <QAbstractItemView>
#include <QClipboard>
#include <QStatusBar>

#include "tests/support/page_test.h"
#include "ui/explorer/example_list.h"
#include "ui/theme/appearance.h"

using namespace roper;

/// The setup shared by all pages: undo, copy and paste, the session.
class SetupTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("setup_test"); }
    void init() {
        QSettings().clear();
        openWindow("Rotation");
    }
    void cleanup() { window_.reset(); }

    void onePlaceOnAllPages() {
        control<QSpinBox>("Head width d")->setValue(48);
        control<QSpinBox>("Pair i")->setValue(7);
        for (const char* page : {"Spectrum", "Attention", "Value mixing"}) {
            window_->showPage(page);
            QCOMPARE(control<QSpinBox>("Head width d")->value(), 48);
        }
        window_->showPage("Value mixing");
        QCOMPARE(control<QSpinBox>("Pair i")->value(), 7);
        control<QSpinBox>("Pair i")->setValue(3);
        window_->showPage("Rotation");
        QCOMPARE(control<QSpinBox>("Pair i")->value(), 3);
    }

    void examplesAreShownAndTold() {
        for (const char* name : {"rotation", "spectrum", "attention", "value-mixing"}) {
            QVERIFY(window_->showPage(name));
            auto* list = control<QComboBox>("Examples");
            const std::vector<const Example*> all = examplesForPage(name);
            QCOMPARE(list->count(), static_cast<int>(all.size()));
            list->showPopup();
            QVERIFY(list->view()->sizeHintForRow(0) >= 64);  // tall enough for its thumbnail
            list->hidePopup();
            for (int i = 0; i < list->count(); ++i) {
                const Example& example = *all[static_cast<std::size_t>(i)];
                emit list->activated(i);
                QVERIFY2(setup() == example.setup, example.name.c_str());
                QCOMPARE(list->currentIndex(), i);
                for (const auto& [key, value] : example.view)
                    QCOMPARE(window_->currentPage()->viewSettings().at(key), value);
                QVERIFY2(!list->itemIcon(i).isNull() && !list->itemIcon(i).pixmap(96, 64).isNull(),
                         example.name.c_str());
            }
            change([](Setup& s) { s.base = 1234; });
            QCOMPARE(list->currentIndex(), -1);
        }
    }

    void everyExampleHasItsOwnThumbnail() {
        const QImage sheet = thumbnailSheet().toImage();
        QCOMPARE(sheet.width(), kThumbnail.width());
        QCOMPARE(sheet.height(), kThumbnail.height() * static_cast<int>(examples().size()));
        std::vector<QImage> seen;
        for (const Example& example : examples()) {
            const QImage cell = sheet.copy(thumbnailCell(example));
            QVERIFY2(std::find(seen.begin(), seen.end(), cell) == seen.end(), example.name.c_str());
            seen.push_back(cell);
        }
    }

    void changesAreUndoneAndRedone() {
        const Setup start = setup();
        control<QSpinBox>("Head width d")->setValue(32);
        control<QComboBox>("Pairing")->setCurrentIndex(1);
        const Setup end = setup();
        trigger("Undo");
        QCOMPARE(setup().pairing, Pairing::half);
        QCOMPARE(setup().head_dim, 32);
        trigger("Undo");
        QVERIFY(setup() == start);
        QCOMPARE(control<QSpinBox>("Head width d")->value(), start.head_dim);
        trigger("Redo");
        trigger("Redo");
        QVERIFY(setup() == end);
    }

    /// On some desktops, line edits handle Ctrl+E and Ctrl+K themselves.
    void shortcutsOfTheWindowWorkInAField() {
        window_->showPage("Spectrum");
        auto* base = control<NumberEdit>("Base b");
        base->setFocus();
        base->selectAll();
        QTest::keyClicks(base, "777");
        const auto opens = [&](Qt::Key key) {
            bool opened = false;
            QTimer::singleShot(500, this, [&opened] {
                QWidget* shown = QApplication::activePopupWidget();
                if (shown == nullptr) shown = QApplication::activeModalWidget();
                opened = shown != nullptr;
                if (opened) shown->close();
            });
            QTest::keyClick(base, key, Qt::ControlModifier);
            QTest::qWait(700);
            return opened;
        };
        QVERIFY(opens(Qt::Key_E));
        QVERIFY(opens(Qt::Key_K));
        QCOMPARE(base->text(), QString("777"));
    }

    void theAppearanceIsChosenAndKept() {
        trigger("Dark colors");
        QTRY_VERIFY(window_->palette().color(QPalette::Window).lightness() < 128);
        QCOMPARE(savedAppearance(), Appearance::dark);
        trigger("Light colors");
        QTRY_VERIFY(window_->palette().color(QPalette::Window).lightness() >= 128);
        trigger("Desktop colors");
        QCOMPARE(savedAppearance(), Appearance::system);
    }

    void aDragIsOneStep() {
        const Setup start = setup();
        auto* slider = control<QSlider>("Position slider");
        for (int position = 10; position < 60; ++position)
            slider->setValue(position);
        QCOMPARE(window_->selection().history().count(), 1);
        trigger("Undo");
        QVERIFY(setup() == start);
    }

    void aCopiedSetupRestoresTheViewExactly() {
        change([](Setup& s) {
            s = withWorkedExample(s);
            s.x[2] = 0.25;
            s.source = VectorSource::hand;
            s.tokens = 5;
            s.mistake = Mistake::values_twice;
            s.ablated_pairs = {1};
            s.words = "ü & = %";
        });
        Setup copied = setup();
        change([](Setup& s) { s.run = "private-run"; });
        window_->showPage("Value mixing");
        window_->mixingPage().showTab(2);
        trigger("Copy setup");
        const QString line = QApplication::clipboard()->text();
        QVERIFY2(!line.contains("private-run"), qPrintable(line));  // shown on other pages alone
        trigger("Start over");
        window_->mixingPage().showTab(0);
        window_->showPage("Rotation");
        QVERIFY(!(setup() == copied));
        QApplication::clipboard()->setText(line);
        trigger("Paste setup");
        QVERIFY(setup() == copied);
        QCOMPARE(window_->currentPage()->name(), QString("Value mixing"));
        trigger("Copy setup");
        QCOMPARE(QApplication::clipboard()->text(), line);
        trigger("Undo");
        QVERIFY(!(setup() == copied));
    }

    void nonsenseIsNotPasted() {
        const Setup before = setup();
        for (const char* nonsense : {"", "hello", "roper-lab:setup?head_dim=7", "roper-lab:setup?nothing=1",
                                     "roper-lab:setup?base=0", "roper-lab:setup?x=1,2,nan"}) {
            QApplication::clipboard()->setText(nonsense);
            trigger("Paste setup");
            QVERIFY(setup() == before);
            QVERIFY2(window_->statusBar()->currentMessage().startsWith("Setup not pasted: "), nonsense);
        }
    }

    void theSessionIsRestored() {
        change([](Setup& s) {
            s.head_dim = 24;
            s.mistake = Mistake::wrong_pairing;
            s.query = 4;
        });
        window_->showPage("Attention");
        const Setup before = setup();
        window_->close();
        window_.reset();
        window_ = std::make_unique<MainWindow>(folder_.path().toStdString());
        QVERIFY(setup() == before);
        QCOMPARE(window_->currentPage()->name(), QString("Attention"));
    }

    void aBrokenSessionGivesTheDefaults() {
        window_.reset();
        QSettings().setValue("session/setup", "roper-lab:setup?head_dim=odd");
        window_ = std::make_unique<MainWindow>(folder_.path().toStdString());
        QVERIFY(setup() == sanitized(Setup{}));
    }

    void everyPageExplainsItself() {
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            QVERIFY2(page->explanation().contains("<h3>"), qPrintable(page->name()));
            QVERIFY2(page->explanation().contains("20"), "a source with its year");
        }
    }
};

ROPER_GUI_TEST(SetupTest, "setup_test")
#include "setup_test.moc"
