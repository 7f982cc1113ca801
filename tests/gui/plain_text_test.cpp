#include <sys/inotify.h>
#include <unistd.h>

#include <QMessageBox>
#include <QToolTip>
#include <fstream>

#include "core/cluster/submission.h"
#include "core/runs/run_folder.h"
#include "core/runs/run_queue.h"
#include "tests/support/made_runs.h"
#include "tests/support/markup_search.h"
#include "tests/support/page_test.h"
#include "tests/support/small_model.h"
#include "ui/live/published_models.h"
#include "ui/pages/compare/import_dialog.h"
#include "ui/pages/training/differences_dialog.h"

using namespace roper;

/// Text from files is always shown literally. All text of a runs folder, a model, a queue, a cluster and a
/// table is `kMarkup`, which refers to a picture that must never be opened.
class PlainTextTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("plain_text_test");
        qputenv("HF_HUB_CACHE", others_.filePath("none").toLocal8Bit());
        qputenv("XDG_STATE_HOME", others_.filePath("state").toLocal8Bit());
        QVERIFY(QDir::setCurrent(others_.path()));
        QVERIFY(QImage(8, 8, QImage::Format_RGB32).save("picture.png"));
        opened_ = Descriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
        QVERIFY(inotify_add_watch(opened_.number(), "picture.png", IN_OPEN) >= 0);
        QImage().load("picture.png");
        QVERIFY(isPictureOpened());
        makeRuns();
        makeSubmission();
        writeTo(queuePath(runs()).path(), "[[run]]\nname = \"" + kText + "\"\n[[run]]\nname = \"b\"\n");
        makeSmallModel("llama", QDir(others_.path()));
        QVERIFY(QDir(others_.path()).rename("llama", kMarkup));
    }

    void init() {
        rememberModel(others_.filePath(kMarkup));
        openWindow("Training");
        window_->runs().readAll();
    }
    void cleanup() {
        window_.reset();
        QVERIFY(!isPictureOpened());
    }

    void noTextOpensAPicture() {
        HtmlView view;
        HtmlDocument document;
        view.setHtml(kMarkup);
        document.setHtml(kMarkup);
        QVERIFY(!view.grab().isNull() && document.size().height() > 0);
        view.setSource(QUrl::fromLocalFile(QFileInfo("picture.png").absoluteFilePath()));
    }

    void whatAFileSaysIsNoHtml() {
        MarkupSearch search;
        window_->trainingPage().runsPanel().select("a");
        window_->trainingPage().clusterPanel().watch().refresh();
        QTRY_VERIFY(window_->trainingPage().clusterPanel().list().topLevelItemCount() > 0);
        window_->inspectPage().inspect("a", false);
        for (Page* page : window_->pages()) {
            QVERIFY(window_->showPage(page->name()));
            page->refreshNow();
            for (QTabWidget* tabs : page->findChildren<QTabWidget*>())
                for (int tab = 0; tab < tabs->count(); ++tab) {
                    tabs->setCurrentIndex(tab);
                    QVERIFY(!window_->grab().isNull());
                    search.look();
                }
            search.checkHtml(*page, page->explanation());
        }
        QVERIFY2(search.problems.isEmpty(), qPrintable(search.problems.join('\n')));
        // Each kind of text occurred at least once; otherwise the test proves nothing.
        QVERIFY(search.labels > 0 && search.tool_tips > 0 && search.documents > 0 && search.captions > 0);
        for (const QLabel* label : window_->findChildren<QLabel*>())
            QVERIFY(!label->text().contains('\x1b'));
    }

    void whatAModelSaysIsNoHtml() {
        window_->inspectPage().open(others_.filePath(kMarkup));
        QVERIFY(window_->showPage("Models"));
        QTRY_VERIFY_WITH_TIMEOUT(!window_->inspectPage().state().isAsking(), 60000);
        MarkupSearch search;
        search.look();
        QVERIFY2(search.problems.isEmpty(), qPrintable(search.problems.join('\n')));
        QVERIFY(search.tool_tips > 0);
    }

    void dialogsAndMessagesAreNoHtml() {
        MarkupSearch search;
        std::vector<RunWatcher*> both{window_->runs().find("a"), window_->runs().find("b")};
        DifferencesDialog differences(both, window_.get());
        const std::filesystem::path table = others_.filePath(kMarkup + ".csv").toStdString();
        writeTo(table, "step," + kText + "\n1,2\n");
        ImportDialog import(table, runs(), window_.get());
        QTRY_VERIFY(!import.isBusy());
        QMessageBox message(QMessageBox::Warning, "title", kMarkup, QMessageBox::Ok, window_.get());
        message.setInformativeText(kMarkup);
        for (QDialog* dialog : std::initializer_list<QDialog*>{&differences, &import, &message}) {
            dialog->show();
            QVERIFY(QTest::qWaitForWindowExposed(dialog));
            const int before = search.labels + search.tool_tips;
            search.look();
            QVERIFY(search.labels + search.tool_tips > before);
            dialog->hide();
        }
        QVERIFY2(search.problems.isEmpty(), qPrintable(search.problems.join('\n')));
    }

    void theTitleHasAllOfThePath() {
        const QTemporaryDir odd(QDir::tempPath() + "/[*]-XXXXXX");
        openWindow("Rotation", odd.path().toStdString());
        QVERIFY(window_->windowTitle().contains("[*][*]"));  // Qt's escape for "[*]"
    }

  private:
    std::filesystem::path runs() const { return folder_.path().toStdString(); }

    static void writeTo(const std::filesystem::path& path, const std::string& text) {
        std::ofstream(path) << text;
    }

    /// Whether the picture has been opened since the last call.
    bool isPictureOpened() const {
        char events[4096];
        return ::read(opened_.number(), events, sizeof events) > 0;
    }

    /// Twins of an experiment, one of them failed, with markup in all text of a run folder.
    void makeRuns() const {
        for (const char* name : {"a", "b"}) {
            const RunFolder run = makeFinishedRun(
                runs(), {name, *name == 'a' ? "rope" : "roper"},
                [](Specification& s) { s.about.title = s.about.teaches = s.about.evidence = kText; });
            writeLabels(run, {kText, {"<b>x&y"}, kText});
            writeTo(run.logPath().path(), kText + "\n");
            writeTo(run.trainerStderrPath().path(), kText + "\n");
            writeTo(run.pathOf<Sample>().path(),
                    formatRows(std::vector<Sample>{{1, kText, kText, kText, {}}}));
            addSession(run,
                       {0, 1, kText, {kText, kText, kText, kText, kText, kText, 1, 1, kText, kText, {}}});
        }
        Status status = readStatus(runs() / "a/status.json");
        status.state = RunState::failed;
        status.host = status.device = kText;
        status.error = kText + "\x1b[31m";
        writeStatus(runs() / "a/status.json", status);
        createRun(runs(), "c", {});
        writeTo(runs() / "c/run.toml", "[model]\n\"" + kText + "\" = 1\n");
    }

    /// A pending element, listed by a fake squeue.
    void makeSubmission() const {
        const Submission submission{"s.abc123", "s", {{"b"}, {"a"}}, 1, false};
        writeSubmission(runs(), submission);
        const std::string bin = others_.filePath("bin").toStdString();
        std::filesystem::create_directory(bin);
        writeTo(bin + "/squeue", "#!/bin/sh\necho 's.abc123|9|0|PENDING||" + kText + "'\n");
        std::filesystem::permissions(bin + "/squeue", std::filesystem::perms::owner_all);
        qputenv("PATH", QByteArray::fromStdString(bin) + ":" + qgetenv("PATH"));
    }

    inline static const std::string kText = kMarkup.toStdString();
    QTemporaryDir others_;
    Descriptor opened_;  ///< notices if the picture is opened
};

ROPER_GUI_TEST(PlainTextTest, "plain_text_test")
#include "plain_text_test.moc"
