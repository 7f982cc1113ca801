#include <Eigen/Geometry>
#include <QRegularExpression>
#include <cmath>

#include "tests/support/label_problems.h"
#include "tests/support/page_test.h"
#include "ui/pages/mixing/mixing_text.h"

using namespace roper;

/// The Value mixing page inside the window.
class MixingPageTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("mixing_page_test"); }
    void init() {
        QSettings().clear();
        openWindow("Value mixing");
        page_ = &window_->mixingPage();
        change([](Setup& s) { s.mixed_tokens = MixedTokens::all; });
    }
    void cleanup() { window_.reset(); }

    void oneTokenIsAHandOnAClock() {
        change([](Setup& s) { s = {}; });
        QCOMPARE(setup().mixed_tokens, MixedTokens::one);  // default of the page
        const double theta = setup().rotary().theta[setup().pair];
        auto* key = control<QSlider>("Key slider");
        QCOMPARE(key->maximum(), setup().tokens - 1);
        const Eigen::Vector2d still = page_->chainView().ropeChain().sum;
        QVERIFY(std::abs(still.norm() - 1) < 1e-12);
        for (int j = 0; j < setup().tokens; ++j) {
            key->setValue(j);
            QCOMPARE(setup().key, j);
            QVERIFY((page_->chainView().ropeChain().sum - still).norm() < 1e-15);
            const Eigen::Vector2d hand = page_->chainView().roperChain().sum;
            const double angle = (j - setup().query) * theta;
            QVERIFY((hand - Eigen::Rotation2Dd(angle) * still).norm() < 1e-12);
        }
        // Dragging works, too: from mark to mark, wherever the sentence starts.
        change([](Setup& s) { s.shift = 5; });
        for (const int j : {0, 4, 9}) {
            const QPoint mark = page_->chainView().markAt(j).toPoint();
            QTest::mousePress(&page_->chainView(), Qt::LeftButton, {}, mark);
            QCOMPARE(setup().key, j);
        }
        QTest::mousePress(&page_->chainView(), Qt::LeftButton, {},
                          QPoint(60, page_->chainView().height() / 2));
        QCOMPARE(setup().key, 9);  // RoPE's side has nothing to drag
    }

    /// The clock of a long text has marks at round distances, few of them numbered.
    void theClockOfALongTextIsReadable() {
        change([](Setup& s) {
            s = {};
            s.tokens = 4096;
            s.query = 4000;
            s.key = 3;
            s.pair = 5;
        });
        static const QRegularExpression distance(QStringLiteral("^(j − n = )?−?\\d+$"));
        int numbers = 0;
        for (const TextBox& box : textsOf(page_->chainView(), {900, 600})) {
            if (!distance.match(box.text).hasMatch()) continue;
            ++numbers;
            QVERIFY2(box.text.section(' ', -1).remove(QChar(0x2212)).toInt() % 100 == 0,
                     qPrintable(box.text));
        }
        QVERIFY2(numbers >= 4 && numbers <= 24, qPrintable(QString::number(numbers)));
        QVERIFY(QRectF(page_->chainView().rect()).contains(page_->chainView().markAt(3)));
    }

    /// R(−n)R(n) = 1 also with YaRN, because its factor on cos and sin does not apply to values; the page
    /// says why.
    void anAttentionFactorStretchesNoValue() {
        change([](Setup& s) {
            s = {};
            s.scaling.method = ScalingMethod::yarn;
            s.scaling.factor = 8;
            s.key = s.query;
        });
        QVERIFY(setup().attentionFactor() > 1.2);
        const Eigen::Vector2d still = page_->chainView().ropeChain().sum;
        QVERIFY((page_->chainView().roperChain().sum - still).norm() < 1e-12);
        QVERIFY(page_->explanation().contains("divides by m"));
    }

    void twoTokensMeetAndPart() {
        change([](Setup& s) {
            s = {};
            s.mixed_tokens = MixedTokens::two;
        });
        const double theta = setup().rotary().theta[setup().pair];
        for (const int j : {9, 6, 2}) {
            control<QSlider>("Key slider")->setValue(j);
            QVERIFY(std::abs(page_->chainView().ropeChain().sum.norm() - 1) < 1e-12);
            // Two arrows of length 1/2 at an angle φ: |cos φ/2|.
            const double expected = std::abs(std::cos((setup().query - j) * theta / 2));
            QVERIFY(std::abs(page_->chainView().roperChain().sum.norm() - expected) < 1e-12);
        }
    }

    void ownVectorsAreAllMixed() {
        change([](Setup& s) {
            s = {};
            s.source = VectorSource::hand;
        });
        QCOMPARE(page_->chainView().roperChain().arrows.size(), std::size_t(setup().query) + 1);
        QVERIFY(!control<QComboBox>("Mix")->isEnabled());
    }

    void theRightSideRotatesEveryValueByItsDistance() {
        const double theta = setup().rotary().theta[setup().pair];
        for (const ValueArrow& arrow : page_->chainView().roperChain().arrows)
            QVERIFY(std::abs(arrow.angle - (arrow.key - setup().query) * theta) < 1e-12);
        for (const ValueArrow& arrow : page_->chainView().ropeChain().arrows)
            QCOMPARE(arrow.angle, 0.0);
    }

    void theBlendLeadsFromOneToTheOther() {
        auto* slider = control<QSlider>("Blend slider");
        slider->setValue(0);
        QVERIFY((page_->chainView().roperChain().sum - page_->chainView().ropeChain().sum).norm() < 1e-15);
        slider->setValue(50);
        const double theta = setup().rotary().theta[setup().pair];
        for (const ValueArrow& arrow : page_->chainView().roperChain().arrows)
            QVERIFY(std::abs(arrow.angle - 0.5 * (arrow.key - setup().query) * theta) < 1e-12);
    }

    void theSentenceMovesAndOnlyTheInverseKeepsTheOutput() {
        const Eigen::Vector2d still = page_->chainView().roperChain().sum;
        control<QSlider>("Shift slider")->setValue(11);
        QVERIFY((page_->chainView().roperChain().sum - still).norm() < 1e-12);
        control<QCheckBox>("Rotate back by R(−n)")->click();
        QCOMPARE(setup().mistake, Mistake::no_inverse);
        const Eigen::Vector2d at_11 = page_->chainView().roperChain().sum;
        control<QSlider>("Shift slider")->setValue(12);
        QVERIFY((page_->chainView().roperChain().sum - at_11).norm() > 1e-2);
        // The chart agrees: flat with the inverse rotation, waves without.
        page_->showTab(2);
        const auto range = [](const QVector<double>& y) {
            return *std::max_element(y.begin(), y.end()) - *std::min_element(y.begin(), y.end());
        };
        const auto& curves = page_->shiftChart().curves();
        QVERIFY(range(curves[0].y) < 1e-12);
        QVERIFY(range(curves[2].y) > 1e-2);
    }

    /// If keys are values and rotate, only the inverse rotation keeps outputs relative; the last features
    /// rotate.
    void aRowOfTheTableShowsThatImplementation() {
        ImplementationsTable& table = page_->implementations();
        page_->showTab(4);
        const auto choose = [&](const QString& name) {
            const auto found = table.findItems(name, Qt::MatchStartsWith);
            QVERIFY2(!found.isEmpty(), qPrintable(name));
            emit table.cellClicked(found[0]->row(), 0);
        };
        choose("DeepSeek V4, transformers");
        QCOMPARE(setup().head_dim, 512);
        QVERIFY(setup().shared_key_value);
        QCOMPARE(setup().rotated_part, RotatedPart::last);
        QCOMPARE(table.currentRow(),
                 table.findItems("DeepSeek V4, transformers", Qt::MatchStartsWith)[0]->row());
        const HeadVectors heads =
            randomHeadVectors(setup().tokens, setup().head_dim, setup().seed, setup().similarity);
        const PairFeatures plane = setup().rotary().plane(setup().pair);
        QVERIFY(plane.first >= 448);
        for (const ValueArrow& arrow : page_->chainView().roperChain().arrows) {
            const Eigen::Vector2d key(heads.K(arrow.key, plane.first), heads.K(arrow.key, plane.second));
            QVERIFY((arrow.value - arrow.weight * key).norm() < 1e-12);
        }
        const auto changeByShift = [&] {
            const Eigen::Vector2d still = page_->chainView().roperChain().sum;
            change([](Setup& s) { s.shift = 500; });
            const double by = (page_->chainView().roperChain().sum - still).norm();
            window_->selection().history().undo();
            return by;
        };
        QVERIFY(changeByShift() < 1e-9);
        choose("CLVP");
        QCOMPARE(setup().mistake, Mistake::no_inverse);
        QVERIFY(!setup().shared_key_value);
        QVERIFY(changeByShift() > 1e-2);
        window_->selection().history().undo();
        QCOMPARE(setup().head_dim, 512);
        const Setup before = setup();
        choose("PRoPE");  // has positions in two dimensions
        QCOMPARE(setup(), before);
    }

    /// Of the sets of rotated tensors, qkv is RoPER without the inverse, and qko RoPER with nothing else.
    void valuesOrOutputsMayRotateAlone() {
        change([](Setup& s) { s.mistake = Mistake::no_inverse; });
        const Eigen::Vector2d without_inverse = page_->chainView().roperChain().sum;
        change([](Setup& s) {
            s.mistake = Mistake::none;
            s.method = "rotary";
            s.rotates = "qkv";
        });
        auto* back = control<QCheckBox>("Rotate back by R(−n)");
        QVERIFY(!back->isChecked() && !back->isEnabled());
        QVERIFY((page_->chainView().roperChain().sum - without_inverse).norm() < 1e-15);
        QCOMPARE(mixingTitle(setup()), QString("qkv rotated"));
        QCOMPARE(mixingFormulas(setup()).output, QString("o = Σ a R(j)v"));
        QCOMPARE(mixingFormulas(setup()).direct_output, QString("Σ a R(j)v"));
        QVERIFY(page_->chainView().figureCaption().contains("RoPE and qkv rotated"));
        change([](Setup& s) { s.rotates = "qko"; });
        QVERIFY(back->isChecked() && back->isEnabled());
        const double theta = setup().rotary().theta[setup().pair];
        for (const ValueArrow& arrow : page_->chainView().roperChain().arrows)
            QVERIFY(std::abs(arrow.angle + setup().query * theta) < 1e-12);
        QCOMPARE(mixingFormulas(setup()).rotate, QString("v′ⱼ = vⱼ, not rotated"));
        QCOMPARE(mixingFormulas(setup()).output, QString("o = Σ a R(−n)v"));
        QCOMPARE(mixingFormulas(setup()).angle, QString("−nθ"));
        // Where neither rotates or both do, the page compares RoPE with RoPER.
        for (const char* rotates : {"qk", "vo"}) {
            change([rotates](Setup& s) { s.rotates = rotates; });
            QCOMPARE(mixingTitle(setup()), QString("RoPER"));
            QCOMPARE(mixingFormulas(setup()).output, QString("o = Σ a R(j−n)v"));
        }
    }

    void threeStepsFollowTheFormAndTheOneIsRight() {
        const auto column = [&](int index) {
            std::vector<double> numbers;
            for (const QString& line : page_->steps().figureCsv().split('\n', Qt::SkipEmptyParts).mid(1))
                numbers.push_back(line.section(',', index, index).toDouble());
            return numbers;
        };
        const std::vector<double> right = column(3);
        change([](Setup& s) { s.mistake = Mistake::no_inverse; });
        QCOMPARE(column(3), right);
        QCOMPARE(column(2), column(1));  // not rotated back
        QVERIFY(column(2) != right);
        QCOMPARE(mixingFormulas(setup()).rotate_back, QString("o = ô, not rotated back"));
        QCOMPARE(mixingFormulas(setup()).angle, QString("jθ"));
        change([](Setup& s) { s.shift = 4; });
        QCOMPARE(mixingFormulas(setup()).angle, QString("(j+S)θ"));
        change([](Setup& s) { s.shift = 0; });
        change([](Setup& s) { s.mistake = Mistake::values_twice; });
        QCOMPARE(mixingFormulas(setup()).rotate, QString("v′ⱼ = R(2j)vⱼ"));
        QCOMPARE(mixingFormulas(setup()).output, QString("o = Σ a R(2j−n)v"));
        change([](Setup& s) { s.mistake = Mistake::positions_from_one; });
        QCOMPARE(mixingFormulas(setup()).rotate_back, QString("o = R(−(n+1))ô"));
        QCOMPARE(mixingFormulas(setup()).angle, QString("(j−n−1)θ"));
        change([](Setup& s) {
            s.mistake = Mistake::none;
            s.value_rotation_strength = 0.4;
        });
        QCOMPARE(mixingFormulas(setup()).output, QString("o = Σ a R(0.4 (j−n))v"));
        QCOMPARE(mixingFormulas(setup()).direct_output, QString("Σ a R(0.4 (j−n))v"));
        QCOMPARE(mixingFormulas(setup()).angle, QString("0.4 (j−n)θ"));
    }

    void sharesByDistanceAddUpToTheLength() {
        page_->showTab(0);
        const auto& series = page_->distances().series();
        QCOMPARE(series.size(), std::size_t{2});
        double sum = 0;
        for (const double share : series[1].values)
            sum += share;
        QVERIFY(std::abs(sum - page_->chainView().roperChain().sum.norm()) < 1e-12);
        QCOMPARE(page_->distances().categories().front(), 0);
    }

    void allPairsComeWithTheLargestChangeFirst() {
        const auto rows = page_->pairTable().computeRows();
        QCOMPARE(static_cast<int>(rows.size()), setup().pairs());
        for (std::size_t i = 1; i < rows.size(); ++i)
            QVERIFY(rows[i - 1].change >= rows[i].change);
        for (const PairTable::Row& row : rows) {
            change([&](Setup& s) { s.pair = row.pair; });
            QVERIFY((page_->chainView().roperChain().sum - row.roper).norm() < 1e-12);
            QVERIFY((page_->chainView().ropeChain().sum - row.rope).norm() < 1e-12);
        }
    }

    void aClickOnATablesRowShowsItsPair() {
        page_->showTab(3);
        QCoreApplication::processEvents();
        PairTable& table = page_->pairTable();
        const int pair = table.item(2, 0)->text().toInt();
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                          table.visualItemRect(table.item(2, 0)).center());
        QCOMPARE(setup().pair, pair);
    }

    void keysStepThroughQueries() {
        change([](Setup& s) { s.query = 3; });
        QTest::keyClick(page_, Qt::Key_Right);
        QCOMPARE(setup().query, 4);
        QTest::keyClick(page_, Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(setup().query, setup().tokens - 1);
        QTest::keyClick(page_, Qt::Key_Home);
        QCOMPARE(setup().query, 0);
        QTest::keyClick(page_, Qt::Key_Space);
        QTRY_VERIFY(setup().value_rotation_strength < 0.9);
        QTest::keyClick(page_, Qt::Key_Space);
    }

    void theReadoutIsTheNumberInTheCsv() {
        const QString text = readoutAt(
            &page_->chainView(), QPoint(page_->chainView().width() * 3 / 4, page_->chainView().height() / 2));
        const QString key = text.section(' ', 1, 1);
        const QString line = page_->chainView()
                                 .figureCsv()
                                 .split('\n')
                                 .filter(QRegularExpression("^roper," + key + ","))
                                 .front();
        const QString rotated =
            QString::number(line.section(',', 7, 7).toDouble(), 'g', 5).replace('-', QChar(0x2212));
        QVERIFY2(text.contains(rotated), qPrintable(text + " | " + line));
    }

    void everyControlChangesThePicture() {
        QString before;
        const auto expectChange = [&](const char* what) {
            QString now;
            for (const Figure* figure : page_->figures())
                now += figure->figureCsv() + figure->figureCaption();
            QVERIFY2(now != before, what);
            before = now;
        };
        expectChange("start");
        control<QSpinBox>("Query n")->setValue(5);
        expectChange("query");
        control<QSpinBox>("Pair i")->setValue(3);
        expectChange("pair");
        control<QDoubleSpinBox>("Blend")->setValue(0.4);
        expectChange("blend");
        control<QSpinBox>("Seed")->setValue(9);
        expectChange("seed");
        control<QDoubleSpinBox>("Similarity")->setValue(0.9);
        expectChange("similarity");
        control<QSpinBox>("Tokens T")->setValue(30);
        control<QSpinBox>("Query n")->setValue(29);
        expectChange("tokens");
        control<QDoubleSpinBox>("Rotary fraction of v")->setValue(0.25);
        expectChange("fraction of v");
        control<QSpinBox>("Head width d")->setValue(32);
        expectChange("head width");
        control<QComboBox>("Pairing")->setCurrentIndex(1);
        expectChange("pairing");
    }

    void allInputsAreNamedAndExplained() { checkInputs(); }

  private:
    MixingPage* page_ = nullptr;
};

ROPER_GUI_TEST(MixingPageTest, "mixing_page_test")
#include "mixing_page_test.moc"
