#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/fields/own_settings.h"
#include "core/tasks/task.h"

namespace roper {

/// All that is known of a task before one is made: everything that other parts of the program ask about a
/// task by its name. Each stands in the file of its task.
struct TaskKind {
    std::string name;                  ///< in specifications
    std::string help;                  ///< what is learned, in a few words
    std::vector<OwnSetting> settings;  ///< of this task alone

    /// Whether it has problems with one right answer each; otherwise its result is a loss.
    bool has_problems = false;
    /// Whether it is a text of the user's, which has to be opened (core/corpus) and may be learned by
    /// guessing masked tokens.
    bool is_text = false;

    /// Of a task with problems: the settings that bound the length of a problem, the largest last, what they
    /// count, and the length of a problem of a size.
    std::vector<std::string> length_settings = {};
    std::string length_unit = {};
    std::function<std::int64_t(ProblemSize)> length = {};

    /// What contradicts among the settings; empty if nothing does.
    std::function<std::vector<SettingProblem>(const OwnSettings&)> check = {};
    /// @throws std::invalid_argument if the settings contradict each other, or for a text
    std::function<std::unique_ptr<Task>(const OwnSettings&)> make;
    /// Tokens of its vocabulary; where empty, as many as a task that is made has.
    std::function<std::int64_t(const OwnSettings&)> vocabulary_size = {};
};

/// Every task, in the order in which lists show them.
const std::vector<TaskKind>& taskKinds();

/// @throws std::invalid_argument naming the known ones
const TaskKind& taskKind(const std::string& name);

/// The settings that tasks declare, all in one list.
const std::vector<OwnSetting>& taskSettings();

/// What a run specification says about its task.
struct TaskSettings {
    std::string name = "addition";
    OwnSettings own{taskSettings()};  ///< each task reads its own

    const TaskKind& kind() const { return taskKind(name); }
    bool isText() const { return kind().is_text; }
    bool hasProblems() const { return kind().has_problems; }
};

/// A task that is made from its settings alone. @throws std::invalid_argument for an unknown name, for a
/// text, which has to be opened (core/corpus), or if the settings of the chosen task contradict each other
std::unique_ptr<Task> makeTask(const TaskSettings& settings);

/// Tokens of the vocabulary that a task will have. @throws std::invalid_argument as `makeTask`
std::int64_t vocabularySize(const TaskSettings& settings);

}  // namespace roper
