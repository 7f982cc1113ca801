#include "core/training/evaluation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include <fstream>

#include "core/base/safetensors.h"
#include "core/specification/cost.h"
#include "core/tasks/text.h"
#include "core/training/batches.h"
#include "core/training/snapshot.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

Specification small(const std::string& task) {
    Specification s;
    s.task.name = task;
    s.model.width = 32;
    s.model.layers = 1;
    s.model.heads = 2;
    s.model.feed_forward = 32;
    s.training.batch = 4;
    s.evaluation.problems = 10;
    return s;
}

TEST(Evaluation, IsTheSameTwiceAndDrawsNothing) {
    for (const TaskKind& kind : taskKinds()) {
        if (kind.is_text) continue;
        const std::string& name = kind.name;
        const Specification s = small(name);
        const auto task = makeTask(s.task);
        Transformer model(s, task->vocabulary().size(), at::kCPU);
        at::manual_seed(1);
        const at::Tensor before = at::globalContext().defaultGenerator(at::kCPU).get_state().clone();
        const Evaluation first = Evaluator(*task, s).evaluate(model, 7, 0),
                         second = Evaluator(*task, s).evaluate(model, 7, 0);
        EXPECT_TRUE(at::equal(before, at::globalContext().defaultGenerator(at::kCPU).get_state()));
        EXPECT_EQ(formatRow(first.row), formatRow(second.row));
        EXPECT_EQ(first.row.step, 7);
        EXPECT_EQ(first.samples.size(), 10U);
        EXPECT_EQ(first.row.correct.has_value(), task->hasProblems());
        EXPECT_EQ(first.row.fully_correct.has_value(), name == "addition") << name;
        EXPECT_GT(first.row.loss_lower_bound.value(), 0.0);
        EXPECT_GT(first.row.loss.value(), first.row.loss_lower_bound.value());
    }
}

TEST(Evaluation, ReadsALargeBatchInParts) {
    Specification s = small("addition");
    s.model.width = 576;
    s.training.length = 1025;
    s.training.batch = 160;
    const std::int64_t at_once = sequencesPerBatch(s);
    ASSERT_LT(at_once, s.training.batch);  // several parts, the last one smaller
    ASSERT_NE(s.training.batch % at_once, 0);
    const auto task = makeTask(s.task);
    Transformer model(s, task->vocabulary().size(), at::kCPU);
    double sum = 0;
    for (std::int64_t b = 0; b < s.training.batch; ++b) {
        const Batch batch = makeBatch(*task, s, Stream::validation, static_cast<std::uint64_t>(b), 1);
        sum += model.loss(batch.inputs, batch.targets, /*training=*/false).item<double>();
    }
    const Evaluation evaluation = Evaluator(*task, s).evaluate(model, 0, {});
    EXPECT_NEAR(evaluation.row.loss.value(), sum / static_cast<double>(s.training.batch), 1e-5);
    EXPECT_FALSE(evaluation.row.overlaps);
}

TEST(Evaluation, CountsWhatIsRight) {
    const Specification s = small("addition");
    const auto task = makeTask(s.task);
    Transformer model(s, task->vocabulary().size(), at::kCPU);
    const Evaluation evaluation = Evaluator(*task, s).evaluate(model, 0, 0);
    std::int64_t correct = 0;
    for (const Sample& sample : evaluation.samples)
        correct += sample.correct.value() ? 1 : 0;
    EXPECT_EQ(evaluation.row.correct, correct);
    EXPECT_EQ(correct, 0);  // an untrained model solves no problem
}

TEST(Batches, CausalTargetsAreTheNextTokens) {
    const Specification s = small("addition");
    const auto task = makeTask(s.task);
    const at::Tensor tokens = makeSequences(*task, s, Stream::training, 5, 3);
    const Batch batch = makeBatch(*task, s, Stream::training, 5, 3);
    EXPECT_TRUE(at::equal(batch.inputs, tokens.narrow(1, 0, s.training.length - 1)));
    EXPECT_TRUE(at::equal(batch.targets, tokens.narrow(1, 1, s.training.length - 1)));
}

// 15 % of the tokens are targets: 80 % of these are shown as the mask, 10 % as a random token and 10 %
// unchanged (Devlin et al. 2019). A random token equals the original with probability 1/V, so 10/V % more
// appear unchanged.
TEST(Batches, MaskedTokensAreHiddenAsOftenAsTheySay) {
    Specification s = small("prefix");
    s.training.objective = "masked";
    s.training.length = 400;
    const auto task = makeTask(s.task);
    const std::int64_t V = task->vocabulary().size();
    EXPECT_EQ(modelVocabularySize(*task, s), V + 1);
    const at::Tensor tokens = makeSequences(*task, s, Stream::training, 0, 200);
    const Batch batch = makeBatch(*task, s, Stream::training, 0, 200);
    ASSERT_EQ(batch.inputs.sizes(), tokens.sizes());
    const at::Tensor asked = batch.targets.ne(kIgnoreIndex);
    EXPECT_TRUE(at::equal(batch.targets.masked_select(asked), tokens.masked_select(asked)));
    const at::Tensor not_asked = asked.logical_not();
    EXPECT_TRUE(at::equal(batch.inputs.masked_select(not_asked), tokens.masked_select(not_asked)));
    const auto share = [](const at::Tensor& which) { return which.to(at::kDouble).mean().item<double>(); };
    const at::Tensor shown = batch.inputs.masked_select(asked), wanted = batch.targets.masked_select(asked);
    const double n = static_cast<double>(shown.numel());
    const auto within = [&](double p, double of) { return 4 * std::sqrt(p * (1 - p) / of); };  // 4 sigma
    EXPECT_NEAR(share(asked), 0.15, within(0.15, 200 * 400));
    EXPECT_NEAR(share(shown.eq(V)), 0.8, within(0.8, n));
    const double same = 0.1 + 0.1 / static_cast<double>(V);
    EXPECT_NEAR(share(shown.eq(wanted)), same, within(same, n));
    // The same sequences always have the same masks; validation uses others.
    EXPECT_TRUE(at::equal(batch.inputs, makeBatch(*task, s, Stream::training, 0, 200).inputs));
    EXPECT_TRUE(at::equal(batch.inputs.narrow(0, 7, 2), makeBatch(*task, s, Stream::training, 7, 2).inputs));
    // Every sequence has at least one target, however short it is.
    s.training.length = 2;
    const Batch shortest = makeBatch(*task, s, Stream::training, 0, 200);
    EXPECT_TRUE(shortest.targets.ne(kIgnoreIndex).any(1).all().item<bool>());
}

TEST(Evaluation, LossByPositionIsTheLossInParts) {
    const Specification s = small("prefix");
    const auto task = makeTask(s.task);
    Transformer model(s, task->vocabulary().size(), at::kCPU);
    const Evaluator evaluator(*task, s);
    const std::vector<double> losses = evaluator.lossByPosition(model);
    ASSERT_EQ(losses.size(), static_cast<std::size_t>(s.inputLength()));
    double sum = 0;
    for (const double loss : losses)
        sum += loss;
    EXPECT_NEAR(sum / static_cast<double>(losses.size()),
                Evaluator(*task, s).evaluate(model, 0, 0).row.loss.value(), 1e-5);
}

TEST(Batches, AreTheStreamsSequences) {
    const Specification s = small("addition");
    const auto task = makeTask(s.task);
    const at::Tensor tokens = makeSequences(*task, s, Stream::training, 5, 3);
    EXPECT_EQ(tokens.sizes().vec(), (std::vector<std::int64_t>{3, s.training.length}));
    std::string text;
    for (std::int64_t t = 0; t < s.training.length; ++t)
        text += task->vocabulary().decode(tokens[1][t].item<std::int64_t>());
    EXPECT_EQ(text, task->sequence(0, Stream::training, 6, static_cast<int>(s.training.length)));
}

// A sequence of a text may begin and end within a character that is encoded as byte tokens.
TEST(Snapshot, ReadsTokensThatAreNoTextByThemselves) {
    const TemporaryFolder folder;
    {
        std::ofstream tokens(folder / "tokens.bin", std::ios::binary);
        for (int i = 0; i < 200; ++i)
            tokens.put(static_cast<char>(i % 2)).put(0);
    }
    const Vocabulary bytes({"\xC3", "\xA4"}, [](std::string_view) -> std::vector<std::int64_t> {
        throw std::logic_error("tokens are not cut again");
    });
    const TextTask task(bytes, std::make_shared<TokenFile>(folder / "tokens.bin", 2), 0.495);  // 99 tokens
    Specification s = small("text");
    s.task.specific_settings.set("text", "x");
    s.snapshots.every = 1;
    s.snapshots.tokens = 10;
    s.training.objective = "masked";
    Transformer model(s, modelVocabularySize(task, s), at::kCPU);
    const RunFolder run(folder / "run");
    writeSnapshot(run, model, task, s, 5);
    const SafetensorsFile file = SafetensorsFile::read(run.snapshotPath(5), SafetensorsFile::kUnlimitedSize);
    EXPECT_EQ(file.tensor("tokens").shape, (std::vector<std::int64_t>{10}));
    EXPECT_EQ(file.entry("causal"), "false");
    EXPECT_NE(file.entry("token_texts").find("\xEF\xBF\xBD"), std::string::npos);  // U+FFFD
}

}  // namespace
}  // namespace roper
