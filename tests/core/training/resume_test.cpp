#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "core/base/durable_file.h"
#include "core/base/file_reading.h"
#include "core/base/safetensors.h"
#include "core/runs/run_recorder.h"
#include "core/runs/tensorboard_events.h"
#include "core/specification/cost.h"
#include "core/training/batches.h"
#include "core/training/checkpoint.h"
#include "core/training/exports.h"
#include "core/training/run_evaluation.h"
#include "core/training/session.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

Specification shortRun(const std::string& task, const std::string& position) {
    Specification s;
    s.task.name = task;
    s.task.specific_settings.set("digits_max", 1);
    s.task.specific_settings.set("substring_length", 8);
    s.model.position = position;
    s.model.width = 32;
    s.model.layers = 2;
    s.model.heads = 2;
    s.model.feed_forward = 48;
    s.model.dropout = 0.1;  // so that generator states matter, too
    s.device.threads = 1;   // more would only wait for each other with a model this small
    s.training.steps = 12;
    s.training.batch = 4;
    s.training.length = 65;
    s.training.warmup_steps = 3;
    s.evaluation.every = 6;
    s.evaluation.problems = 4;
    s.evaluation.temperature = 0.8;  // samples must not depend on earlier ones
    s.snapshots.every = 5;
    s.snapshots.tokens = 20;
    s.checkpoints.every = 4;
    s.checkpoints.keep = 10;
    return s;
}

/// The columns of metrics.csv that do not contain times.
std::string withoutTimes(const std::vector<MetricsRow>& rows) {
    std::string text;
    for (MetricsRow row : rows) {
        row.time_s = row.tokens_per_s = 0;
        text += formatRow(row) + "\n";
    }
    return text;
}

std::string withoutTimes(const std::vector<EvaluationRow>& rows) {
    std::string text;
    for (EvaluationRow row : rows) {
        row.time_s = 0;
        text += formatRow(row) + "\n";
    }
    return text;
}

std::vector<std::int64_t> eventSteps(const RunFolder& run) {
    std::vector<std::int64_t> steps;
    for (const ScalarEvent& event : parseEvents(readFile(run.eventsPath())).events)
        steps.push_back(event.step);
    return steps;
}

void train(const RunFolder& run) {
    TrainingObserver nobody;
    EXPECT_EQ(trainRun(run, nobody), RunState::finished);
}

SafetensorsFile readTensors(const FilePath& path) {
    return SafetensorsFile::read(path, SafetensorsFile::kUnlimitedSize);
}

void expectSameTensors(const FilePath& a, const FilePath& b) {
    const SafetensorsFile of_a = readTensors(a), of_b = readTensors(b);
    ASSERT_EQ(of_a.tensors().size(), of_b.tensors().size());
    for (const auto& [name, tensor] : of_a.tensors()) {
        const auto& other = of_b.tensor(name);
        EXPECT_TRUE(
            std::equal(tensor.bytes.begin(), tensor.bytes.end(), other.bytes.begin(), other.bytes.end()))
            << name;
    }
}

/// Trains a run of 12 steps once to the end and once as if killed after the checkpoint of step 8, and expects
/// identical results.
void expectResumedAsWhole(const TemporaryFolder& runs, const std::string& name, const Specification& s) {
    const RunFolder whole = createRun(runs.path(), name + "-whole", s);
    train(whole);
    // The state after a kill: checkpoints up to step 8, later rows, the last row incomplete.
    const fs::path killed = runs / (name + "-killed");
    fs::copy(whole.path(), killed, fs::copy_options::recursive);
    const RunFolder cut(killed);
    fs::remove(cut.checkpointPath(12).path());
    std::ofstream(cut.metricsPath().path(), std::ios::app) << "13,0.1";
    train(cut);
    EXPECT_EQ(withoutTimes(whole.metrics()), withoutTimes(cut.metrics())) << name;
    EXPECT_EQ(whole.evaluations().size(), cut.evaluations().size()) << name;
    EXPECT_EQ(readFile(whole.pathOf<Sample>()), readFile(cut.pathOf<Sample>())) << name;
    EXPECT_EQ(withoutTimes(whole.evaluations()), withoutTimes(cut.evaluations())) << name;
    EXPECT_EQ(eventSteps(whole), eventSteps(cut)) << name;
    ASSERT_EQ(fs::exists(whole.pathOf<MethodRow>().path()), fs::exists(cut.pathOf<MethodRow>().path()))
        << name;
    if (fs::exists(whole.pathOf<MethodRow>().path())) {
        EXPECT_EQ(readFile(whole.pathOf<MethodRow>()), readFile(cut.pathOf<MethodRow>())) << name;
    }
    ASSERT_EQ(whole.snapshots().size(), 4U);  // before the first step, two in between, and one at the end
    for (const StepFile& snapshot : whole.snapshots())
        expectSameTensors(snapshot.path, cut.snapshotPath(snapshot.step));
    expectSameTensors(whole.checkpointPath(12), cut.checkpointPath(12));
}

// N+M steps must equal N steps, an interruption anywhere, resuming and M steps: weights, moments, generator
// states and rows, bit for bit.
TEST(Resume, ChangesNothing) {
    const TemporaryFolder runs;
    for (const TaskKind& kind : taskKinds())
        for (const std::string& position : twinMethods())
            if (!kind.is_text)
                expectResumedAsWhole(runs, kind.name + "-" + position, shortRun(kind.name, position));
}

// With a learning rate of zero no evaluation improves on the first.
TEST(Resume, EarlyStoppingEndsTheRunAndStaysEnded) {
    const TemporaryFolder runs;
    Specification s = shortRun("addition", "rope");
    s.model.dropout = 0;
    s.evaluation.temperature = 0;
    s.training.learning_rate = 1e-30;
    s.training.steps = 60;
    s.evaluation.patience = 2;
    const RunFolder run = createRun(runs.path(), "early", s);
    train(run);
    EXPECT_EQ(run.metrics().back().step, 18);  // evaluations of steps 6, 12 and 18
    EXPECT_EQ(run.bestStep(), 6);
    EXPECT_NE(readFile(run.logPath()).find("stopped early: none of the last 2"), std::string::npos);
    train(run);
    EXPECT_EQ(run.metrics().back().step, 18);
    s.evaluation.patience = 3;
    EXPECT_NO_THROW(train(createRun(runs.path(), "later", s)));
    EXPECT_EQ(RunFolder(runs / "later").metrics().back().step, 24);
}

TEST(Resume, ChangesNothingWithAnyMethod) {
    const TemporaryFolder runs;
    std::map<std::string, std::vector<std::string>> methods = {
        {"trained", {"position=roper", "frequencies=trained"}},
        {"numerator", {"position=rope", "attention=linear_numerator"}},
        {"cosine", {"position=roper", "attention=linear_cosine"}},
        {"warmup", {"position=roper", "value_rotation_warmup=10"}},
        {"warmup-trained", {"position=roper", "value_rotation_warmup=10", "frequencies=trained"}}};
    for (const PositionMethod& method : positionMethods())
        methods[method.name] = {"position=" + method.name};
    for (const auto& [name, settings] : methods) {
        Specification s = shortRun("index", "rope");
        for (const std::string& setting : settings)
            applySetting(s, setting);
        expectResumedAsWhole(runs, name, s);
        const bool reports =
            s.model.method().trains_bias || s.model.trainsFrequencies() || s.model.attention != "softmax";
        EXPECT_EQ(fs::exists(runs / (name + "-whole") / "method.csv"), reports) << name;
    }
    // At step 0 and each evaluation: two layers or one, pairs of queries, keys and values.
    const RunFolder trained(runs / "trained-whole");
    const Specification s = trained.specification();
    const std::vector<MethodRow> rows = trained.rows<MethodRow>();
    const auto pairs = static_cast<std::size_t>(s.headDim() / 2 * s.model.layers * 2);
    ASSERT_EQ(rows.size() % pairs, 0U);
    EXPECT_EQ(rows.front().step, 0);
    EXPECT_EQ(rows.front().value, 1.0);
    EXPECT_EQ(rows.back().step, 12);
    EXPECT_NE(rows[rows.size() - pairs].value, 1.0);
}

// Twins have the same initial weights wherever shapes agree, and the same batches.
TEST(Training, TwinsStartEqualAndSeeTheSameText) {
    const TemporaryFolder runs;
    std::vector<RunFolder> twins;
    for (const char* position : {"rope", "roper"}) {
        Specification s = shortRun("addition", position);
        s.training.steps = 1;
        s.training.warmup_steps = 0;
        s.training.learning_rate = 1e-30;  // too small to change any float32 weight in one step
        twins.push_back(createRun(runs.path(), position, s));
        train(twins.back());
    }
    const SafetensorsFile rope = readTensors(twins[0].checkpointPath(1)),
                          roper = readTensors(twins[1].checkpointPath(1));
    for (const auto& [name, tensor] : rope.tensors()) {
        // A weight of 0 can change by 1e-30.
        if (!name.ends_with(".weight") || name.starts_with("optimizer.")) continue;
        const auto& other = roper.tensor(name);
        EXPECT_TRUE(
            std::equal(tensor.bytes.begin(), tensor.bytes.end(), other.bytes.begin(), other.bytes.end()))
            << name;
    }
    const auto task = makeTask(shortRun("addition", "rope").task);
    EXPECT_TRUE(at::equal(makeSequences(*task, twins[0].specification(), Stream::training, 0, 4),
                          makeSequences(*task, twins[1].specification(), Stream::training, 0, 4)));
    const auto samples = [](const RunFolder& run) {
        std::vector<std::string> prompts;
        for (const Sample& sample : run.samples())
            prompts.push_back(sample.prompt + sample.expected);
        return prompts;
    };
    EXPECT_EQ(samples(twins[0]), samples(twins[1]));
}

TEST(Training, TheSameSeedGivesTheSameLossesTwice) {
    const TemporaryFolder runs;
    const RunFolder first = createRun(runs.path(), "first", shortRun("addition", "roper"));
    const RunFolder second = createRun(runs.path(), "second", shortRun("addition", "roper"));
    train(first);
    train(second);
    EXPECT_EQ(withoutTimes(first.metrics()), withoutTimes(second.metrics()));
    Specification other = shortRun("addition", "roper");
    other.training.data_seed = 1;
    const RunFolder third = createRun(runs.path(), "third", other);
    train(third);
    EXPECT_NE(withoutTimes(first.metrics()), withoutTimes(third.metrics()));
}

/// Rewrites a checkpoint with one tensor changed, as an older version would have written it.
void change(const FilePath& path, const std::string& name, const std::function<void(std::string&)>& change) {
    const SafetensorsFile file = readTensors(path);
    std::string changed(reinterpret_cast<const char*>(file.tensor(name).bytes.data()),
                        file.tensor(name).bytes.size());
    change(changed);
    std::vector<TensorToWrite> tensors;
    for (const auto& [key, tensor] : file.tensors())
        tensors.push_back({key, tensor.dtype, tensor.shape,
                           key == name ? std::as_bytes(std::span(changed)) : tensor.bytes});
    std::map<std::string, std::string> metadata = file.metadata();
    EXPECT_EQ(metadata.erase("checksum"), 1U);
    metadata["format"] = "roper-lab-checkpoint-1";
    writeSafetensors(path, tensors, metadata);
}

void poison(const FilePath& path, const std::string& name, float value) {
    change(path, name, [&](std::string& bytes) { std::memcpy(bytes.data(), &value, sizeof value); });
}

void setBytes(const FilePath& path, const std::string& name, char byte) {
    change(path, name, [&](std::string& bytes) { bytes.assign(bytes.size(), byte); });
}

TEST(Training, NotANumberStopsTheRunBeforeTheUpdate) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "nan", shortRun("addition", "roper"));
    train(run);
    fs::remove(run.checkpointPath(12).path());
    poison(run.checkpointPath(8), "head.bias", std::numeric_limits<float>::quiet_NaN());
    const std::string before = readFile(run.checkpointPath(8));
    TrainingObserver nobody;
    expectError(ErrorKind::diverged, "diverged at step 9", [&] { trainRun(run, nobody); });
    EXPECT_EQ(readFile(run.checkpointPath(8)), before);
    EXPECT_EQ(run.checkpoints().back().step, 8);
    EXPECT_TRUE(std::isnan(run.metrics().back().loss));
    EXPECT_EQ(run.metrics().back().step, 9);
    const Status status = run.status();
    EXPECT_EQ(status.state, RunState::failed);
    EXPECT_EQ(status.exit_code, 3);
    EXPECT_NE(status.error.find("lower training.learning_rate"), std::string::npos);
}

TEST(Training, ADamagedCheckpointIsNamed) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "damaged", shortRun("addition", "rope"));
    train(run);
    TrainingObserver nobody;
    for (const StepFile& checkpoint : run.checkpoints())
        fs::resize_file(checkpoint.path.path(), 1000);
    expectError(ErrorKind::checkpoint, "step-00000012.safetensors", [&] { trainRun(run, nobody); });
    EXPECT_EQ(run.metrics().size(), 12U);  // nothing was dropped
}

/// Whichever part of the newest checkpoint is damaged, the previous one is used, and the run ends with the
/// same result.
TEST(Training, ADamagedCheckpointGivesWayToTheOneBefore) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "damaged", shortRun("addition", "rope"));
    train(run);
    const std::string rows = withoutTimes(run.metrics());
    const FilePath newest = run.checkpointPath(12);
    const std::string whole = readFile(newest);
    std::string flipped = whole;
    flipped[whole.size() / 2] ^= 1;
    const auto entryFlipped = [&](const std::string& key) {
        std::string changed = whole;
        const std::size_t at = changed.find("\"" + key + "\":\"");
        EXPECT_NE(at, std::string::npos);
        changed[at + key.size() + 4] ^= 1;
        return changed;
    };
    const std::string of_another_step = readFile(run.checkpointPath(6));
    const std::int64_t parameters = costOf(run.specification()).parameters;
    const auto isRefused = [](const auto& check) {
        try {
            check();
        } catch (const Error&) {
            return true;
        }
        return false;
    };
    setBytes(newest, "random.cpu", '\xff');
    const std::string bad_state = readFile(newest);
    for (const std::string& content :
         {whole.substr(0, 1000), std::string(), std::string(whole.size(), '\0'), flipped, bad_state,
          entryFlipped("step"), entryFlipped("tokens"), entryFlipped("vocabulary"),
          entryFlipped("next_sequence"), entryFlipped("time_s"), entryFlipped("format"),
          entryFlipped("specification"), entryFlipped("checksum"), of_another_step}) {
        writeFileAtomically(newest, content);
        // Only a state that the generator refuses and another step's checkpoint are whole.
        const bool is_whole = content == bad_state || content == of_another_step;
        EXPECT_EQ(isRefused([&] { verifyCheckpoint(newest, parameters); }), !is_whole);
        EXPECT_EQ(isRefused([&] { readCheckpoint(newest, parameters); }), !is_whole);
        train(run);
        EXPECT_EQ(withoutTimes(run.metrics()), rows);
        writeFileAtomically(runs / "whole", whole);
        expectSameTensors(newest, runs / "whole");  // computed again, with identical bits
        const std::string log = readFile(run.logPath());
        EXPECT_NE(log.find("It is set aside; step 8 is the newest readable checkpoint"), std::string::npos)
            << log;
        EXPECT_TRUE(readFile(newest.string() + ".damaged") == content);
    }
}

TEST(Training, SettingsThatWereCutOrChangedAreNamed) {
    const TemporaryFolder runs;
    Specification specification = shortRun("addition", "rope");
    specification.training.learning_rate = 0.004;
    const RunFolder run = createRun(runs.path(), "cut", specification);
    train(run);
    fs::remove(run.checkpointPath(12).path());
    const std::string rows = readFile(run.metricsPath()), whole = readFile(run.specificationPath());
    std::string cut = whole;
    const std::size_t at = cut.find("\nlearning_rate =");
    cut.erase(at, cut.find('\n', at + 1) - at);
    writeFileAtomically(run.specificationPath(), cut);
    TrainingObserver nobody;
    expectError(ErrorKind::usage, "training.learning_rate = 0.002 (was 0.004)",
                [&] { trainRun(run, nobody); });
    EXPECT_EQ(readFile(run.metricsPath()), rows);
    specification.training.steps = 7;
    specification.evaluation.every = 3;
    writeFileAtomically(run.specificationPath(), toToml(specification));
    expectError(ErrorKind::usage, "training.steps = 7, but 8 steps have already been trained",
                [&] { trainRun(run, nobody); });
    specification.training.steps = 14;
    writeFileAtomically(run.specificationPath(), toToml(specification));
    train(run);
    EXPECT_EQ(run.metrics().size(), 14U);
    EXPECT_NE(readFile(run.logPath())
                  .find("run.toml has changed: training.steps = 14 (was 12); "
                        "evaluation.every = 3 (was 6)"),
              std::string::npos);
}

TEST(Training, ACheckpointOfAnotherModelIsNamed) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "other", shortRun("addition", "rope"));
    train(run);
    TrainingObserver nobody;
    const auto expect = [&](int width, ErrorKind kind, const std::string& part) {
        Specification other = shortRun("addition", "rope");
        other.model.width = width;
        writeFileAtomically(run.specificationPath(), toToml(other));
        expectError(kind, part, [&] { trainRun(run, nobody); });
        EXPECT_EQ(run.metrics().size(), 12U);
    };
    expect(64, ErrorKind::usage, "model.width = 64 (was 32)");
    expect(16, ErrorKind::usage, "model.width = 16 (was 32)");
}

TEST(Training, ExportAndEvaluationReadACheckpoint) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", shortRun("addition", "roper"));
    expectError(ErrorKind::checkpoint, "no checkpoint yet", [&] { evaluateRun(run, {}, {4}); });
    train(run);
    const EvaluationRow row = evaluateRun(run, {}, {4}).row;
    EXPECT_EQ(row.correct, run.evaluations().back().correct);
    EXPECT_EQ(row.loss, run.evaluations().back().loss);
    expectError(ErrorKind::checkpoint, "it has 4, 6, 8, 12", [&] { evaluateRun(run, {5, "cpu"}, {4}); });
    exportAttention(run, {}, "?d=1+2;", runs / "a.safetensors");
    EXPECT_EQ(SafetensorsFile::read(runs / "a.safetensors", SafetensorsFile::kUnlimitedSize)
                  .tensor("attention")
                  .shape,
              (std::vector<std::int64_t>{2, 2, 7, 7}));
    exportNorms(run, {}, "?d=1+2;", runs / "n.safetensors");
    EXPECT_EQ(
        SafetensorsFile::read(runs / "n.safetensors", SafetensorsFile::kUnlimitedSize).tensor("norms").shape,
        (std::vector<std::int64_t>{4, 2, 2, 8}));
    exportNorms(run, {}, "?d=1+2;", runs / "n.csv");
    const std::string csv = readFile(runs / "n.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 2 * 2 * 8);
    expectError(ErrorKind::usage, "'x'", [&] { exportAttention(run, {}, "x", runs / "b.safetensors"); });
    EXPECT_FALSE(fs::exists(runs / "b.safetensors"));
    exportWeights(run, {8, "cpu"}, runs / "w.safetensors");
    EXPECT_EQ(SafetensorsFile::read(runs / "w.safetensors", SafetensorsFile::kUnlimitedSize)
                  .tensors()
                  .count("optimizer.mean.head.bias"),
              0U);
}

}  // namespace
}  // namespace roper
