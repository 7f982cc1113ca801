#include "ui/runs/example_text.h"

namespace roper {
namespace {

constexpr int kCharacters = 64;

}  // namespace

QString exampleText(const RunWatcher& run) {
    if (!run.samples().empty()) {
        const Sample& sample = run.samples().front();
        const bool is_masked = run.specification() && run.specification()->isMasked();
        return QString::fromStdString(is_masked ? sample.expected : sample.prompt + sample.expected);
    }
    if (!run.specification() || run.specification()->task.isText()) return {};
    const auto task = makeTask(run.specification()->task);
    return QString::fromStdString(task->hasProblems()
                                      ? task->problem(0, Stream::problems, 0).text()
                                      : task->sequence(0, Stream::validation, 0, kCharacters));
}

QString examplePrompt(const RunWatcher& run) {
    if (!run.specification()) return {};
    const Specification& specification = *run.specification();
    if (specification.task.isText()) {
        if (run.samples().empty()) return {};
        const Sample& sample = run.samples().front();
        return QString::fromStdString(specification.isMasked() ? sample.expected : sample.prompt);
    }
    const auto task = makeTask(specification.task);
    return QString::fromStdString(task->hasProblems()
                                      ? task->problem(0, Stream::problems, 0).prompt
                                      : task->sequence(0, Stream::validation, 0, kCharacters));
}

}  // namespace roper
