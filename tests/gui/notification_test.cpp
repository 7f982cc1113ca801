#include <QDBusConnection>
#include <QDBusError>
#include <QMenu>
#include <QProcess>

#include "tests/support/fake_trainer.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"

using namespace roper;

/// A desktop's notification service on a separate bus.
class FakeDesktop : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")

  public:
    struct Message {
        QString program, title, text;
        QVariantMap hints;
    };
    QList<Message> messages;

  public slots:
    uint Notify(const QString& program, uint replaces, const QString& icon, const QString& title,
                const QString& text, const QStringList& actions, const QVariantMap& hints, int timeout) {
        Q_UNUSED(replaces);
        Q_UNUSED(icon);
        Q_UNUSED(actions);
        Q_UNUSED(timeout);
        messages.append({program, title, text, hints});
        return static_cast<uint>(messages.size());
    }
};

/// The desktop shows a notification when training ends.
class NotificationTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("notification_test");
        bus_.start("dbus-daemon", {"--session", "--nofork", "--print-address"});
        QVERIFY2(bus_.waitForStarted() && bus_.waitForReadyRead(), qPrintable(bus_.errorString()));
        const QByteArray address = bus_.readLine().trimmed();
        qputenv("DBUS_SESSION_BUS_ADDRESS", address);
        QDBusConnection theirs = QDBusConnection::connectToBus(QString::fromLatin1(address), "desktop");
        QVERIFY(theirs.registerService("org.freedesktop.Notifications"));
        QVERIFY(theirs.registerObject("/org/freedesktop/Notifications", &desktop_,
                                      QDBusConnection::ExportAllSlots));
    }
    void cleanupTestCase() {
        QDBusConnection::disconnectFromBus("desktop");
        bus_.kill();
        bus_.waitForFinished();
    }

    void init() {
        QSettings().clear();
        desktop_.messages.clear();
        runs_ = std::make_unique<QTemporaryDir>();
    }
    void cleanup() { window_.reset(); }

    void twinsThatEndTogetherAreOneMessage() {
        makeTraining({"a", "b"});
        lookElsewhere();
        end("b", RunState::finished);
        end("a", RunState::finished);
        QTRY_COMPARE_WITH_TIMEOUT(desktop_.messages.size(), 1, 20000);
        const FakeDesktop::Message message = desktop_.messages.front();
        QCOMPARE(message.program, QString("RoPER Lab"));
        QCOMPARE(message.title, QString("2 runs have finished"));
        QVERIFY2(message.text.contains("b: 100 of 128 solved"), qPrintable(message.text));
        QCOMPARE(message.hints.value("desktop-entry").toString(), QString("roper-lab"));
        QTest::qWait(2500);
        QCOMPARE(desktop_.messages.size(), 1);
    }

    void aFailureSaysWhy() {
        makeTraining({"a"});
        lookElsewhere();
        end("a", RunState::failed, "the loss is <not> a number");
        QTRY_COMPARE_WITH_TIMEOUT(desktop_.messages.size(), 1, 20000);
        QCOMPARE(desktop_.messages.front().title, QString("Training failed"));
        QCOMPARE(desktop_.messages.front().text,
                 QString("Addition · RoPE · seed 0: the loss is &lt;not&gt; a number"));
    }

    void whatAPersonStoppedIsNotTold() {
        makeTraining({"a"});
        lookElsewhere();
        end("a", RunState::stopped);
        QTRY_COMPARE(window_->runs().find("a")->state(), RunState::stopped);
        QTest::qWait(2500);
        QVERIFY(desktop_.messages.isEmpty());
    }

    void nothingIsSaidToWhoLooksOrDoesNotWantIt() {
        makeTraining({"a", "b"});
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));
        end("a", RunState::finished);
        QTRY_COMPARE(window_->runs().find("a")->state(), RunState::finished);
        QTest::qWait(2500);
        QVERIFY(desktop_.messages.isEmpty());
        lookElsewhere();
        trigger("Notify when training ends");
        end("b", RunState::finished);
        QTRY_COMPARE(window_->runs().find("b")->state(), RunState::finished);
        QTest::qWait(2500);
        QVERIFY(desktop_.messages.isEmpty());
        trigger("Notify when training ends");
    }

    void aQueueIsToldOnceWhenItIsEmpty() {
        makeTraining({"a", "b", "c"});
        writeQueue({"a", "b", "c"});
        QTest::qWait(1500);  // the queue is checked once a second
        lookElsewhere();
        end("a", RunState::finished);
        writeQueue({"b", "c"});
        QTRY_COMPARE(window_->runs().find("a")->state(), RunState::finished);
        QTest::qWait(2500);
        QVERIFY(desktop_.messages.isEmpty());
        end("b", RunState::failed, "no room");
        writeQueue({"c"});
        QTRY_COMPARE_WITH_TIMEOUT(desktop_.messages.size(), 1, 20000);  // an urgent one
        QCOMPARE(desktop_.messages.front().text, QString("Addition · RoPE · seed 0 · b: no room"));
        end("c", RunState::finished);
        writeQueue({});
        QTRY_COMPARE_WITH_TIMEOUT(desktop_.messages.size(), 2, 20000);
        QCOMPARE(desktop_.messages.back().title, QString("2 runs have finished"));
        QVERIFY(desktop_.messages.back().text.contains("a: 100 of 128 solved"));
    }

    void aRunBesideTheQueueIsToldAtOnce() {
        makeTraining({"alone", "queued"});
        writeQueue({"queued"});
        window_->runs().refresh();
        QTest::qWait(1500);  // the queue is checked once a second
        lookElsewhere();
        end("alone", RunState::finished);
        QTRY_COMPARE_WITH_TIMEOUT(desktop_.messages.size(), 1, 20000);
        QVERIFY(desktop_.messages.front().text.contains("alone: 100 of 128 solved"));
    }

  private:
    std::filesystem::path runs() const { return runs_->path().toStdString(); }

    /// Runs that the window sees as training.
    void makeTraining(const std::vector<std::string>& names) {
        trainer_ = std::make_unique<FakeTrainer>("read line");
        for (const std::string& name : names)
            trainer_->beat(makeFinishedRun(runs(), {name, "rope", 0}));
        openWindow("Training", runs());
        for (const RunWatcher* run : window_->runs().runs())
            QTRY_COMPARE(run->state(), RunState::running);
    }

    void lookElsewhere() {
        elsewhere_ = std::make_unique<QWidget>();
        elsewhere_->show();
        elsewhere_->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(elsewhere_.get()));
        QTRY_VERIFY(!window_->isActiveWindow());
    }

    void end(const std::string& name, RunState state, const std::string& error = {}) {
        const RunFolder run(runs() / name);
        Status status = run.status();
        status.state = state;
        status.error = error;
        writeStatus(run.statusPath(), status);
    }

    void writeQueue(const std::vector<std::string>& names) {
        changeQueue(runs(), [&](RunQueue& queue) {
            queue.entries.clear();
            for (const std::string& name : names)
                queue.entries.push_back({name, false});
        });
    }

    QProcess bus_;
    FakeDesktop desktop_;
    std::unique_ptr<QTemporaryDir> runs_;
    std::unique_ptr<FakeTrainer> trainer_;
    std::unique_ptr<QWidget> elsewhere_;
};

ROPER_GUI_TEST(NotificationTest, "notification_test")
#include "notification_test.moc"
