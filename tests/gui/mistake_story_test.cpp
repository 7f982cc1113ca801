#include <QToolButton>
#include <cmath>

#include "tests/support/label_problems.h"
#include "tests/support/page_test.h"
#include "ui/explorer/mistake_text.h"

using namespace roper;

/// The descriptions of known mistakes, opened from the Attention page.
class MistakeStoryTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("mistake_story_test"); }
    void init() {
        QSettings().clear();
        openWindow("Attention");
    }
    void cleanup() { window_.reset(); }

    void eachIsToldWhole() {
        for (const Mistake mistake : kMistakes) {
            const MistakeText& story = describe(mistake);
            const QString& name = story.name;
            for (const QString& wrong : {story.formula.second, story.python.second, story.cpp.second})
                QVERIFY2(wrong.count(QStringLiteral("⟪")) >= 1 &&
                             wrong.count(QStringLiteral("⟪")) == wrong.count(QStringLiteral("⟫")),
                         qPrintable(name + ": " + wrong));
            for (const QString& code :
                 {story.python.first, story.python.second, story.cpp.first, story.cpp.second})
                QVERIFY2(code.count('\n') < 5, qPrintable(name + ": " + code));
            QVERIFY(!story.seen.isEmpty() && !story.why_it_trains.isEmpty());
            open(mistake);
            QVERIFY2(explanation_dialog_->windowTitle().contains(name),
                     qPrintable(explanation_dialog_->windowTitle()));
            const QString told = explanation_dialog_->text().toPlainText();
            for (const char* part : {"PyTorch", "C++", "Where it occurred", "Why training does not crash"})
                QVERIFY2(told.contains(part), qPrintable(told));
            QVERIFY2(!told.contains(QStringLiteral("⟪")) && !told.contains(QStringLiteral("⟫")),
                     qPrintable(told));
            explanation_dialog_->close();
        }
    }

    /// Verified in the packages: labml-nn on PyPI, the history of x-transformers, transformers, axlearn.
    void whereValuesWereRotatedWronglyIsNamedWithVersions() {
        const QString once = describe(Mistake::no_inverse).seen, twice = describe(Mistake::values_twice).seen;
        for (const char* part :
             {"x-transformers 0.15 to 1.19.1", "1.20 to 1.44.8", "attn_rotary_embed_values",
              "RoFormer with rotary_value=true", "CLVP", "axlearn", "DALLE-pytorch"})
            QVERIFY2(once.contains(part), part);
        for (const char* part : {"labml-nn 0.4.123 to 0.4.136", "forward", "issue 251", "0.4.137"})
            QVERIFY2(twice.contains(part), part);
        QVERIFY(!once.contains("known to us") && !twice.contains("helper"));
    }

    void theArrowsShowIt() {
        for (const Mistake mistake : kMistakes) {
            open(mistake);
            const MistakeArrowsView& view = explanation_dialog_->view();
            QVERIFY(std::abs(view.invariant(true, 9) - view.invariant(true, 0)) < 1e-9);
            const double moved = std::abs(view.invariant(false, 9) - view.invariant(false, 0));
            const double apart = std::abs(view.invariant(false, 0) - view.invariant(true, 0));
            QVERIFY2(
                isRevealedByShift(mistake) ? moved > 1e-3 : moved < 1e-9 && apart > 1e-4,
                qPrintable(QStringLiteral("%1: %2, %3").arg(describe(mistake).name).arg(moved).arg(apart)));
        }
    }

    void theSentenceIsMovedByHandAndByItself() {
        open(Mistake::wrong_direction);
        auto* slider = explanation_dialog_->findChild<QSlider*>();
        const QImage before = explanation_dialog_->view().grab().toImage();
        QTest::mouseClick(slider, Qt::LeftButton, {}, QPoint(slider->width() - 4, slider->height() / 2));
        const int at_hand = slider->value();
        QVERIFY(at_hand > 0);
        QVERIFY(explanation_dialog_->view().grab().toImage() != before);
        QTest::mouseClick(explanation_dialog_->findChild<QPushButton*>(), Qt::LeftButton);
        QTRY_VERIFY(slider->value() > at_hand + 3);
        explanation_dialog_->close();
        const int at = slider->value();
        QTest::qWait(300);
        QCOMPARE(slider->value(), at);
    }

    void noLabelIsCutOrLaidOverAnother() {
        for (const Mistake mistake : kMistakes) {
            open(mistake);
            explanation_dialog_->view().setShift(5);
            for (const QSize size : {QSize(320, 220), QSize(480, 320), QSize(640, 340), QSize(900, 600)})
                for (const QString& problem : labelProblems(explanation_dialog_->view(), size))
                    QFAIL(qPrintable(describe(mistake).name + ": " + problem));
        }
    }

  private:
    void open(Mistake mistake) {
        const QString name = "Story: " + describe(mistake).name;
        QTest::mouseClick(control<QToolButton>(qPrintable(name)), Qt::LeftButton);
        explanation_dialog_ = window_->attentionPage().gallery().explanationDialog();
        QVERIFY(explanation_dialog_ != nullptr && explanation_dialog_->isVisible());
    }

    MistakeExplanationDialog* explanation_dialog_ = nullptr;
};

ROPER_GUI_TEST(MistakeStoryTest, "mistake_story_test")
#include "mistake_story_test.moc"
