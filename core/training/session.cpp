#include "core/training/session.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <malloc.h>

#include <array>
#include <thread>

#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/model/generation.h"
#include "core/runs/error.h"
#include "core/runs/text.h"
#include "core/training/batches.h"
#include "core/training/evaluation.h"
#include "core/training/probes.h"
#include "core/training/tensor_bytes.h"
#include "core/training/trainer.h"

namespace roper {
namespace {

/// Runs `work` and turns what LibTorch throws into errors for a person.
template <class Work>
auto translatingErrors(Work work) {
    constexpr const char* kMemoryAdvice =
        "The machine's memory does not suffice. Use a smaller batch, length, width or number of layers.";
    try {
        return work();
    } catch (const Error&) {
        throw;
    } catch (const c10::OutOfMemoryError& error) {
        throw Error(ErrorKind::memory,
                    std::string(kMemoryAdvice) + " (" + error.what_without_backtrace() + ")");
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::memory, kMemoryAdvice);
    } catch (const c10::Error& error) {
        const std::string what = error.what_without_backtrace();
        if (what.find("allocate memory") != std::string::npos) throw Error(ErrorKind::memory, kMemoryAdvice);
        throw Error(ErrorKind::other, what);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, error.what());
    } catch (const std::exception& error) {
        throw Error(ErrorKind::other, error.what());
    }
}

/// A model as one of its run's checkpoints left it.
struct LoadedModel {
    Specification specification;
    std::unique_ptr<Task> task;
    std::unique_ptr<Transformer> model;
    std::int64_t step;
    std::uint64_t sequences_seen = 0;
};

StepFile chooseCheckpoint(const RunFolder& folder, std::optional<std::int64_t> step) {
    const std::vector<StepFile> all = folder.checkpoints();
    std::vector<std::string> steps;
    for (const StepFile& checkpoint : all) {
        if (checkpoint.step == step) return checkpoint;
        steps.push_back(std::to_string(checkpoint.step));
    }
    if (all.empty()) throw Error(ErrorKind::checkpoint, folder.path().string() + " has no checkpoint yet");
    if (!step) return all.back();
    throw Error(ErrorKind::checkpoint, folder.path().string() + " has no checkpoint at step " +
                                           std::to_string(*step) + "; it has " + join(steps, ", "));
}

/// @param to_evaluate  needs the whole text of a text, not its vocabulary alone
LoadedModel loadModel(const RunFolder& folder, const ReadingOptions& options, bool to_evaluate = false) {
    const StepFile checkpoint = chooseCheckpoint(folder, options.step);
    LoadedModel loaded{withoutUnused(folder.specification()), nullptr, nullptr, checkpoint.step};
    requireValid(loaded.specification, folder.specificationPath().string());
    loaded.task = to_evaluate ? openTask(loaded.specification.task, folder)
                              : openTaskToAsk(loaded.specification.task, folder);
    loaded.model =
        std::make_unique<Transformer>(loaded.specification, modelTokens(*loaded.task, loaded.specification),
                                      openDevice(options.device).device);
    const SafetensorsFile file = SafetensorsFile::read(checkpoint.path);
    loadWeights(file, *loaded.model, loaded.task->vocabulary().identity());
    loaded.sequences_seen = static_cast<std::uint64_t>(parseInteger(file.entry("next_sequence")).value_or(0));
    return loaded;
}

/// Lets a model read texts of `length` tokens with scaled frequencies.
void rescale(LoadedModel& loaded, Scaling scaling, std::int64_t length) {
    if (scaling.method == ScalingMethod::none) return;
    scaling.original_length = static_cast<double>(loaded.specification.inputLength());
    loaded.model->positions().rescale(scaling, static_cast<double>(length));
}

/// A model that reads sequences as long, and with frequencies scaled, as was asked for.
LoadedModel loadToEvaluate(const RunFolder& folder, const ReadingOptions& options,
                           const EvaluationOptions& asked) {
    LoadedModel loaded = loadModel(folder, options, /*to_evaluate=*/true);
    Specification read_at = loaded.specification;
    read_at.evaluation.problems = asked.problems;
    if (asked.temperature) read_at.evaluation.temperature = *asked.temperature;
    if (asked.length) read_at.training.length = *asked.length;
    rescale(loaded, asked.scaling, read_at.inputLength());
    loaded.specification = read_at;
    return loaded;
}

void writeAttentionCsv(const at::Tensor& attention, bool causal, const std::filesystem::path& out) {
    std::string csv = "layer,head,query,key,weight\n";
    const auto weights = attention.accessor<float, 4>();
    for (std::int64_t layer = 0; layer < weights.size(0); ++layer)
        for (std::int64_t head = 0; head < weights.size(1); ++head)
            for (std::int64_t query = 0; query < weights.size(2); ++query)
                for (std::int64_t key = 0; key < (causal ? query + 1 : weights.size(3)); ++key)
                    csv += join({std::to_string(layer), std::to_string(head), std::to_string(query),
                                 std::to_string(key),
                                 formatNumber(static_cast<double>(weights[layer][head][query][key]))},
                                ",") +
                           "\n";
    writeFileAtomically(out, csv);
}

void writeNormsCsv(const at::Tensor& norms, const std::filesystem::path& out) {
    constexpr std::array kVectors = {"q", "k", "v", "output"};
    std::string csv = "vector,layer,head,pair,norm\n";
    const auto values = norms.accessor<float, 4>();
    for (std::int64_t vector = 0; vector < values.size(0); ++vector)
        for (std::int64_t layer = 0; layer < values.size(1); ++layer)
            for (std::int64_t head = 0; head < values.size(2); ++head)
                for (std::int64_t pair = 0; pair < values.size(3); ++pair)
                    csv += join({kVectors.at(static_cast<std::size_t>(vector)), std::to_string(layer),
                                 std::to_string(head), std::to_string(pair),
                                 formatNumber(static_cast<double>(values[vector][layer][head][pair]))},
                                ",") +
                           "\n";
    writeFileAtomically(out, csv);
}

/// A text as a loaded model reads it.
struct ReadText {
    LoadedModel loaded;
    std::string run, text;
    at::Tensor tokens;  ///< [1, T], on the model's device
};

ReadText readText(const RunFolder& folder, const ReadingOptions& options, const std::string& text) {
    if (text.empty()) throw Error(ErrorKind::usage, "this export needs a text: --text \"…\"");
    ReadText read{loadModel(folder, options), folder.name(), text, {}};
    const at::Device device = read.loaded.model->parameters().front().second.device();
    read.tokens = encodePadded(read.loaded.task->vocabulary(), {text}).to(device);
    return read;
}

/// Writes what the model made of a text, beside the text's tokens. `made` is contiguous, on the CPU.
void writeForText(const ReadText& read, const std::string& name, const at::Tensor& made,
                  const std::filesystem::path& out) {
    const at::Tensor tokens = read.tokens.flatten().cpu().contiguous();
    writeSafetensors(out, {tensorToWrite(name, made), tensorToWrite("tokens", tokens)},
                     {{"run", read.run}, {"step", std::to_string(read.loaded.step)}, {"text", read.text}});
}

/// The status that a run had before; a plain one if it cannot be read.
Status statusBefore(const RunFolder& folder) {
    try {
        return folder.status();
    } catch (const Error&) {
        return {};
    }
}

void writeFailure(RunRecorder& recorder, const Error& error) {
    try {
        Status status = statusBefore(recorder.folder());
        status.state = RunState::failed;
        status.control.clear();
        status.error = error.what();
        status.exit_code = error.exitCode();
        recorder.log(std::string("failed: ") + error.what());
        recorder.setStatus(status);
    } catch (const Error&) {
        // On a full disk not even this can be written; the error itself still reaches the person.
    }
}

/// From here on the run has a process: should that die while it loads, the run is seen to be interrupted.
void writeStarting(RunRecorder& recorder) {
    Status status = statusBefore(recorder.folder());
    status.state = RunState::running;
    status.error.clear();
    status.exit_code = 0;
    status.control.clear();
    recorder.setStatus(status);
}

/// What is wanted of a trainer that is still preparing its text. There is nothing to pause.
Wish pollWhilePreparing(RunControl& control) {
    const Answers answers{[] { return std::string("preparing the text"); }};
    const Wish wish = control.poll(answers);
    return wish == Wish::pause ? Wish::go_on : wish;
}

RunState writeEndedEarly(RunRecorder& recorder, Wish wish) {
    Status status = statusBefore(recorder.folder());
    status.state = wish == Wish::preempt ? RunState::preempted : RunState::stopped;
    if (status.state == RunState::preempted) status.exit_code = static_cast<int>(ErrorKind::preempted);
    recorder.log(stateName(status.state) + " while the text was prepared");
    recorder.setStatus(status);
    return status.state;
}

}  // namespace

void keepHeapWarm() {
    constexpr int kGigabyte = 1 << 30;
    ::mallopt(M_MMAP_THRESHOLD, kGigabyte);
    ::mallopt(M_TRIM_THRESHOLD, kGigabyte);
    ::mallopt(M_TOP_PAD, 64 << 20);
}

void setThreads(std::int64_t threads) {
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    at::set_num_threads(static_cast<int>(threads > 0 ? threads : cores));
}

RunState trainRun(const RunFolder& folder, TrainingObserver& observer, const SessionOptions& session) {
    keepHeapWarm();
    handleStopSignals();
    RunRecorder recorder(folder);
    try {
        return translatingErrors([&] {
            writeStarting(recorder);
            Specification specification = withoutUnused(folder.specification());
            if (!session.device.empty()) specification.device.name = session.device;
            if (session.threads > 0) specification.device.threads = session.threads;
            requireValid(specification, folder.specificationPath().string());
            setThreads(specification.device.threads);
            RunControl control(/*open_socket=*/true);
            const OpenDevice opened = openDevice(specification.device.name);
            if (!opened.note.empty()) recorder.log(opened.note);
            observer.onNote(opened.note);
            Wish wish = Wish::go_on;
            const Preparing preparing{[&](const std::string& line) {
                                          recorder.log(line);
                                          observer.onNote(line);
                                      },
                                      [&] { return (wish = pollWhilePreparing(control)) == Wish::go_on; }};
            std::unique_ptr<Task> task = openTask(specification.task, folder, preparing);
            if (!task) return writeEndedEarly(recorder, wish);
            Trainer trainer(specification, std::move(task), opened.device, recorder, control, observer);
            trainer.restore();
            return trainer.run();
        });
    } catch (const Error& error) {
        writeFailure(recorder, error);
        throw;
    }
}

void serveRun(const RunFolder& folder, const ReadingOptions& options,
              const std::function<void(const std::string& socket, std::int64_t step)>& announce,
              const std::function<bool()>& goes_on) {
    constexpr auto kLook = std::chrono::milliseconds(200);
    handleStopSignals();
    translatingErrors([&] {
        LoadedModel loaded = loadModel(folder, options);
        RunControl control(/*open_socket=*/true);
        if (control.socketPath().empty())
            throw Error(ErrorKind::disk, "no control socket: " + control.problem());
        announce(control.socketPath(), loaded.step);
        const Answers answers{
            [&] { return "serving step " + std::to_string(loaded.step); }, false,
            [&](const Request& request) {
                return answerProbe({*loaded.model, *loaded.task, loaded.specification, loaded.step}, request);
            }};
        while (goes_on()) {
            const Wish wish = control.poll(answers, kLook);
            if (wish == Wish::stop || wish == Wish::preempt) return;
        }
    });
}

RunEvaluation evaluateRun(const RunFolder& folder, const ReadingOptions& options,
                          const EvaluationOptions& asked) {
    return translatingErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, asked);
        Evaluator evaluator(*loaded.task, loaded.specification, asked.seed);
        Evaluation evaluation = evaluator.evaluate(*loaded.model, loaded.step, loaded.sequences_seen);
        if (asked.length) evaluation.row.overlaps.reset();  // training has shown sequences of another length
        return RunEvaluation{evaluation.row, std::move(evaluation.samples)};
    });
}

PositionLosses lossByPosition(const RunFolder& folder, const ReadingOptions& options,
                              const EvaluationOptions& asked) {
    return translatingErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, asked);
        const Evaluator evaluator(*loaded.task, loaded.specification, asked.seed);
        return PositionLosses{loaded.step, loaded.specification.training.length,
                              evaluator.lossByPosition(*loaded.model)};
    });
}

SizeScores evaluateRunBySize(const RunFolder& folder, const ReadingOptions& options,
                             const EvaluationOptions& asked) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        LoadedModel loaded = loadModel(folder, options);
        if (asked.largest) {
            loaded.specification.task.digits_max = loaded.specification.task.string_max = *asked.largest;
            loaded.task = makeTask(loaded.specification.task);
        }
        rescale(loaded, asked.scaling, loaded.task->longestPrompt() + loaded.task->longestAnswer());
        const std::vector<std::string> names = loaded.task->sizeNames();
        if (names.empty())
            throw Error(ErrorKind::usage,
                        "the " + loaded.specification.task.name + " task has no problems of different sizes");
        constexpr std::int64_t kMostProblems = 200000;
        const std::int64_t sizes = loaded.task->sizeCount();
        if (sizes * asked.problems > kMostProblems)
            throw Error(ErrorKind::usage, std::to_string(asked.problems) + " problems of each of " +
                                              std::to_string(sizes) + " sizes are too many; at most " +
                                              std::to_string(kMostProblems) + " in all");
        if (asked.temperature) loaded.specification.evaluation.temperature = *asked.temperature;
        const Evaluator evaluator(*loaded.task, loaded.specification, asked.seed);
        return SizeScores{loaded.step, asked.scaling, names,
                          evaluator.evaluateBySize(*loaded.model, asked.problems)};
    });
}

void exportAttention(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                     const std::filesystem::path& out) {
    translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const ReadText read = readText(folder, options, text);
        const at::Tensor attention =
            read.loaded.model->attentionWeights(read.tokens).select(1, 0).cpu().contiguous();  // [L, H, T, T]
        if (out.extension() == ".csv")
            writeAttentionCsv(attention, read.loaded.model->causal(), out);
        else
            writeForText(read, "attention", attention, out);
    });
}

void exportNorms(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                 const std::filesystem::path& out) {
    translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const ReadText read = readText(folder, options, text);
        const at::Tensor norms =
            read.loaded.model->inside(read.tokens).norms.to(at::kCPU, at::kFloat).contiguous();
        if (out.extension() == ".csv")
            writeNormsCsv(norms, out);
        else
            writeForText(read, "norms", norms, out);
    });
}

void exportLogits(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                  const std::filesystem::path& out) {
    translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        const ReadText read = readText(folder, options, text);
        writeForText(read, "logits", read.loaded.model->forward(read.tokens).squeeze(0).cpu().contiguous(),
                     out);
    });
}

void exportWeights(const RunFolder& folder, const ReadingOptions& options, const std::filesystem::path& out) {
    const StepFile checkpoint = chooseCheckpoint(folder, options.step);
    const SafetensorsFile file = SafetensorsFile::read(checkpoint.path);
    std::vector<TensorToWrite> weights;
    for (const auto& [name, tensor] : file.tensors()) {
        if (name.starts_with("optimizer.") || name.starts_with("random.")) continue;
        weights.push_back({name, tensor.dtype, tensor.shape, tensor.bytes});
    }
    writeSafetensors(out, weights, file.metadata());
}

}  // namespace roper
