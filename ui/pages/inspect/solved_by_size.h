#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <optional>
#include <vector>

#include "core/tasks/task.h"
#include "ui/live/run_store.h"

namespace roper {

/// Solved problems by size, from `roper-train eval --by-size`.
struct SizeTable {
    std::int64_t step = 0;
    QStringList names;  ///< names of the two numbers of a size: "letters of the string", "index"
    std::vector<SizeScore> scores;
};

/// Counts a run's solved problems by size with `roper-train eval --by-size`, which takes seconds to minutes
/// and can be cancelled.
class SolvedBySize : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;
    ~SolvedBySize() override;

    /// @param run       null: the message asks the user to choose one
    /// @param step      checkpoint; nothing: the newest
    /// @param problems  of each size
    void count(const RunWatcher* run, std::optional<std::int64_t> step, int problems);
    void stop();
    /// Drops the table.
    void forget();

    bool isCounting() const { return process_ != nullptr; }
    const std::optional<SizeTable>& table() const { return table_; }
    /// Progress or error; empty if there is neither.
    const QString& message() const { return message_; }

  signals:
    void changed();

  private:
    void readResult();
    void setMessage(const QString& message);

    QPointer<QProcess> process_;
    std::optional<SizeTable> table_;
    QString message_;
};

}  // namespace roper
