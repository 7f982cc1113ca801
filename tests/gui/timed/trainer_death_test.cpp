#include <sys/resource.h>

#include <QElapsedTimer>
#include <QLabel>
#include <QLocalServer>
#include <QLocalSocket>
#include <QPushButton>
#include <QScopeGuard>
#include <csignal>
#include <fstream>
#include <random>

#include "core/base/crash_report.h"
#include "core/base/this_process.h"
#include "core/control/socket_path.h"
#include "tests/support/event_loop_monitor.h"
#include "tests/support/fake_trainer.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"

using namespace roper;

/// Trainers that die, stall or send garbage while a window is open. Within two seconds it says what happened
/// and offers an action, and its event loop never blocks. $ROPER_DEATHS trainers are killed, 40 by default.
class TrainerDeathTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("trainer_death_test");
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);  // writing fifty core dumps would take longer than the test
    }

    void init() {
        runs_ = std::make_unique<QTemporaryDir>();
        watch_ = std::make_unique<EventLoopMonitor>();
        openWindow("Training", runs());
    }

    void cleanup() {
        for (const RunWatcher* run : window_->runs().runs())
            if (run->isActive() && run->status().pid != QCoreApplication::applicationPid())
                ::kill(static_cast<pid_t>(run->status().pid), SIGKILL);
        window_.reset();
    }

    void cleanupTestCase() {
        qInfo(
            "%d cases: named after %lld ms at most; the event loop was never away for more than %.0f ms "
            "(%s), "
            "and in %d cases for 100 ms or more",
            cases_, longest_, loop_ms_, longest_gap_.constData(), frozen_cases_);
        const bool all_were_run = QCoreApplication::arguments().size() == 1;
        if (all_were_run) QVERIFY2(cases_ >= deaths_ + deaths_ / 3 + 80, "some cases were not tried");
        QVERIFY2(loop_ms_ < 1000, "the window froze");
        QVERIFY2(frozen_cases_ <= std::max(cases_ / 50, 2), "the window freezes");
    }

    void trainersThatAreKilledOrCrash() {
        const std::vector<std::pair<int, int>> signals_and_percent = {
            {SIGKILL, 45}, {SIGSEGV, 30}, {SIGABRT, 15}, {SIGBUS, 5}, {SIGILL, 5}};
        RunWatcher* run = start();
        for (const auto& [signal, percent] : signals_and_percent) {
            for (int i = 0; i < percent * deaths_ / 100; ++i) {
                QTest::qWait(static_cast<int>(random_() % 200));
                QVERIFY(run->status().pid > 1);
                ::kill(static_cast<pid_t>(run->status().pid), signal);
                const QString named = signal == SIGKILL
                                          ? "killed (SIGKILL"
                                          : QString::fromStdString("crashed with " + signalName(signal));
                noticed(named, [&] { return run->state() == RunState::interrupted; });
                QVERIFY(notice().contains("“Resume” "));
                goOn(run);
                if (QTest::currentTestFailed()) return;
            }
        }
    }

    /// The process id of the next trainer in the status must not suggest that this one never started.
    void aTrainerThatIsKilledAndReplacedAtOnce() {
        const QByteArray trainer = qgetenv("ROPER_TRAIN");
        const QString program = runs_->filePath("trainer-that-waits");
        std::ofstream(program.toStdString())
            << "#!/bin/sh\necho $$ > '" << runs_->filePath("pid").toStdString() << "'\nexec sleep 9\n";
        QFile(program).setPermissions(QFile::ReadOwner | QFile::ExeOwner);
        qputenv("ROPER_TRAIN", program.toLocal8Bit());
        const auto restore = qScopeGuard([&] { qputenv("ROPER_TRAIN", trainer); });
        const RunFolder folder = createRun(runs(), "replaced", {});
        TrainerLauncher launcher(runs(), nullptr);
        std::int64_t pid = 0;
        for (int i = 0; i < 2; ++i) {
            QFile::remove(runs_->filePath("pid"));
            launcher.resume(folder);
            QTRY_VERIFY_WITH_TIMEOUT((pid = numberIn(runs_->filePath("pid"))) > 1, 20000);
            Status status = folder.status();
            status.state = RunState::running;
            status.pid = pid;
            writeStatus(folder.statusPath(), status);
            if (i == 0) ::kill(static_cast<pid_t>(pid), SIGKILL);
        }
        QTest::qWait(600);
        QCOMPARE(QFileInfo(QString::fromStdString(folder.trainerStderrPath().string())).size(), 0);
        ::kill(static_cast<pid_t>(pid), SIGKILL);
    }

    void trainersThatAreSuspended() {
        RunWatcher* run = start();
        for (int i = 0; i < deaths_ / 3; ++i) {
            QTest::qWait(static_cast<int>(random_() % 100));
            QVERIFY(run->status().pid > 1);
            ::kill(static_cast<pid_t>(run->status().pid), SIGSTOP);
            noticed("suspended", [&] { return run->isSuspended(); });
            QVERIFY(!page().runsPanel().pauseButton()->isEnabled());
            goOn(run);
            if (QTest::currentTestFailed()) return;
            QTRY_VERIFY(notice().isEmpty());
        }
    }

    /// Less address space than a trainer needs: some cannot be loaded, some refuse to start, some fail while
    /// running.
    void trainersWithoutMemory() {
        RunWatcher* run = start();
        ::kill(static_cast<pid_t>(run->status().pid), SIGTERM);
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::preempted, 20000);
        const QByteArray trainer = qgetenv("ROPER_TRAIN");
        const QString program = runs_->filePath("trainer-with-little-memory");
        qputenv("ROPER_TRAIN", program.toLocal8Bit());
        const auto restore = qScopeGuard([&] { qputenv("ROPER_TRAIN", trainer); });
        const int tries = deaths_ / 4;
        int reported = 0;
        for (int i = 0; i < tries; ++i) {
            QFile::remove(program);
            std::ofstream(program.toStdString()) << "#!/bin/sh\nulimit -v " << 60000 * (1 + i % 10)
                                                 << "\necho $$ > '" << runs_->filePath("pid").toStdString()
                                                 << "'\nexec '" << trainer.toStdString() << "' \"$@\"\n";
            QFile(program).setPermissions(QFile::ReadOwner | QFile::ExeOwner);
            QFile::remove(run->folder().path().c_str() + QStringLiteral("/trainer-messages.txt"));
            QFile::remove(runs_->filePath("pid"));
            Status status = run->folder().status();  // nothing of the previous trainer is left
            status.state = RunState::stopped;
            status.error.clear();
            writeStatus(run->folder().statusPath(), status);
            QTRY_VERIFY_WITH_TIMEOUT(!saysMemory(), 5000);
            page().runsPanel().resumeSelected();
            QTRY_VERIFY_WITH_TIMEOUT(numberIn(runs_->filePath("pid")) > 1, 20000);
            const std::int64_t pid = numberIn(runs_->filePath("pid"));
            watch_->start();
            QTRY_VERIFY_WITH_TIMEOUT(processStart(pid) == 0 || run->state() == RunState::running, 20000);
            if (run->state() == RunState::running) {  // enough after all
                ::kill(static_cast<pid_t>(pid), SIGTERM);
                QTRY_VERIFY_WITH_TIMEOUT(!run->isActive(), 20000);
                count({});
            } else {
                noticed("", [&] { return saysMemory(); });
                ++reported;
            }
            watch_->stop();
            QVERIFY(continueButton()->isEnabled());
        }
        QVERIFY2(reported >= tries / 2, "too few of them had too little memory");
    }

    /// By the kernel's OOM killer, in a control group with little memory; only root can create one.
    void aTrainerThatTheSystemEndsForLackOfMemory() {
        const bool is_version_1 = QFileInfo::exists("/sys/fs/cgroup/memory");
        const QString base = is_version_1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
        const QString group = base + "/roper-lab-test-" + QString::number(QCoreApplication::applicationPid());
        const auto remove = qScopeGuard([&] { QDir().rmdir(group); });
        const auto set = [&](const QString& name, const QByteArray& value) {
            QFile file(group + "/" + name);
            return file.open(QIODevice::WriteOnly | QIODevice::ExistingOnly | QIODevice::Unbuffered) &&
                   file.write(value) == value.size();
        };
        if (!QDir().mkdir(group) ||
            !set(is_version_1 ? "memory.limit_in_bytes" : "memory.max", QByteArray::number(20000000)))
            QSKIP("no control group can be made here");
        FakeTrainer trainer("read now; x=$(head -c 60000000 /dev/zero | tr '\\0' a)");
        const RunFolder folder = createRun(runs(), "greedy", {});
        trainer.beat(folder);
        QVERIFY(set("cgroup.procs", QByteArray::number(qint64(folder.status().pid))));
        window_->runs().refresh();
        page().runsPanel().select("greedy");
        const RunWatcher* run = window_->runs().find("greedy");
        QTRY_COMPARE(run->state(), RunState::running);
        measure([&] { trainer.sendLine("now"); },
                [&] { return notice().contains("The system killed the trainer because memory ran out"); });
        QCOMPARE(run->state(), RunState::interrupted);
    }

    /// Another program answers at the socket.
    void garbageOnTheSocket() {
        std::mt19937 random(3);
        QByteArray noise(300, '\0');
        for (char& byte : noise)
            byte = static_cast<char>(random() % 256);
        const std::vector<QByteArray> answers = {
            noise,
            "\n",
            "HTTP/1.1 400 Bad Request\r\n\r\n<html><img src=x></html>",
            "{\n",
            "{}\n",
            "[]\n",
            "null\n",
            "{\"ok\": \"perhaps\"}\n",
            "{\"ok\": true, \"message\": 7}\n",
            "{\"ok\": true, \"message\": \"\", \"payload\": -1}\n",
            "{\"ok\": true, \"message\": \"\", \"payload\": 99999999999999}\n",
            "{\"ok\": true, \"mess",
            QByteArray(70000, '{'),
            QByteArray(70000, '[') + "\n",
            QByteArray("{\"ok\": true, \"message\": \"") + QByteArray(60000, 'x') + "\xff\xfe\"}\n",
            "",
        };
        Fake fake(*this, "fake");
        for (int i = 0; i < 40; ++i) {
            fake.answer = answers[static_cast<std::size_t>(i) % answers.size()];
            QSignalSpy reported(&page().runsPanel(), &RunsPanel::reported);
            ask(reported);
            QVERIFY2(reported[0][0].toString().startsWith("Failed: "), qPrintable(reported[0][0].toString()));
            QVERIFY(!reported[0][0].toString().contains('\0'));
        }
    }

    /// Run folders and trainers of another version.
    void otherVersions() {
        Fake fake(*this, "fake", "9.8.7");
        for (int i = 0; i < 10; ++i) {
            fake.answer = "{\"ok\": 1, \"text\": \"paused\"}\n";
            QSignalSpy reported(&page().runsPanel(), &RunsPanel::reported);
            ask(reported);
            QVERIFY2(reported[0][0].toString().contains("version 9.8.7"),
                     qPrintable(reported[0][0].toString()));
        }
        for (int i = 0; i < 5; ++i) {
            fake.write(R"({"state": "dreaming", "step": 3, "steps": 9, "version": "9.8.7"})");
            noticed("written by version 9.8.7", [&] { return fake.run->isBroken(); });
            fake.write({});
            QTRY_VERIFY(fake.run->isActive() && notice().isEmpty());
        }
        for (int i = 0; i < 5; ++i) {
            const std::string name = "newer-" + std::to_string(i);
            const RunFolder newer = createRun(runs(), name, {});
            std::ofstream(newer.path() / "run.toml", std::ios::app) << "\n[dreams]\nlucid = true\n";
            window_->runs().refresh();
            page().runsPanel().select(QString::fromStdString(name));
            noticed("dreams", [&] { return window_->runs().find(QString::fromStdString(name))->isBroken(); });
        }
    }

    /// A program that is not a trainer is queried about a model.
    void serversThatAreNone() {
        const RunFolder run = createRun(runs(), "model", {});
        window_->runs().refresh();
        ModelClient client(window_->runs(), nullptr);
        const QByteArray trainer = qgetenv("ROPER_TRAIN");
        for (int i = 0; i < 20; ++i) {
            const char* const lines[] = {"echo Usage: roper-train", "kill -SEGV $$", "kill -KILL $$",
                                         "echo '[]'; sleep 9"};
            const QString program = runs_->filePath("roper-train");
            QFile::remove(program);
            std::ofstream(program.toStdString()) << "#!/bin/sh\n" << lines[i % 4] << "\n";
            QFile(program).setPermissions(QFile::ReadOwner | QFile::ExeOwner);
            qputenv("ROPER_TRAIN", program.toLocal8Bit());
            QSignalSpy failed(&client, &ModelClient::failed);
            measure(
                [&] {
                    client.ask({"model", {Command::maps, "", 0, 0, "12"}});
                },
                [&] { return failed.size() == 1; });
            const QString why = failed[0][0].toString();
            const char* const named[] = {"different version", "SIGSEGV", "SIGKILL", "different version"};
            QVERIFY2(why.contains(named[i % 4]), qPrintable(why));
        }
        qputenv("ROPER_TRAIN", trainer);
    }

  private:
    /// A run whose trainer appears to be this process, with a socket that may send anything.
    struct Fake {
        Fake(TrainerDeathTest& test, const std::string& name, const std::string& version = programVersion())
            : folder(createRun(test.runs(), name, {})), version_(version) {
            static int count = 0;
            const std::string socket = std::to_string(::getpid()) + std::to_string(++count) + ".sock";
            if (!server.listen(QString::fromStdString((controlFolder() / socket).string())))
                qFatal("there is no socket to answer at");
            QObject::connect(&server, &QLocalServer::newConnection, [this] {
                QLocalSocket* peer = server.nextPendingConnection();
                QObject::connect(peer, &QLocalSocket::readyRead, [this, peer] {
                    peer->write(answer);
                    peer->disconnectFromServer();
                });
                QObject::connect(peer, &QLocalSocket::disconnected, peer, &QObject::deleteLater);
            });
            write({});
            test.window_->runs().refresh();
            run = test.window_->runs().find(QString::fromStdString(name));
            test.page().runsPanel().select(run->name());
            if (!QTest::qWaitFor([&] { return run->isActive(); })) qFatal("the run is not seen to train");
        }
        /// Writes any text as status; if the text is empty, a status saying that this process trains.
        void write(const std::string& text) {
            Status status;
            status.state = RunState::running;
            status.steps = 100;
            status.control = server.fullServerName().toStdString();
            stampWithThisProcess(status);
            status.version = version_;
            writeStatus(folder.statusPath(), status);
            if (!text.empty()) writeFileAtomically(folder.statusPath(), text);
        }

        RunFolder folder;
        QLocalServer server;
        QByteArray answer;
        RunWatcher* run = nullptr;

      private:
        std::string version_;
    };

    std::filesystem::path runs() const { return runs_->path().toStdString(); }
    TrainingPage& page() { return window_->trainingPage(); }
    QString notice() const { return control<QLabel>("About the run")->text(); }
    QPushButton* continueButton() const {
        for (QPushButton* button : window_->findChildren<QPushButton*>())
            if (button->text() == "Resume") return button;
        qFatal("there is no button to continue");
    }
    bool saysMemory() const {
        const QString text = notice();
        for (const char* part : {"of memory", "out of memory", "failed to map", "cannot allocate",
                                 "address space", "could report anything"})
            if (text.contains(part)) return true;
        return false;
    }
    static std::int64_t numberIn(const QString& path) {
        std::ifstream file(path.toStdString());
        std::int64_t number = 0;
        file >> number;
        return number;
    }

    /// Starts and selects a tiny run that trains for long.
    RunWatcher* start() {
        page().form().setSpecification(tinyRun(page().form().specification(), 10000000));
        startWith(page().startButton());
        RunWatcher* run = page().runsPanel().selected();
        if (run == nullptr) qFatal("the run has not been made");
        waitForSteps(run);
        return run;
    }

    void waitForSteps(RunWatcher* run) {
        QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::running, 60000);
        const auto before = run->metrics().size();
        QTRY_VERIFY_WITH_TIMEOUT(run->metrics().size() != before, 60000);
    }

    /// Performs the action that the window offers, and checks that it works.
    void goOn(RunWatcher* run) {
        QVERIFY(continueButton()->isEnabled());
        QTest::mouseClick(continueButton(), Qt::LeftButton);
        waitForSteps(run);
    }

    /// Waits until the window shows the text and the state.
    void noticed(const QString& text, const std::function<bool()>& state) {
        measure([] {}, [&] { return state() && notice().contains(text); });
    }

    void ask(QSignalSpy& reported) {
        measure([&] { page().runsPanel().send(Command::pause); }, [&] { return reported.size() == 1; });
    }

    /// Acts, and waits at most two seconds for the effect; counts as one case.
    void measure(const std::function<void()>& act, const std::function<bool()>& happened) {
        QElapsedTimer clock;
        clock.start();
        watch_->start();
        act();
        QTRY_VERIFY2_WITH_TIMEOUT(happened(), qPrintable(notice()), 2000);
        watch_->stop();
        count(clock.elapsed());
    }

    void count(std::optional<qint64> took_ms) {
        ++cases_;
        longest_ = std::max(longest_, took_ms.value_or(0));
        if (watch_->longest_ms() > loop_ms_) {
            loop_ms_ = watch_->longest_ms();
            longest_gap_ = QByteArray(QTest::currentTestFunction()) + ", " +
                           QByteArray::number(watch_->computed_ms(), 'f', 0) + " ms of it computing";
        }
        if (watch_->noticedGaps() > 0) ++frozen_cases_;
        watch_->resetGaps();
    }

    std::unique_ptr<QTemporaryDir> runs_;
    std::unique_ptr<EventLoopMonitor> watch_;
    const int deaths_ =
        qEnvironmentVariableIsSet("ROPER_DEATHS") ? qEnvironmentVariableIntValue("ROPER_DEATHS") : 40;
    std::mt19937 random_{static_cast<unsigned>(qEnvironmentVariableIntValue("ROPER_SEED"))};
    int cases_ = 0;
    qint64 longest_ = 0;
    double loop_ms_ = 0;
    QByteArray longest_gap_;
    int frozen_cases_ = 0;
};

ROPER_GUI_TEST(TrainerDeathTest, "trainer_death_test")
#include "trainer_death_test.moc"
