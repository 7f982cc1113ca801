#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/solved_answer.h"
#include "core/questions/wilson_interval.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// The first problems of the run's evaluation, solved greedily as trained and with the change.
SolvedAnswer solvedBy(const QuestionContext& context) {
    const ModelReader& reader = context.reader;
    const Task* const task = reader.task();
    if (task == nullptr || !task->hasProblems() || !context.model().causal)
        throw Error(ErrorKind::usage, "only a run of a task with problems can solve problems");
    SolvedAnswer answer;
    for (std::int64_t i = 0; i < context.count(); ++i) {
        const Problem problem =
            task->problem(reader.problemSeed(), Stream::problems, static_cast<std::uint64_t>(i));
        const std::vector<std::int64_t> prompt = reader.codec().encode(problem.prompt);
        const auto solves = [&](const Intervention& intervention) {
            std::string completion;
            const auto receive = [&](std::int64_t id) {
                reader.reportProgress(i, context.count(), "problems");
                completion += context.reader.codec().textOf(id);
                return !task->isComplete(completion);
            };
            context.reader.generate(prompt,
                                    {.count = task->maxAnswerLength() + 1,
                                     .reported_progress = ContinuationOptions::ReportedProgress::nothing},
                                    receive, intervention);
            return task->isCorrect(problem, completion);
        };
        answer.prompts.push_back(problem.prompt);
        answer.solved.push_back(solves({}));
        answer.changed.push_back(context.change == Intervention() ? answer.solved.back()
                                                                  : solves(context.change));
    }
    return answer;
}

/// "61 of 64 (95 % interval 87.1 to 98.4 %)"
std::string solvedText(const std::vector<bool>& solved) {
    const std::int64_t count = SolvedAnswer::count(solved), all = std::ssize(solved);
    const auto [low, high] = wilsonInterval(count, all);
    return std::to_string(count) + " of " + std::to_string(all) + " (95 % interval " +
           formatFixed(100 * low, 1) + " to " + formatFixed(100 * high, 1) + " %)";
}

void printSolved(const SolvedAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    if (to.isJson())
        return to.line({{"prompts", answer.prompts}, {"solved", answer.solved}, {"changed", answer.changed}});
    if (to.isText()) {
        to.text() << "as trained: " << solvedText(answer.solved) << "\n";
        if (context.change != Intervention())
            to.text() << "with the change: " << solvedText(answer.changed) << "\n"
                      << answer.lost() << " lost, " << answer.gained() << " gained\n";
        return;
    }
    to.columns("prompt,solved,changed");
    for (std::size_t i = 0; i < answer.prompts.size(); ++i)
        to.row({tableCell(answer.prompts[i]), answer.solved[i] ? "1" : "0", answer.changed[i] ? "1" : "0"});
}

}  // namespace

AnswerHandler solveAnswer() {
    return answerHandler(solvedBy, printSolved);
}

}  // namespace roper
