#include <QAccessible>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/label_problems.h"
#include "tests/support/page_test.h"

using namespace roper;

/// No label of a figure is cut off or overlaps another: checks all text of every figure at five sizes. And
/// what a screen reader reads instead.
class LabelsTest : public PageTest {
    Q_OBJECT

    using Change = std::function<void(Setup&)>;

  private slots:
    void initTestCase() { clearSettings("labels_test"); }
    void init() {
        QSettings().clear();
        openWindow("Rotation");
    }
    void cleanup() { window_.reset(); }

    void noLabelIsCutOrLaidOverAnother_data() {
        QTest::addColumn<Change>("set");
        QTest::newRow("as it opens") << Change([](Setup&) {});
        QTest::newRow("worked example") << Change([](Setup& s) { s = withWorkedExample(s); });
        QTest::newRow("a slow pair") << Change([](Setup& s) { s.pair = 7; });
        QTest::newRow("arrows that point up and down") << Change([](Setup& s) {
            s.pair = 0;
            s.position = 1.07;
            s.key_position = 2.6;
        });
        QTest::newRow("long vectors") << Change([](Setup& s) {
            s.x *= 7.3;
            s.y *= -4.1;
            s.position = 1234.5;
        });
        QTest::newRow("many pairs") << Change([](Setup& s) {
            s.head_dim = 128;
            s.tokens = 64;
            s.query = 60;
            s.key = 2;
        });
        QTest::newRow("two tokens") << Change([](Setup& s) { s.mixed_tokens = MixedTokens::two; });
        QTest::newRow("all tokens") << Change([](Setup& s) { s.mixed_tokens = MixedTokens::all; });
        QTest::newRow("a token on a fast clock") << Change([](Setup& s) {
            s.pair = 0;
            s.tokens = 40;
            s.query = 39;
            s.key = 7;
        });
        QTest::newRow("a mistake") << Change([](Setup& s) {
            s.mistake = Mistake::values_twice;
            s.shift = 12;
            s.value_rotation_strength = 0.4;
        });
        QTest::newRow("scalings") << Change([](Setup& s) {
            s.scaling.method = ScalingMethod::yarn;
            s.overlays = {ScalingMethod::linear, ScalingMethod::ntk, ScalingMethod::llama3,
                          ScalingMethod::longrope};
            s.other_formula = s.xpos_decay = true;
            s.context_length = 100000;
        });
    }

    void noLabelIsCutOrLaidOverAnother() {
        QFETCH(Change, set);
        change(set);
        QStringList wrong;
        for (Page* page : std::initializer_list<Page*>{&window_->rotationPage(), &window_->spectrumPage(),
                                                       &window_->attentionPage(), &window_->mixingPage()}) {
            page->refreshNow();
            for (const Figure* figure : page->figures())
                for (const QSize& size :
                     {QSize(330, 300), QSize(440, 330), QSize(560, 420), QSize(720, 480), QSize(1280, 800)})
                    wrong += labelProblems(*figure, size);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void whatTakesTheFocusHasANameForScreenReaders() {
        QStringList wrong;
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            QTest::qWait(20);
            for (QWidget* widget : page->findChildren<QWidget*>()) {
                // Parts of spin boxes and tabs, which hand the focus on, and areas that only scroll.
                const bool is_part = widget->focusProxy() != nullptr ||
                                     qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) != nullptr ||
                                     qobject_cast<QScrollArea*>(widget) != nullptr;
                if (!widget->isVisible() || is_part || (widget->focusPolicy() & Qt::TabFocus) == 0) continue;
                QAccessibleInterface* read = QAccessible::queryAccessibleInterface(widget);
                if (read->text(QAccessible::Name).isEmpty() || read->role() == QAccessible::Client)
                    wrong << page->name() + ": " + widget->metaObject()->className() + " \"" +
                                 read->text(QAccessible::Name) + "\"";
                const auto* box = qobject_cast<QComboBox*>(widget);
                if (box == nullptr) continue;
                QCOMPARE(read->text(QAccessible::Value), box->currentText());
                if (!box->accessibleName().isEmpty())
                    QCOMPARE(read->text(QAccessible::Name), box->accessibleName());
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void chartsAreReadAsTheirCaptionsAndData() {
        int charts = 0;
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            for (const Figure* figure : page->figures()) {
                const auto* widget = dynamic_cast<const QWidget*>(figure);
                if (widget == nullptr) continue;
                QAccessibleInterface* read =
                    QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
                if (const auto* view = qobject_cast<const PlotView*>(widget)) {  // the frame around the chart
                    QVERIFY2(read->role() == QAccessible::Grouping && read->textInterface() == nullptr,
                             qPrintable(figure->figureName()));
                    read = QAccessible::queryAccessibleInterface(&view->plot());
                }
                QVERIFY2(read->role() == QAccessible::Chart, qPrintable(figure->figureName()));
                QVERIFY2(!read->text(QAccessible::Name).isEmpty(), qPrintable(figure->figureName()));
                const QString csv = figure->figureCsv();
                QAccessibleTextInterface* data = read->textInterface();
                const QString given = data->text(0, data->characterCount());
                QVERIFY2(csv.startsWith(given) && (given == csv || given.endsWith('\n')),
                         qPrintable(figure->figureName()));
                charts += given.isEmpty() ? 0 : 1;
            }
        }
        QVERIFY2(charts >= 10, qPrintable(QString::number(charts)));
    }
};

ROPER_GUI_TEST(LabelsTest, "labels_test")
#include "labels_test.moc"
