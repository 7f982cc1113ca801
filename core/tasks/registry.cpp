#include <algorithm>
#include <stdexcept>

#include "core/base/text.h"
#include "core/tasks/task_kind.h"

// Every task, in the order in which lists show them: a line here and a file beside this one make a task.
#define ROPER_TASKS(TASK) \
    TASK(addition)        \
    TASK(index)           \
    TASK(prefix)          \
    TASK(text)            \
    TASK(copy)            \
    TASK(associative_recall)

namespace roper {

#define DECLARE(name) TaskKind name##Task();
ROPER_TASKS(DECLARE)
#undef DECLARE

/// @throws std::logic_error if a file gives its task another name than the list
static TaskKind named(TaskKind made, const std::string& name) {
    if (made.name != name) throw std::logic_error("the list has " + name + ", its file " + made.name);
    return made;
}

const std::vector<TaskKind>& taskKinds() {
#define CALL(name) named(name##Task(), #name),
    static const std::vector<TaskKind> kinds = {ROPER_TASKS(CALL)};
#undef CALL
    return kinds;
}

const TaskKind& taskKind(const std::string& name) {
    std::vector<std::string> known;
    for (const TaskKind& kind : taskKinds()) {
        if (kind.name == name) return kind;
        known.push_back(kind.name);
    }
    throw std::invalid_argument("unknown task '" + name + "'; known are " + join(known, ", "));
}

const std::vector<OwnSetting>& taskSettings() {
    static const std::vector<OwnSetting> all = [] {
        std::vector<OwnSetting> settings;
        for (const TaskKind& kind : taskKinds())
            settings.insert(settings.end(), kind.settings.begin(), kind.settings.end());
        return settings;
    }();
    return all;
}

std::unique_ptr<Task> makeTask(const TaskSettings& settings) {
    return settings.kind().make(settings.own);
}

std::int64_t vocabularySize(const TaskSettings& settings) {
    const TaskKind& kind = settings.kind();
    return kind.vocabulary_size ? kind.vocabulary_size(settings.own)
                                : makeTask(settings)->vocabulary().size();
}

}  // namespace roper
