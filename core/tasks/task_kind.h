#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/fields/declared_settings.h"
#include "core/tasks/task.h"

namespace roper {

/// Everything that other parts of the program need to know about a task before one is created. Each task's
/// file defines its own.
struct TaskKind {
    std::string name;                       ///< in specifications
    std::string help;                       ///< short description of what is learned
    std::vector<DeclaredSetting> settings;  ///< settings that only this task has

    /// Whether each problem has one correct answer; otherwise the task is measured by its loss.
    bool has_problems = false;
    /// Whether the task is to learn a text, which must be opened (core/corpus) and can also be learned by
    /// predicting masked tokens.
    bool is_text = false;

    /// For tasks with problems: the settings that bound the length of a problem, the maximum last; the unit
    /// of that length; and the length of a problem of a given size.
    std::vector<std::string> length_settings = {};
    std::string length_unit = {};
    std::function<std::int64_t(ProblemSize)> length = {};

    /// Contradictions between the settings; empty if there are none.
    std::function<std::vector<SettingProblem>(const DeclaredSettings&)> check = {};
    /// @throws std::invalid_argument if the settings contradict each other, and for a text
    std::function<std::unique_ptr<Task>(const DeclaredSettings&)> make;
    /// Size of the vocabulary; if not set, a task must be created to find out.
    std::function<std::int64_t(const DeclaredSettings&)> vocabulary_size = {};
};

/// A `TaskKind::check` that refuses a smallest number above the largest.
/// @param smallest, largest  names of the two settings
/// @param message            shown if it refuses
std::function<std::vector<SettingProblem>(const DeclaredSettings&)> requireOrdered(
    const std::string& smallest, const std::string& largest, const std::string& message);

/// All tasks in display order.
const std::vector<TaskKind>& taskKinds();

/// @throws std::invalid_argument naming the known tasks
const TaskKind& taskKind(const std::string& name);

/// The settings of all tasks in one list.
const std::vector<DeclaredSetting>& taskSettings();

/// The task section of a run specification.
struct TaskSettings {
    std::string name = "addition";
    DeclaredSettings specific_settings{taskSettings()};  ///< each task reads its own

    const TaskKind& kind() const { return taskKind(name); }
    bool isText() const { return kind().is_text; }
    bool hasProblems() const { return kind().has_problems; }
};

/// Creates a task from its settings alone. @throws std::invalid_argument for an unknown name, for a text,
/// which must be opened instead (core/corpus), and if the task's settings contradict each other
std::unique_ptr<Task> makeTask(const TaskSettings& settings);

/// Size of the vocabulary that the task will have. @throws std::invalid_argument like `makeTask`
std::int64_t vocabularySize(const TaskSettings& settings);

}  // namespace roper
