#include <QProcess>
#include <QTableView>
#include <cmath>

#include "tests/support/page_test.h"
#include "ui/explorer/mistake_text.h"

using namespace roper;

constexpr int kLarge = 1200;  // tokens; so many are computed in another thread

/// The Attention page inside the window, with random and hand-set vectors.
class AttentionPageTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("attention_page_test"); }
    void init() {
        QSettings().clear();
        openWindow("Attention");
        page_ = &window_->attentionPage();
    }
    void cleanup() { window_.reset(); }

    void theMapHoldsTheScores() {
        const HeadVectors heads =
            randomHeadVectors(setup().tokens, setup().head_dim, setup().seed, setup().similarity);
        const Eigen::MatrixXd expected = scores(scoreFormula(setup()), heads);
        QCOMPARE((*page_->map().map().values - expected).norm(), 0.0);
        change([](Setup& s) { s.map = MapKind::weights; });
        for (int row = 0; row < setup().tokens; ++row)
            QVERIFY(std::abs(page_->map().map().values->row(row).sum() - 1) < 1e-12);
    }

    void everyMethodGivesItsOwnMap() {
        auto* methods = control<QComboBox>("Position method");
        change([](Setup& s) { s.rotates = "k"; });  // of the method that rotates a chosen set
        std::vector<Eigen::MatrixXd> maps;
        for (int entry = 0; entry < methods->count(); ++entry) {
            methods->setCurrentIndex(entry);
            QCOMPARE(methods->currentIndex(), entry);
            maps.push_back(*page_->map().map().values);
        }
        const auto rope = static_cast<std::size_t>(methods->findText("RoPE")), roper = rope + 1;
        for (std::size_t a = 0; a < maps.size(); ++a)
            for (std::size_t b = 0; b < a; ++b)
                // RoPE and RoPER have the same scores, as the page says.
                QCOMPARE((maps[a] - maps[b]).norm() > 1e-3, !(a == roper && b == rope));
        methods->setCurrentIndex(static_cast<int>(roper));
        QVERIFY(page_->explanation().contains("same scores and weights as RoPE"));
    }

    void aClickShowsWhereAScoreComesFrom() {
        QTest::mouseClick(&page_->map(), Qt::LeftButton, {}, page_->map().cellRect(7, 2).center().toPoint());
        QCOMPARE(setup().query, 7);
        QCOMPARE(setup().key, 2);
        double sum = 0;
        for (const double part : page_->bars().series().front().values)
            sum += part;
        QVERIFY(std::abs(sum - (*page_->map().map().values)(7, 2)) < 1e-12);
    }

    void aClickOnABarMutesItsPair() {
        const double before = (*page_->map().map().values)(9, 3);
        const double part = page_->bars().series().front().values[2];
        QTest::mouseClick(&page_->bars(), Qt::LeftButton, {},
                          page_->bars().categoryRect(2).center().toPoint());
        QCOMPARE(setup().ablated_pairs, std::vector<int>{2});
        QVERIFY(std::abs((*page_->map().map().values)(9, 3) - (before - part)) < 1e-12);
        QTest::mouseClick(&page_->bars(), Qt::LeftButton, {},
                          page_->bars().categoryRect(2).center().toPoint());
        QVERIFY(setup().ablated_pairs.empty());
        QVERIFY(std::abs((*page_->map().map().values)(9, 3) - before) < 1e-12);
    }

    void aShiftChangesNothing() {
        control<QSlider>("Shift slider")->setValue(40);
        change([](Setup& s) { s.map = MapKind::shift_difference; });
        QVERIFY(page_->map().map().values->cwiseAbs().maxCoeff() < 1e-9);
        QVERIFY(page_->map().map().values->cwiseAbs().maxCoeff() > 0);  // its actual value is shown
        // Rounding errors must not be magnified to look like a difference.
        QVERIFY(page_->map().map().limit >= 1e-6);
        QVERIFY2(page_->headline().contains("change by at most"), qPrintable(page_->headline()));
    }

    void everyMistakeLeavesAResidual() {
        for (const Mistake mistake : kMistakes) {
            auto* box = page_->gallery().box(mistake);
            box->click();
            QCOMPARE(setup().mistake, mistake);
            QCOMPARE(setup().shift, 0.0);  // the setup's shift applies to all pages; the map has its own
            QVERIFY2(page_->map().map().values->cwiseAbs().maxCoeff() > 1e-2,
                     qPrintable(describe(mistake).name));
            if (!isRevealedByShift(mistake)) {
                change([](Setup& s) { s.map = MapKind::shift_difference; });
                QVERIFY(page_->map().map().values->cwiseAbs().maxCoeff() < 1e-9);
            }
            QVERIFY(page_->explanation().contains(describe(mistake).name));
            box->click();
            QCOMPARE(setup().mistake, Mistake::none);
        }
    }

    /// Sets that do not depend on distances alone change under the shift: in scores, or only in outputs.
    void theSetOfRotatedTensorsIsChosen() {
        auto* sets = control<QComboBox>("Rotates");
        change([](Setup& s) { s.map = MapKind::shift_difference; });
        QVERIFY(!sets->isVisible());
        change([](Setup& s) { s.method = "rotary"; });
        QVERIFY(sets->isVisible());
        for (const auto& [set, what, is_relative, explained] :
             {std::tuple{"qk", "scores", true, "depends only on n − j"},
              {"qkvo", "scores", true, "depends only on n − j"},
              {"k", "scores", false, "Only keys rotate"},
              {"qkv", "outputs", false, "Only values, not outputs, rotate"},
              {"qko", "outputs", false, "Only outputs, not values, rotate"}}) {
            sets->setCurrentText(set);
            QCOMPARE(setup().rotates, std::string(set));
            const double moved = page_->map().map().values->cwiseAbs().maxCoeff();
            QVERIFY2(is_relative ? moved < 1e-9 : moved > 1e-2, set);
            QVERIFY2(page_->headline().contains(what), qPrintable(page_->headline()));
            QVERIFY2(page_->explanation().contains(QString(explained)), qPrintable(page_->explanation()));
            QCOMPARE(page_->gallery().box(Mistake::wrong_direction)->isEnabled(), QString(set) != "k");
            QCOMPARE(page_->gallery().box(Mistake::values_twice)->isEnabled(), QString(set) == "qkvo");
        }
        QVERIFY(page_->explanation().contains("s = (R(n)q)·(R(j)k)/√d, o = R(−n) Σ a v"));
    }

    void aMistakeAboutValuesNeedsRoper() {
        change([](Setup& s) { s.method = "rope"; });
        QVERIFY(!page_->gallery().box(Mistake::no_inverse)->isEnabled());
        QVERIFY(page_->gallery().box(Mistake::wrong_direction)->isEnabled());
        change([](Setup& s) { s.method = "alibi"; });
        QVERIFY(!page_->gallery().box(Mistake::wrong_direction)->isEnabled());
    }

    void scoresByDistanceFollowTheCell() {
        page_->setViewSettings({{"view.attention_below", "4"}});
        change([](Setup& s) {
            s = {};
            s.query = 11;
            s.key = 4;
        });
        const DistanceChart& chart = page_->distanceChart();
        QVERIFY(chart.isVisible());
        const auto& of_query = chart.curves()[1];
        QCOMPARE(of_query.x.size(), 12);
        QVERIFY(std::abs(of_query.y[7] - window_->attentionState().scoreRow()[4]) < 1e-12);
        QCOMPARE(chart.curves()[2].key, QString("decay"));
        emit page_->distanceChart().clicked(3.2);
        QCOMPARE(setup().key, 8);
        change([](Setup& s) { s.method = "none"; });
        QCOMPARE(chart.curves().size(), std::size_t(2));  // nothing rotates, so nothing decays
    }

    void theReadoutIsTheNumberInTheCsv() {
        const QString text = readoutAfterHovering(6, 4);
        const QString line = page_->map().figureCsv().split('\n').filter(QRegularExpression("^6,4,")).front();
        const QString score =
            QString::number(line.section(',', 2).toDouble(), 'g', 7).replace('-', QChar(0x2212));
        QVERIFY2(text.contains("score " + score), qPrintable(text + " | " + line));
        QVERIFY(text.contains("distance 2"));
    }

    void whatIsAddedToScoresIsDrawnByDistance() {
        change([](Setup& s) { s.method = "rope"; });
        QVERIFY(page_->biasChart().curves().empty());
        const Eigen::MatrixXd none = [&] {
            change([](Setup& s) { s.method = "none"; });
            return *page_->map().map().values;
        }();
        for (const std::string method : {"alibi", "t5"}) {
            change([&](Setup& s) {
                s.method = method;
                s.head = 1;
                s.heads = 4;
            });
            const auto& curves = page_->biasChart().curves();
            QCOMPARE(curves.size(), method == "alibi" ? std::size_t(4) : std::size_t(1));
            const auto& chosen = curves[method == "alibi" ? 1 : 0];
            for (int key = 0; key <= 9; ++key) {
                const double added = (*page_->map().map().values)(9, key) - none(9, key);
                QCOMPARE(chosen.x[9 - key], 9.0 - key);
                QVERIFY(std::abs(chosen.y[9 - key] - added) < 1e-12);
            }
        }
        page_->biasKind().setCurrentIndex(1);
        const auto& buckets = page_->biasChart().curves().front().y;
        QCOMPARE(buckets[15], 15.0);
        QCOMPARE(buckets[128], 31.0);
        change([](Setup& s) { s.causal = false; });
        QCOMPARE(page_->biasChart().curves().front().x.front(), -256.0);
        page_->biasKind().setCurrentIndex(0);
    }

    void thePositionTableHoldsTheSinusoids() {
        change([](Setup& s) {
            s.head_dim = 4;
            s.heads = 2;
            s.base = 10000;
        });
        const Eigen::MatrixXd& table = *page_->table().map().values;
        QCOMPARE(table.cols(), Eigen::Index(8));
        QVERIFY(std::abs(table(3, 0) - std::sin(3.0)) < 1e-12);
        QVERIFY(std::abs(table(3, 3) - std::cos(0.3)) < 1e-12);
    }

    void aTableByHandIsWhatIsShown() {
        control<QComboBox>("q, k, v from")->setCurrentIndex(1);
        QCOMPARE(setup().source, VectorSource::hand);
        auto* table = control<QTableView>("q of every token");
        QVERIFY(table->model()->setData(table->model()->index(2, 0), "5.5", Qt::EditRole));
        QCOMPARE(setup().manual_vectors.Q(2, 0), 5.5);
        const double score = (*page_->map().map().values)(2, 1);
        QVERIFY(table->model()->setData(table->model()->index(2, 0), "−5.5", Qt::EditRole));
        QVERIFY((*page_->map().map().values)(2, 1) != score);
        QVERIFY(!table->model()->setData(table->model()->index(2, 0), "nonsense", Qt::EditRole));
        QVERIFY(!table->model()->setData(table->model()->index(2, 0), "1e99", Qt::EditRole));
        QCOMPARE(setup().manual_vectors.Q(2, 0), -5.5);
    }

    void whatASourceNeedsComesBackWithIt() {
        auto* source = control<QComboBox>("q, k, v from");
        const auto hasRoom = [&](const char* name) {
            QCoreApplication::processEvents();
            auto* widget = control<QWidget>(name);
            return widget->isVisible() && widget->height() > 10;
        };
        for (const int other : {2, 1}) {
            source->setCurrentIndex(other);
            QCOMPARE(hasRoom("Seed"), false);
            QCOMPARE(hasRoom("Tokens T"), other == 1);
            QCOMPARE(hasRoom("Model"), other == 2);
            source->setCurrentIndex(0);
            for (const char* name : {"Tokens T", "Seed", "Similarity"})
                QVERIFY2(hasRoom(name), name);
            QVERIFY(!hasRoom("Model"));
        }
    }

    void returnChoosesInAnOpenList() {
        auto* source = control<QComboBox>("q, k, v from");
        source->setFocus();
        source->showPopup();
        QTRY_VERIFY(source->view()->isVisible());
        QTest::keyClick(source->view(), Qt::Key_Down);
        QTest::keyClick(source->view(), Qt::Key_Return);
        QCOMPARE(source->currentIndex(), 1);
        QTRY_VERIFY(!source->view()->isVisible());
        QCOMPARE(setup().source, VectorSource::hand);
        QCOMPARE(window_->currentPage()->name(),
                 QString("Attention"));  // Return is also a shortcut of the page
    }

    void groupsFoldAndStaySo() {
        QToolButton* header = nullptr;
        for (auto* button : page_->findChildren<QToolButton*>())
            if (button->accessibleName() == "Method") header = button;
        QVERIFY(header != nullptr);
        QVERIFY(control<QCheckBox>("Causal")->isVisible());
        header->click();
        QVERIFY(!control<QCheckBox>("Causal")->isVisible());
        QVERIFY(control<QSpinBox>("Seed")->isVisible());
        window_.reset();
        openWindow("Attention");
        page_ = &window_->attentionPage();
        QVERIFY(!control<QCheckBox>("Causal")->isVisible());
    }

    void randomVectorsCannotBeEdited() {
        auto* table = control<QTableView>("q of every token");
        QVERIFY(!(table->model()->flags(table->model()->index(0, 0)) & Qt::ItemIsEditable));
    }

    void keysMoveThroughTheMap() {
        change([](Setup& s) { s.query = 5, s.key = 3; });
        QTest::keyClick(page_, Qt::Key_Right);
        QCOMPARE(setup().key, 4);
        QTest::keyClick(page_, Qt::Key_Down);
        QCOMPARE(setup().query, 6);
        QTest::keyClick(page_, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(setup().key, 6);  // the last key that a causal query sees
        QTest::keyClick(page_, Qt::Key_Home);
        QCOMPARE(setup().key, 0);
        QTest::keyClick(page_, Qt::Key_Space);
        QTRY_VERIFY(setup().shift >= 2);
        QTest::keyClick(page_, Qt::Key_Space);
        const double shift = setup().shift;
        QTest::qWait(400);
        QCOMPARE(setup().shift, shift);
    }

    void aRowGoesToValueMixing() {
        change([](Setup& s) { s.query = 4; });
        QTest::keyClick(page_, Qt::Key_Return);
        QCOMPARE(window_->currentPage()->name(), QString("Value mixing"));
        QCOMPARE(setup().query, 4);
    }

    void aLargeMapIsComputedWithoutHoldingUpTheWindow() {
        change([](Setup& s) { s.tokens = kLarge; });
        QVERIFY(page_->isComputing());
        QVERIFY(page_->headline().contains(QString::number(kLarge)));
        QTRY_VERIFY_WITH_TIMEOUT(!page_->isComputing() && page_->map().map().values->rows() == kLarge, 30000);
        HeatMapView& map = page_->map();
        // When zooming at a cell, that cell stays under the pointer.
        map.showCells({500, 900, 20, 20});
        const QPointF center = map.cellRect(910, 510).center();
        QWheelEvent wheel(center, map.mapToGlobal(center), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&map, &wheel);
        QVERIFY(map.visibleCells().width() < 20);
        QVERIFY((map.cellRect(910, 510).center() - center).manhattanLength() < 1.5);
        QTest::keyClick(&map, Qt::Key_0);
        QCOMPARE(map.visibleCells().width(), double(kLarge));
    }

    void aMapThatIsNoLongerWantedIsNotShown() {
        change([](Setup& s) { s.tokens = kLarge; });
        QVERIFY(page_->isComputing());
        change([](Setup& s) { s.source = VectorSource::run; });
        QTRY_VERIFY_WITH_TIMEOUT(!page_->isComputing(), 30000);
        QCoreApplication::processEvents();
        QVERIFY(!page_->map().map().values);
    }

    void hoveringWhileALargeMapIsReplacedIsSafe() {
        change([](Setup& s) { s.tokens = kLarge, s.causal = false; });
        QTRY_VERIFY_WITH_TIMEOUT(!page_->isComputing(), 30000);
        change([](Setup& s) { s.tokens = 1100; });
        QVERIFY(page_->isComputing());
        const QString readout = readoutAfterHovering(1050, kLarge - 10);  // of the map that is still visible
        QVERIFY2(readout.contains("key 118") && readout.contains("score"), qPrintable(readout));
        QTRY_VERIFY_WITH_TIMEOUT(!page_->isComputing(), 30000);
    }

    void aZoomIsRestoredAndNonsenseIsNot() {
        change([](Setup& s) { s.tokens = 100; });
        page_->map().showCells({10, 20, 30, 30});
        const QRectF shown = page_->map().visibleCells();
        window_->close();
        window_.reset();
        window_ = std::make_unique<MainWindow>(folder_.path().toStdString());
        window_->show();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        page_ = &window_->attentionPage();
        QCOMPARE(page_->map().visibleCells(), shown);
        for (const char* cells :
             {"nan,nan,nan,nan", "inf,0,5,5", "1,2,3", "", "a,b,c,d", "-1e300,0,1e300,5"}) {
            page_->setViewSettings({{"view.attention_cells", cells}});
            page_->grab();
            QVERIFY(page_->map().visibleCells().width() <= 100);
        }
    }

    void aCellIsChosenWhateverTheMistake() {
        change([](Setup& s) {
            s.causal = false;
            s.mistake = Mistake::no_inverse;
            s.map = MapKind::scores;
        });
        QTest::mouseClick(&page_->map(), Qt::LeftButton, {}, page_->map().cellRect(2, 7).center().toPoint());
        QCOMPARE(setup().query, 2);
        QCOMPARE(setup().key, 7);
    }

    void aMistakeThatIsOnCanBeSwitchedOff() {
        change([](Setup& s) { s.method = "alibi", s.mistake = Mistake::no_inverse; });
        QVERIFY(page_->gallery().box(Mistake::no_inverse)->isEnabled());
        page_->gallery().box(Mistake::no_inverse)->click();
        QCOMPARE(setup().mistake, Mistake::none);
    }

    void aFieldKeepsItsKeys() {
        auto* tokens = control<QSpinBox>("Tokens T");
        tokens->setFocus();
        tokens->selectAll();
        QTest::keyClicks(tokens, "6");
        QTest::keyClick(tokens, Qt::Key_Return);
        QCOMPARE(setup().tokens, 6);
        QCOMPARE(window_->currentPage()->name(), QString("Attention"));
        QTest::keyClick(tokens, Qt::Key_Up);
        QCOMPARE(setup().tokens, 7);
    }

    void onlyThePagesOwnKeysCount() {
        for (Page* page : window_->pages()) {
            for (const QAction* action : page->actions())
                QCOMPARE(action->isEnabled(), page == window_->currentPage());
        }
    }

    void allInputsAreNamedAndExplained() {
        for (int source = 0; source < 3; ++source) {
            change([&](Setup& s) { s.source = static_cast<VectorSource>(source); });
            checkInputs();
        }
    }

    void aRunThatHasEndedIsAskedForItsHeads() {
        if (!QFile::exists(folder_.filePath("short"))) trainTo("short", "3");
        window_->runs().readAll();
        control<QComboBox>("q, k, v from")->setCurrentIndex(2);
        window_->attentionState().useRun("short");
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        const auto& head = window_->attentionState().runHead();
        QCOMPARE(head->model.step, 3);
        QCOMPARE(head->vectors.tokens(), static_cast<int>(setup().run_text.size()));
        // The page has adopted the model's own rotation.
        QCOMPARE(setup().head_dim, 16);
        QCOMPARE(setup().method, std::string("roper"));
        QCOMPARE((*page_->map().map().values - scores(scoreFormula(setup()), head->vectors)).norm(), 0.0);
        const Eigen::MatrixXd first = *page_->map().map().values;
        control<QSpinBox>("Head")->setValue(1);
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady() && *page_->map().map().values != first,
                                 30000);
        // A text that the model cannot tokenize is refused with a message, and the page recovers.
        change([](Setup& s) { s.run_text = "WRONG"; });
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().message().contains("vocabulary"), 30000);
        change([](Setup& s) { s.run_text = "?d=1+2;"; });
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        QCOMPARE(window_->attentionState().tokens(), 7);
        // Value mixing shows the same head.
        window_->showPage("Value mixing");
        const QString title = window_->runs().titleOf("short");
        QVERIFY2(title.startsWith("Addition · RoPER · seed 0"), qPrintable(title));
        QVERIFY(
            window_->mixingPage().chainView().figureCaption().contains("head 1 of " + title + " at step 3"));
        // So do the lists of models; the folder's name is in the tooltip.
        const auto* models = control<QComboBox>("Model");
        QCOMPARE(models->currentText(), title);
        QCOMPARE(models->currentData(Qt::ToolTipRole).toString(), QString("short"));
    }

    void theBlendIsTheStrengthOfTheRun() {
        trainTo("warming", "2", {"--set", "training.value_rotation_warmup=8"});
        window_->runs().readAll();
        window_->attentionState().useRun("warming");
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        QCOMPARE(setup().value_rotation_strength, 0.25);
        window_->showPage("Value mixing");
        QVERIFY2(window_->mixingPage().explanation().contains("25 % of (j−n)θ"),
                 qPrintable(window_->mixingPage().explanation()));
        change([](Setup& s) { s.source = VectorSource::random; });
        QCOMPARE(setup().value_rotation_strength, 1.0);
    }

    void aRefusedTextStaysRefusedUntilItIsChanged() {
        useShortRun();
        change([](Setup& s) { s.run_text = "WRONG"; });
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().message().contains("vocabulary"), 30000);
        change([](Setup& s) { s.shift = 3; });
        QVERIFY(window_->attentionState().message().contains("vocabulary"));
        change([](Setup& s) { s.source = VectorSource::random; });
        QVERIFY(window_->attentionState().isReady());
        change([](Setup& s) { s.source = VectorSource::run; });
        QVERIFY(window_->attentionState().message().contains("vocabulary"));
    }

    void aSessionWithARunComesBackAsItWas() {
        useShortRun();
        change([](Setup& s) {
            s.method = "rope";
            s.mistake = Mistake::wrong_direction;
            s.ablated_pairs = {1};
            s.base = 500;
        });
        const Setup before = setup();
        window_->close();
        window_.reset();
        openWindow("Attention");
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        QVERIFY(setup() == before);
        page_ = &window_->attentionPage();
    }

    void undoLeadsBackFromOneRunToAnother() {
        useShortRun();
        trainTo("second", "2");
        window_->runs().refresh();
        change([](Setup& s) {
            s.method = "alibi";
            s.ablated_pairs = {1};
        });
        const Setup first = setup();
        window_->attentionState().useRun("second");
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        QCOMPARE(setup().method, std::string("roper"));
        const Setup second = setup();
        while (setup().run != "short" && window_->selection().history().canUndo())
            window_->selection().history().undo();
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        QVERIFY(setup() == first);
        while (window_->selection().history().canRedo())
            window_->selection().history().redo();
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        QVERIFY(setup() == second);
    }

    /// What a run has brought goes with it; what the user has changed since stays.
    void theRunsRotationGoesWithTheRun() {
        change([](Setup& s) {
            s.base = 777;
            s.head_dim = 24;
            s.method = "alibi";
        });
        useShortRun();
        QCOMPARE(setup().base, 10000.0);
        QCOMPARE(setup().method, std::string("roper"));
        change([](Setup& s) { s.scaling.method = ScalingMethod::linear; });
        control<QComboBox>("q, k, v from")->setCurrentIndex(0);
        QCOMPARE(setup().source, VectorSource::random);
        QCOMPARE(setup().base, 777.0);
        QCOMPARE(setup().head_dim, 24);
        QCOMPARE(setup().method, std::string("alibi"));
        QCOMPARE(setup().scaling.method, ScalingMethod::linear);
        QVERIFY(window_->attentionState().isReady());
        window_->selection().history().undo();
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        QCOMPARE(setup().base, 10000.0);
        window_->selection().history().redo();
        QCOMPARE(setup().base, 777.0);
    }

    void headsThatAreTooWideAreSaidToBe() {
        trainTo("wide", "1", {"--set", "model.width=1024", "--set", "model.heads=1"});
        window_->runs().readAll();
        window_->attentionState().useRun("wide");
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().message().contains("1024 features"), 30000);
        change([](Setup& s) { s.source = VectorSource::random; });
        QVERIFY(window_->attentionState().isReady());
    }

    void aModelIsWatchedWhileItTrains() {
        QProcess trainer;
        trainer.start(program(), arguments("long", "100000000") +
                                     QStringList{"--set", "training.value_rotation_warmup=100000000"});
        const auto finish = qScopeGuard([&] {
            trainer.kill();
            trainer.waitForFinished();
        });
        QTRY_VERIFY_WITH_TIMEOUT((window_->runs().refresh(), window_->runs().find("long") != nullptr &&
                                                                 window_->runs().find("long")->step() > 0),
                                 30000);
        window_->attentionState().useRun("long");
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
        const std::int64_t step = window_->attentionState().runHead()->model.step;
        const auto strengthAtThatStep = [&] {
            return static_cast<double>(window_->attentionState().runHead()->model.step) / 100000000;
        };
        QCOMPARE(setup().value_rotation_strength, strengthAtThatStep());
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().runHead()->model.step > step, 30000);
        QCOMPARE(setup().value_rotation_strength, strengthAtThatStep());
        change([](Setup& s) { s.value_rotation_strength = 0.5; });
        const std::int64_t later = window_->attentionState().runHead()->model.step;
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().runHead()->model.step > later, 30000);
        QCOMPARE(setup().value_rotation_strength, 0.5);
    }

    void withoutRunsThePageSaysWhatToDo() {
        window_.reset();
        folder_ = QTemporaryDir();
        openWindow("Attention");
        page_ = &window_->attentionPage();
        control<QComboBox>("q, k, v from")->setCurrentIndex(2);
        QVERIFY(!window_->attentionState().isReady());
        for (QPushButton* button : page_->findChildren<QPushButton*>())
            if (button->text() == "Train a model first" && button->isVisible())
                QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(window_->currentPage()->name(), QString("Training"));
    }

  private:
    static QString program() { return QString::fromLocal8Bit(qgetenv("ROPER_TRAIN")); }

    QStringList arguments(const QString& name, const QString& steps) const {
        return {"run",       "addition-small",
                "--set",     "model.width=32",
                "--set",     "model.layers=1",
                "--set",     "model.heads=2",
                "--set",     "model.feed_forward=32",
                "--set",     "training.batch=4",
                "--set",     "evaluation.every=0",
                "--set",     "checkpoints.every=0",
                "--steps",   steps,
                "--threads", "1",
                "--runs",    folder_.path(),
                "--name",    name,
                "-q"};
    }

    void useShortRun() {
        if (!QFile::exists(folder_.filePath("short"))) trainTo("short", "3");
        window_->runs().readAll();
        window_->attentionState().useRun("short");
        QTRY_VERIFY_WITH_TIMEOUT(window_->attentionState().isReady(), 30000);
    }

    void trainTo(const QString& name, const QString& steps, const QStringList& more = {}) const {
        QProcess trainer;
        trainer.start(program(), arguments(name, steps) + more);
        QVERIFY(trainer.waitForFinished(60000));
        QVERIFY2(trainer.exitCode() == 0, trainer.readAllStandardError().constData());
    }

    QString readoutAfterHovering(int row, int column) {
        readoutAt(&page_->map(), page_->map().cellRect(row, column).center().toPoint());
        for (QLabel* label : page_->findChildren<QLabel*>())
            if (label->accessibleName() == "Numbers under the pointer") return label->text();
        return {};
    }

    AttentionPage* page_ = nullptr;
};

ROPER_GUI_TEST(AttentionPageTest, "attention_page_test")
#include "attention_page_test.moc"
