#include "core/specification/specification.h"

#include <map>
#include <set>

#include "core/specification/cost.h"
#include "core/specification/presets.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

void expectRefused(const std::string& toml, const std::string& part) {
    expectError(ErrorKind::usage, part, [&] { parseSpecification(toml, "run.toml"); });
}

TEST(Specification, EveryFieldIsDocumentedOnce) {
    std::set<std::string> keys;
    for (const SpecificationField& field : specificationFields()) {
        EXPECT_TRUE(keys.insert(field.key()).second) << field.key();
        EXPECT_FALSE(field.help.empty()) << field.key();
        EXPECT_LE(field.help.size(), 110U) << field.key();
    }
    EXPECT_GE(keys.size(), 40U);
}

TEST(Specification, DefaultsAreValidAndInsideTheirBounds) {
    Specification defaults;
    EXPECT_TRUE(check(defaults).empty());
    for (const SpecificationField& field : specificationFields())
        EXPECT_NO_THROW(field.set(defaults, field.text(Specification{}))) << field.key();
}

TEST(Specification, ReadsBackWhatItWrites) {
    Specification specification;
    specification.about.title = "Quotes \" and \\ and ünïcode\nand lines";
    specification.task.name = "prefix";
    specification.model.position = "rope";
    specification.model.base = 500000;
    specification.training.learning_rate = 2.5e-4;
    specification.training.weight_decay = 0.1;
    specification.training.data_seed = 9007199254740993;  // not representable as a double
    specification.device.name = "cuda:1";
    const Specification again = parseSpecification(toToml(specification), "again");
    for (const SpecificationField& field : specificationFields())
        EXPECT_EQ(field.text(again), field.text(specification)) << field.key();
}

TEST(Specification, MissingKeysKeepTheirDefaults) {
    const Specification specification = parseSpecification("[model]\nwidth = 64\n", "x");
    EXPECT_EQ(specification.model.width, 64);
    EXPECT_EQ(specification.model.layers, Specification{}.model.layers);
}

TEST(Specification, UnknownKeysComeWithTheNearestNameAndTheirPlace) {
    expectRefused("[model]\nwidth = 64\n  widht = 3\n",
                  "run.toml:3:3: unknown key \"model.widht\"; did you mean \"model.width\"?");
    expectRefused("[modle]\nwidth = 3\n", "did you mean [model]?");
    expectRefused("width = 3\n", "run.toml:1:1");
}

TEST(Specification, SaysWhatAFieldAccepts) {
    expectRefused("[model]\nwidth = \"64\"\n", "run.toml:2:9: model.width must be a number, not text");
    expectRefused("[model]\nwidth = 64.5\n", "whole number");
    expectRefused("[model]\nwidth = 0\n", "from 2 to 65536");
    expectRefused("[model]\nposition = \"rooper\"\n", "did you mean roper?");
    expectRefused("[model]\nposition = 3\n", "must be text in quotes");
    expectRefused("[model]\ndropout = nan\n", "a number from 0 to 0.95");
    expectRefused("[model]\ndropout = [1]\n", "must be a number");
    expectRefused("[training]\nlearning_rate = 1e400\n", "run.toml:2");
    expectRefused("[model\nwidth = 3\n", "run.toml:1");
    expectRefused("[model]\nwidth = 64\nwidth = 65\n", "run.toml:3");
    expectRefused("model = 3\n", "must be a section");
}

TEST(Specification, FlagsAreNumbersOrWords) {
    EXPECT_FALSE(parseSpecification("", "x").model.shared_kv);  // runs of older versions
    for (const char* on : {"true", "1"})
        EXPECT_TRUE(
            parseSpecification(std::string("[model]\nshared_kv = ") + on + "\n", "x").model.shared_kv);
    EXPECT_FALSE(parseSpecification("[model]\nshared_kv = false\n", "x").model.shared_kv);
    Specification shared;
    applySetting(shared, "shared_kv=true");
    EXPECT_TRUE(parseSpecification(toToml(shared), "x").model.shared_kv);
    expectRefused("[model]\nshared_kv = 2\n", "model.shared_kv must be 0 or 1");
    expectRefused("[model]\nshared_kv = \"yes\"\n", "must be a number");
    expectRefused("[model]\nwidth = true\n", "must be a number");
}

TEST(Specification, IntegersMayStandForReals) {
    EXPECT_EQ(parseSpecification("[model]\nbase = 500\n", "x").model.base, 500.0);
}

TEST(Specification, FindsContradictions) {
    const auto problemKey = [](const char* setting) {
        Specification specification;
        applySetting(specification, setting);
        const auto problems = check(specification);
        return problems.empty() ? std::string() : problems.front().key;
    };
    EXPECT_EQ(problemKey("model.heads=3"), "model.heads");
    EXPECT_EQ(problemKey("model.heads=128"), "model.heads");      // one feature per head
    EXPECT_EQ(problemKey("model.kv_heads=3"), "model.kv_heads");  // of 4 heads
    EXPECT_EQ(problemKey("model.kv_heads=8"), "model.kv_heads");
    for (const char* divisor :
         {"model.kv_heads=0", "model.kv_heads=1", "model.kv_heads=2", "model.kv_heads=4"})
        EXPECT_EQ(problemKey(divisor), "");
    EXPECT_EQ(problemKey("device.name=gpu"), "device.name");
    EXPECT_EQ(problemKey("device.name=cuda:x"), "device.name");
    EXPECT_EQ(problemKey("device.name=cuda:1"), "");
    EXPECT_EQ(problemKey("learning_rate=0"), "training.learning_rate");
    EXPECT_EQ(problemKey("warmup_steps=100000"), "training.warmup_steps");
    Specification index;
    applySetting(index, "task.name=index");
    applySetting(index, "string_min=9");
    EXPECT_FALSE(check(index).empty());
    expectError(ErrorKind::usage, "origin: task.string_min", [&] { requireValid(index, "origin"); });
}

// No setting is silently ignored.
TEST(Specification, RefusesWhatARunWouldNeverRead) {
    const auto problems = [](std::initializer_list<const char*> settings) {
        Specification specification;
        for (const char* setting : settings)
            applySetting(specification, setting);
        std::string keys;
        for (const SettingProblem& problem : check(specification))
            keys += problem.key + ' ';
        return keys;
    };
    EXPECT_EQ(problems({"position=rope", "value_rotary_fraction=0.5"}), "model.value_rotary_fraction ");
    EXPECT_EQ(problems({"position=roper", "value_rotary_fraction=0.5"}), "");
    EXPECT_EQ(problems({"position=roper", "value_rotary_fraction=0.5", "shared_kv=1"}),
              "model.value_rotary_fraction ");
    EXPECT_EQ(problems({"position=rope", "value_rotation_strength=0.5", "value_rotation_warmup=10"}),
              "model.value_rotation_strength training.value_rotation_warmup ");
    EXPECT_EQ(problems({"position=roper", "value_rotation_strength=0.5", "value_rotation_warmup=10"}), "");
    EXPECT_EQ(problems({"position=roper", "value_rotation_strength=0", "value_rotation_warmup=10"}),
              "training.value_rotation_warmup ");
    EXPECT_EQ(problems({"position=roper", "value_rotation_warmup=10", "shared_kv=1"}),
              "training.value_rotation_warmup ");
    EXPECT_EQ(problems({"position=xpos", "shared_kv=1"}), "model.shared_kv ");
    EXPECT_EQ(problems({"attention=linear_cosine", "attention_sinks=1", "window=5"}),
              "model.attention_sinks model.window ");
    EXPECT_EQ(problems({"task.name=text", "text=opticks", "objective=masked", "window=5"}), "model.window ");
    EXPECT_EQ(problems({"latent_rank=8"}), "model.latent_rank ");
    EXPECT_EQ(problems({"latent_rank=8", "rotary_fraction=0.5"}), "model.latent_rank ");
    EXPECT_EQ(problems({"latent_rank=8", "rotary_fraction=0.5", "rotated_part=last"}), "");
    EXPECT_EQ(
        problems({"latent_rank=8", "rotary_fraction=0.5", "rotated_part=last", "kv_heads=1", "qk_norm=1"}),
        "model.latent_rank model.latent_rank ");
    EXPECT_EQ(problems({"position=alibi", "latent_rank=8"}), "model.latent_rank ");
    EXPECT_EQ(problems({"no_rotation_every=1"}), "model.no_rotation_every ");
    EXPECT_EQ(problems({"no_rotation_every=2", "frequencies=trained"}), "model.no_rotation_every ");
    EXPECT_EQ(problems({"position=alibi", "no_rotation_every=2"}), "model.no_rotation_every ");
    EXPECT_EQ(problems({"rotated_part=last"}), "model.rotated_part ");
    EXPECT_EQ(problems({"rotated_part=last", "value_rotary_fraction=0.5"}), "");
    EXPECT_EQ(problems({"block=modern", "activation=relu"}), "model.activation ");
    EXPECT_EQ(problems({"position=rope", "rotates=vo"}), "model.rotates ");
    EXPECT_EQ(problems({"position=rotary", "rotates=vo", "rotary_fraction=0.5"}), "model.rotary_fraction ");
    EXPECT_EQ(problems({"position=rotary", "rotates=k", "value_rotary_fraction=0.5"}),
              "model.value_rotary_fraction ");
    EXPECT_EQ(problems({"position=rotary", "rotates=qk", "shared_kv=1"}), "model.rotates ");
    for (const char* both_or_neither : {"rotates=qkv", "rotates=qo"})
        EXPECT_EQ(problems({"position=rotary", both_or_neither, "shared_kv=1", "rotary_fraction=0.5"}), "");
    EXPECT_EQ(problems({"position=alibi", "shared_kv=1", "kv_heads=1"}), "");
    EXPECT_EQ(problems({"position=alibi", "pairing=interleaved", "base=100"}), "model.pairing model.base ");
    EXPECT_EQ(problems({"position=sinusoidal", "base=100"}), "");
    EXPECT_EQ(problems({"position=alibi", "bias_buckets=16"}), "model.bias_buckets ");
    EXPECT_EQ(problems({"position=t5", "bias_buckets=16"}), "");
    EXPECT_EQ(problems({"position=rope", "table_positions=500"}), "model.table_positions ");
    EXPECT_EQ(problems({"position=learned", "table_positions=500"}), "");
    EXPECT_EQ(problems({"frequency_rate=0.5"}), "training.frequency_rate ");
    EXPECT_EQ(problems({"frequency_rate=0.5", "frequencies=trained"}), "");
    EXPECT_EQ(problems({"decay=constant", "final_fraction=0.5"}), "training.final_fraction ");
    EXPECT_EQ(problems({"task.name=index", "digits_max=2"}), "task.digits_max ");
    EXPECT_EQ(problems({"attention=linear_cosine", "position=t5"}), "model.attention ");
    EXPECT_EQ(problems({"position=learned", "table_positions=100"}), "model.table_positions ");
    EXPECT_EQ(problems({"position=t5", "bias_distance=16"}), "model.bias_distance ");
}

TEST(Specification, ValuesRotateFasterDuringTheirWarmup) {
    Specification s;
    s.model.value_rotation_strength = 0.6;
    EXPECT_EQ(s.valueRotationStrengthAfter(0), 0.6);
    s.training.value_rotation_warmup = 3;
    EXPECT_EQ(s.valueRotationStrengthAfter(0), 0);
    EXPECT_DOUBLE_EQ(s.valueRotationStrengthAfter(2), 0.4);
    EXPECT_EQ(s.valueRotationStrengthAfter(3), 0.6);
    EXPECT_EQ(s.valueRotationStrengthAfter(4), 0.6);
    EXPECT_DOUBLE_EQ(s.afterSteps(2).model.value_rotation_strength, 0.4);
    EXPECT_EQ(s.afterSteps(2).training.value_rotation_warmup, 0);
}

TEST(Specification, InitialWeightsAreARunOrAPath) {
    Specification s;
    s.training.model_seed = 7;
    const auto path = [&](const std::string& weights) {
        s.training.initial_weights = weights;
        return initialWeightsPath(withAbsolutePaths(s), "/runs");
    };
    EXPECT_EQ(path("rope-s{seed}"), "/runs/rope-s7");
    EXPECT_EQ(path("/other/rope"), "/other/rope");
    EXPECT_EQ(path("a/../rope-{seed}-{seed}"), std::filesystem::current_path() / "rope-7-7");
    // A name stays one, so that the runs folder can be moved.
    s.training.initial_weights = "rope-s{seed}";
    EXPECT_EQ(withAbsolutePaths(s).training.initial_weights, "rope-s{seed}");
}

// Every field is read by runs of all methods or refused by those that do not read it.
TEST(Specification, AnotherMethodTakesAlongOnlyWhatItReads) {
    Specification specification;
    specification.model.value_rotary_fraction = 0.5;
    specification.model.pairing = Pairing::interleaved;
    for (const PositionMethod& method : positionMethods()) {
        const Specification other = withPosition(specification, method.name);
        EXPECT_TRUE(check(other).empty()) << method.name;
        EXPECT_EQ(other.model.position, method.name);
    }
    EXPECT_EQ(withPosition(specification, "rope").model.pairing, Pairing::interleaved);
    EXPECT_EQ(withPosition(specification, "rope").model.value_rotary_fraction, 1);
    EXPECT_EQ(withPosition(specification, "alibi").model.pairing, Pairing::half);
    specification.model.rotated_part = RotatedPart::last;  // of values alone
    EXPECT_EQ(withPosition(specification, "rope").model.rotated_part, RotatedPart::first);
    EXPECT_TRUE(check(withPosition(specification, "rope")).empty());
}

TEST(Specification, SettingsByBareNameOrKey) {
    Specification specification;
    applySetting(specification, "width = 96");
    applySetting(specification, "training.steps=7");
    EXPECT_EQ(specification.model.width, 96);
    EXPECT_EQ(specification.training.steps, 7);
    expectError(ErrorKind::usage, "in several sections", [&] { applySetting(specification, "every=3"); });
    expectError(ErrorKind::usage, "key=value", [&] { applySetting(specification, "width"); });
    expectError(ErrorKind::usage, "did you mean \"width\"", [&] { applySetting(specification, "widht=3"); });
}

// run.toml files of older versions, and settings on the command line.
TEST(Specification, FormerNamesAreReadAndNotWritten) {
    const Specification s = parseSpecification(
        "[task]\nname = \"text\"\ntext = \"opticks\"\npieces = 500\nvocabulary = \"bpe\"\n"
        "[model]\nschedule = \"intro\"\n[training]\ndecay = \"linear\"\n",
        "old.toml");
    EXPECT_EQ(s.task.specific_settings.integer("vocab_size"), 500);
    EXPECT_EQ(s.task.specific_settings.text("tokenizer"), "bpe");
    EXPECT_EQ(s.model.frequency_formula, FrequencyFormula::worked_example);
    EXPECT_EQ(s.training.lr_schedule, "linear");
    const std::string toml = toToml(s);
    for (const char* former : {"\npieces", "\nvocabulary", "\nschedule", "\ndecay", "intro"})
        EXPECT_EQ(toml.find(former), std::string::npos) << former;
    Specification by_settings;
    for (const char* setting : {"schedule=intro", "training.decay=constant", "pieces=400"})
        applySetting(by_settings, setting);
    EXPECT_EQ(by_settings.model.frequency_formula, FrequencyFormula::worked_example);
    EXPECT_EQ(by_settings.training.lr_schedule, "constant");
    EXPECT_EQ(by_settings.task.specific_settings.integer("vocab_size"), 400);
}

// The names of all settings of tasks and methods are unique, so that a bare name identifies a setting.
TEST(Specification, OwnSettingsHaveNamesOfTheirOwn) {
    std::set<std::string> names;
    for (const SpecificationField& field : specificationFields())
        EXPECT_TRUE(names.insert(field.key()).second) << field.key();
}

// The registries contain everything that other parts of the program query.
TEST(Specification, EveryMethodAndTaskIsWholeAndUnknownOnesAreRefused) {
    for (const PositionMethod& method : positionMethods()) {
        for (const std::string* text : {&method.name, &method.title, &method.summary, &method.source,
                                        &method.formula, &method.extrapolation})
            EXPECT_FALSE(text->empty()) << method.name;
        EXPECT_EQ(&positionMethod(method.name), &method);
        for (const std::string& field : method.relevant_fields)
            EXPECT_NO_THROW(findField(field)) << method.name << ": " << field;
    }
    for (const TaskKind& kind : taskKinds()) {
        EXPECT_FALSE(kind.name.empty() || kind.help.empty()) << kind.name;
        EXPECT_EQ(kind.has_problems, !kind.length_settings.empty()) << kind.name;
        for (const std::string& setting : kind.length_settings)
            EXPECT_NO_THROW(TaskSettings().specific_settings.integer(setting)) << kind.name;
    }
    EXPECT_THROW(positionMethod("ropper"), std::invalid_argument);
    EXPECT_THROW(taskKind("adition"), std::invalid_argument);
}

TEST(Presets, EveryBundledPresetIsValidAndExplained) {
    const auto names = presetNames();
    EXPECT_GE(names.size(), 8U);
    for (const std::string& name : names) {
        const Preset preset = loadPreset(name);
        EXPECT_TRUE(check(preset.specification).empty()) << name;
        EXPECT_FALSE(preset.specification.about.title.empty()) << name;
        EXPECT_FALSE(preset.specification.about.teaches.empty()) << name;
        EXPECT_GT(preset.specification.about.minutes, 0) << name;
        if (preset.specification.task.isText()) continue;
        const auto task = makeTask(preset.specification.task);
        EXPECT_LT(task->maxPromptLength() + task->maxAnswerLength(), preset.specification.training.length)
            << name << ": a training sequence must hold a whole problem";
    }
}

TEST(Presets, TheSourcesThreeSettings) {
    struct Row {
        std::int64_t width, layers, heads, length, batch, steps;
        const char* norm;
    };
    const std::map<std::string, Row> table = {{"addition-paper", {512, 6, 8, 641, 32, 5000, "post"}},
                                              {"index-paper", {512, 6, 8, 641, 32, 5000, "post"}},
                                              {"prefix-paper", {128, 3, 4, 513, 16, 65000, "pre"}}};
    for (const auto& [name, row] : table) {
        const Specification s = loadPreset(name).specification;
        EXPECT_EQ(s.model.width, row.width) << name;
        EXPECT_EQ(s.model.layers, row.layers) << name;
        EXPECT_EQ(s.model.heads, row.heads) << name;
        EXPECT_EQ(s.training.length, row.length) << name;
        EXPECT_EQ(s.training.batch, row.batch) << name;
        EXPECT_EQ(s.training.steps, row.steps) << name;
        EXPECT_EQ(s.model.norm, row.norm) << name;
    }
    EXPECT_EQ(loadPreset("addition-paper").specification.task.specific_settings.integer("digits_max"), 8);
}

TEST(Presets, TheSourcesLanguageModel) {
    const Specification s = loadPreset("text-paper").specification;
    EXPECT_EQ(s.task.specific_settings.integer("vocab_size"), 32000);
    EXPECT_NEAR(static_cast<double>(costOf(s).parameters), 200e6, 10e6);
}

/// The losses in the RoPER note constrain the settings that it does not state: the lower bound must be below
/// RoPER's 0.3191.
TEST(Presets, PrefixPaperLeavesRoomForTheSourcesLoss) {
    const Specification s = loadPreset("prefix-paper").specification;
    const auto task = makeTask(s.task);
    double lower_bound = 0;
    for (std::uint64_t i = 0; i < 64; ++i)
        lower_bound += task->lossLowerBound(task->sequence(0, Stream::validation, i, 513)).value() / 64;
    EXPECT_LT(lower_bound, 0.31);
    EXPECT_GT(lower_bound, 0.25);
}

TEST(Presets, UnknownNamesComeWithTheNearest) {
    expectError(ErrorKind::usage, "did you mean addition-small?", [] { loadPreset("adition-small"); });
}

}  // namespace

}  // namespace roper
