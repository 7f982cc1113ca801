#include "ui/live/example_text.h"

#include "core/base/error.h"
#include "core/base/file_reading.h"

namespace roper {
namespace {

constexpr int kCharacters = 64;

/// A text sample of a run: from the newest evaluation that was read, otherwise from the first one.
std::optional<Sample> sampleOf(const RunWatcher& run) {
    if (!run.samples().empty()) return run.samples().front();
    try {
        LineReader lines(run.folder().pathOf<Sample>());
        const auto first = lines.next();
        return first ? std::optional(parseRow<Sample>(*first)) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// A prompt for models of a text: the beginning of a sample; for masked models, of the unmasked text.
QString beginningOf(const RunWatcher& run) {
    const auto sample = sampleOf(run);
    if (!sample) return {};
    if (!run.specification()->isMasked()) return QString::fromStdString(sample->prompt);
    return QString::fromStdString(sample->expected).left(4 * kCharacters);
}

}  // namespace

QString exampleText(const RunWatcher& run) {
    const auto& specification = run.specification();
    if (specification && specification->task.isText()) return beginningOf(run);
    if (!run.samples().empty()) {
        const Sample& sample = run.samples().front();
        return QString::fromStdString(sample.prompt + sample.expected);
    }
    if (!specification) return {};
    const auto task = makeTask(specification->task);
    return QString::fromStdString(task->hasProblems()
                                      ? task->problem(0, Stream::problems, 0).text()
                                      : task->sequence(0, Stream::validation, 0, kCharacters));
}

QString examplePrompt(const RunWatcher& run) {
    if (!run.specification()) return {};
    const TaskSettings& settings = run.specification()->task;
    if (settings.isText()) return beginningOf(run);
    const auto task = makeTask(settings);
    return QString::fromStdString(task->hasProblems()
                                      ? task->problem(0, Stream::problems, 0).prompt
                                      : task->sequence(0, Stream::validation, 0, kCharacters));
}

}  // namespace roper
