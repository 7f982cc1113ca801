#include <QClipboard>
#include <cmath>
#include <numbers>

#include "tests/support/page_test.h"

using namespace roper;

/// The Spectrum page inside the window.
class SpectrumPageTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("spectrum_page_test"); }
    void init() {
        QSettings().clear();
        openWindow("Spectrum");
        page_ = &window_->spectrumPage();
    }
    void cleanup() { window_.reset(); }

    void wavelengthsAreTwoPiOverTheta() {
        change([](Setup& s) { s.head_dim = 128; });
        const CurveChart::Curve& curve = page_->spectrumChart().curves().front();
        QCOMPARE(curve.y.size(), 64);
        for (int i = 0; i < 64; ++i)
            QVERIFY(std::abs(curve.y[i] / (2 * std::numbers::pi * std::pow(10000.0, i / 64.0)) - 1) < 1e-12);
        // Frequencies that are not scaled have the color of text; scaled ones have a color of their own.
        QCOMPARE(curve.color, Theme::of(page_->palette()).text);
        change([](Setup& s) { s.scaling.method = ScalingMethod::ntk; });
        QVERIFY(page_->spectrumChart().curves().front().color != Theme::of(page_->palette()).text);
    }

    void theSourcesFigureIsAnExample() {
        change([](Setup& s) {
            s.base = 500;
            s.scaling.method = ScalingMethod::yarn;
            s.rotary_fraction = 0.5;
        });
        auto* list = control<QComboBox>("Examples");
        emit list->activated(list->findText("Decay as in Su et al."));
        const CurveChart::Curve& decay = page_->decayChart().curves().front();
        QCOMPARE(decay.y.size(), 257);
        QVERIFY(std::abs(decay.y[0] - 32.5) < 1e-12);
        QVERIFY(std::abs(decay.y[256] - 6.543097322978939) < 1e-9);
    }

    void everyScalingIsDrawnAndUsed() {
        for (const ScalingMethod method : kScalingMethods) {
            if (method == ScalingMethod::none) continue;
            const std::size_t before = page_->spectrumChart().curves().size();
            auto* box = control<QCheckBox>(qPrintable("Draw: " + describe(method).name));
            QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
            QCOMPARE(page_->spectrumChart().curves().size(), before + 1);
            QVERIFY(page_->spectrumChart().curves().back().y != page_->spectrumChart().curves().front().y ||
                    method == ScalingMethod::dynamic_ntk);  // no effect up to L
        }
        control<QComboBox>("Scaling")->setCurrentIndex(static_cast<int>(ScalingMethod::linear));
        QCOMPARE(setup().scaling.method, ScalingMethod::linear);
        QVERIFY(std::abs(setup().rotary().theta[0] - 0.25) < 1e-15);
        // The method in use is always drawn.
        QVERIFY(!control<QCheckBox>("Draw: linear")->isEnabled());
    }

    void theBaseBoundSaysWhereItFails() {
        change([](Setup& s) { s.head_dim = 128; });
        QVERIFY2(page_->boundChart().figureCaption().contains("1707"),
                 qPrintable(page_->boundChart().figureCaption()));
        auto* length = control<NumberEdit>("Text length L′");
        length->selectAll();
        QTest::keyClicks(length, "1000");
        QVERIFY(page_->boundChart().figureCaption().contains("up to δ = 1000"));
    }

    void everyControlChangesAPicture() {
        const auto pageFigures = [&] {
            QString all;
            for (const Figure* figure : page_->figures())
                all += figure->figureCsv() + figure->figureCaption();
            return all;
        };
        QString before = pageFigures();
        const auto expectChange = [&](const char* what) {
            const QString now = pageFigures();
            QVERIFY2(now != before, what);
            before = now;
        };
        change([](Setup& s) {
            s.overlays = {ScalingMethod::yarn, ScalingMethod::llama3, ScalingMethod::p_rope};
        });
        expectChange("overlays");
        control<QCheckBox>("xPos, in the decay")->click();
        expectChange("xPos");
        control<QCheckBox>("other formula")->click();
        expectChange("other formula");
        control<QComboBox>("Show")->setCurrentIndex(1);
        expectChange("quantity");
        const std::pair<const char*, const char*> numbers[] = {
            {"Base b", "300000"}, {"Factor s", "7"},       {"Trained length L", "512"},
            {"β fast", "16"},     {"β slow", "8"},         {"Low factor", "2"},
            {"High factor", "9"}, {"Proportion p", "0.3"}, {"Text length L′", "2000"}};
        for (const auto& [name, value] : numbers) {
            auto* edit = control<NumberEdit>(name);
            QVERIFY2(edit->isVisible(), name);
            edit->selectAll();
            QTest::keyClicks(edit, value);
            expectChange(name);
        }
        control<QSpinBox>("Head width d")->setValue(48);
        expectChange("head width");
        control<QSpinBox>("Distances")->setValue(100);
        expectChange("distances");
        control<QComboBox>("Frequency formula")->setCurrentIndex(1);
        expectChange("frequency formula");
        control<QDoubleSpinBox>("Rotated fraction")->setValue(0.5);
        expectChange("fraction");
    }

    /// The models in the cache of this user are not the test's.
    void modelsAreCompared() {
        auto* tabs = page_->findChild<QTabWidget*>();
        ModelComparison& comparison = page_->comparison();
        QVERIFY(comparison.view().groups().empty());  // read when first shown
        tabs->setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(!comparison.isReading(), 60000);
        QVERIFY2(comparison.problem().isEmpty(), qPrintable(comparison.problem()));
        const auto rowOf = [&](const char* model) {
            const auto& groups = comparison.view().groups();
            for (std::size_t row = 0; row < groups.size(); ++row)
                if (groups[row].model.find(model) != std::string::npos) return row;
            return groups.size();
        };
        const std::size_t row = rowOf("Gemma 3 4B");
        QVERIFY(row < comparison.view().groups().size());
        QTRY_VERIFY(comparison.view().height() >= comparison.view().minimumSizeHint().height());
        QSignalSpy readout(&comparison, &ModelComparison::hovered);
        const QPoint at = (comparison.view().centerOf(row) * Zoom::instance().factor()).toPoint();
        QTest::mouseMove(&comparison.view(), at);
        QTRY_VERIFY(!readout.empty());
        QVERIFY2(readout.last().front().toString().contains("256 of 256 features rotate"),
                 qPrintable(readout.last().front().toString()));
        QTest::mouseClick(&comparison.view(), Qt::LeftButton, {}, at);
        QCOMPARE(tabs->currentIndex(), 0);
        QCOMPARE(setup().base, 1e6);
        QCOMPARE(setup().head_dim, 256);
        QCOMPARE(setup().scaling.method, ScalingMethod::linear);
        QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(setup().head_dim, Setup{}.head_dim);
        QVERIFY(comparison.view().figureCsv().contains("Pythia"));
    }

    void aConfigIsPastedAndCopied() {
        const QString said = page_->panel().pasteConfig(
            R"({"head_dim": 128, "max_position_embeddings": 131072, "rope_theta": 500000, "rope_scaling": {"rope_type":
            "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192}})");
        QVERIFY2(said.contains("Llama 3"), qPrintable(said));
        QCOMPARE(setup().base, 500000.0);
        QTest::mouseClick(control<QPushButton>("Copy as config.json"), Qt::LeftButton);
        const Eigen::VectorXd theta = setup().rotary().theta;
        window_->selection().set(Setup{}, "test");
        page_->panel().pasteConfig(QApplication::clipboard()->text());
        QVERIFY((setup().rotary().theta - theta).norm() < 1e-15);
    }

    /// Laying out such a text would block the window for minutes.
    void aTextThatIsNoConfigAtAllIsNotTakenIn() {
        constexpr int kLength = 60'000'000;
        QApplication::clipboard()->setText("{" + QString(kLength, ' ') + "}");
        bool looked = false;
        QTimer::singleShot(0, this, [&] {
            auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
            auto* text = dialog == nullptr ? nullptr : dialog->findChild<QPlainTextEdit*>();
            if (text == nullptr) return;
            const auto labels = dialog->findChildren<QLabel*>();
            const bool is_told = std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                return label->text().contains("Paste a part of it");
            });
            text->paste();
            looked = is_told && text->document()->isEmpty();
            text->insertPlainText("{\"head_dim\": 64}");
            QApplication::clipboard()->setText(", ");
            text->paste();  // as much as fits is inserted
            looked = looked && text->toPlainText().endsWith(", ");
            dialog->reject();
        });
        QTest::mouseClick(control<QPushButton>("Paste a config.json…"), Qt::LeftButton);
        QVERIFY(looked);
    }

    void theListOfModelsKeepsItsChoice() {
        auto* models = control<QComboBox>("Settings of a well-known model");
        auto* layers = control<QComboBox>("Kind of layer");
        QCOMPARE(models->currentIndex(), -1);
        QVERIFY(!layers->isVisible());
        const int gemma = models->findText("Gemma", Qt::MatchStartsWith);
        QVERIFY(gemma >= 0);
        models->setCurrentIndex(gemma);
        emit models->activated(gemma);
        QCOMPARE(models->currentIndex(), gemma);
        QCOMPARE(setup().base, 1e6);
        QVERIFY(layers->isVisible());
        QCOMPARE(layers->currentText(), QString("full attention"));
        layers->setCurrentIndex(1);
        emit layers->activated(1);
        QCOMPARE(setup().base, 10000.0);
        QCOMPARE(models->currentIndex(), gemma);
        window_->selection().history().undo();
        QCOMPARE(layers->currentIndex(), 0);
        change([](Setup& s) { s.base = 777; });
        QCOMPARE(models->currentIndex(), -1);
        QVERIFY(!layers->isVisible());
    }

    void factorsOfLongRopeAreAListOfNumbers() {
        change([](Setup& s) { s.scaling.method = ScalingMethod::longrope; });
        auto* factors = control<LineEdit>("Long factors");
        QVERIFY(factors->isVisible());
        const Eigen::VectorXd before = setup().rotary().theta;
        factors->selectAll();
        QTest::keyClicks(factors, "2, 4");
        QTest::keyClick(factors, Qt::Key_Return);
        QCOMPARE(setup().scaling.long_factors.size(), Eigen::Index(2));
        change([](Setup& s) { s.context_length = 2 * s.scaling.original_length; });
        QVERIFY(std::abs(setup().rotary().theta[0] - 0.5) < 1e-15);
        factors->selectAll();
        QTest::keyClicks(factors, "2, none");
        QTest::keyClick(factors, Qt::Key_Return);
        QCOMPARE(factors->text(), QString("2,4"));
        QVERIFY2(factors->toolTip().contains("none"), qPrintable(factors->toolTip()));
    }

    void aWrongConfigSaysWhyAndChangesNothing() {
        const Setup before = setup();
        QVERIFY(page_->panel().pasteConfig("{\"head_dim\": 63}").contains("head_dim must be even"));
        QVERIFY(page_->panel().pasteConfig("not json").contains("not JSON"));
        QVERIFY(setup() == before);
    }

    void theReadoutIsTheNumberInTheCsv() {
        HeatMapView& map = page_->cosineMapView();
        const QPointF at = map.cellRect(3, 40).center();
        QSignalSpy cell(&map, &HeatMapView::cellHovered);
        readoutAt(&map, at.toPoint());
        QCOMPARE(cell.last()[0].toInt(), 3);
        QCOMPARE(cell.last()[1].toInt(), 40);
        const QString line = map.figureCsv().split('\n').filter(QRegularExpression("^3,40,")).front();
        QVERIFY(std::abs(line.section(',', 2).toDouble() - std::cos(40 * setup().rotary().theta[3])) < 1e-12);
    }

    void keysStepThroughPairs() {
        change([](Setup& s) { s.pair = 0; });
        QTest::keyClick(page_, Qt::Key_Right);
        QTest::keyClick(page_, Qt::Key_Right);
        QCOMPARE(setup().pair, 2);
        QTest::keyClick(page_, Qt::Key_Left);
        QCOMPARE(setup().pair, 1);
        QTest::keyClick(page_, Qt::Key_Home);
        QCOMPARE(setup().pair, 0);
    }

    void saysWhenNoPairRotates() {
        change([](Setup& s) { s.rotary_fraction = 0; });
        QVERIFY(page_->spectrumChart().curves().empty());
        QVERIFY(page_->explanation().contains("does not rotate"));
        window_->grab();
    }

    void allInputsAreNamedAndExplained() { checkInputs(); }

  private:
    SpectrumPage* page_ = nullptr;
};

ROPER_GUI_TEST(SpectrumPageTest, "spectrum_page_test")
#include "spectrum_page_test.moc"
