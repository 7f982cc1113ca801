#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <optional>
#include <vector>

#include "core/tasks/task.h"
#include "ui/live/run_store.h"

namespace roper {

/// Problems solved of every size, as `roper-train eval --by-size` found it.
struct SizeTable {
    std::int64_t step = 0;
    QStringList names;  ///< of the two numbers of a size
    std::vector<SizeScore> scores;
};

/// How many problems of each size a run solves: asks `roper-train eval --by-size`, which takes seconds to
/// minutes and can be stopped.
class SolvedSizes : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;
    ~SolvedSizes() override;

    /// @param run   null: says that one is to be chosen
    /// @param step  of a checkpoint; the newest unless it is given
    void count(const RunWatcher* run, std::optional<std::int64_t> step, int problems);
    void stop();
    void forget();

    bool isCounting() const { return process_ != nullptr; }
    const std::optional<SizeTable>& table() const { return table_; }
    /// What is being done, or why it could not be; empty if all is well.
    const QString& message() const { return message_; }

  signals:
    void changed();

  private:
    void take();
    void say(const QString& message);

    QPointer<QProcess> process_;
    std::optional<SizeTable> table_;
    QString message_;
};

}  // namespace roper
