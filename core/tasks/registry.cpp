#include "core/fields/registry.h"
#include "core/tasks/task_kind.h"

// All tasks in display order. To add a task, add a line here and a file to this folder.
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

const std::vector<TaskKind>& taskKinds() {
#define CALL(name) requireListedName(name##Task(), #name),
    static const std::vector<TaskKind> kinds = {ROPER_TASKS(CALL)};
#undef CALL
    return kinds;
}

const TaskKind& taskKind(const std::string& name) {
    return findEntry(taskKinds(), name, "task");
}

const std::vector<DeclaredSetting>& taskSettings() {
    static const std::vector<DeclaredSetting> all = allSettings(taskKinds());
    return all;
}

std::function<std::vector<SettingProblem>(const DeclaredSettings&)> requireOrdered(
    const std::string& smallest, const std::string& largest, const std::string& message) {
    return [=](const DeclaredSettings& s) -> std::vector<SettingProblem> {
        if (s.integer(smallest) <= s.integer(largest)) return {};
        return {{"task." + smallest, message}};
    };
}

std::unique_ptr<Task> makeTask(const TaskSettings& settings) {
    return settings.kind().make(settings.specific_settings);
}

std::int64_t vocabularySize(const TaskSettings& settings) {
    const TaskKind& kind = settings.kind();
    return kind.vocabulary_size ? kind.vocabulary_size(settings.specific_settings)
                                : makeTask(settings)->vocabulary().size();
}

}  // namespace roper
