#include <algorithm>

#include "app/command_help/number_checks.h"
#include "app/roper_train/command_line.h"
#include "core/base/text.h"
#include "core/rotary/scaling.h"

// What is asked of a model that is only read.

namespace roper {
namespace {

/// What may be named as a model: what placeOfModel and findRun take.
constexpr const char* kModels =
    "run, GGUF file or part of one (of any name), folder with a model, or ollama manifest";

/// "loss: −ln p of every token, in nats; logits: …"
std::string whatHelp() {
    std::vector<std::string> parts;
    for (const std::string& name : printedQuestions())
        parts.push_back(name + ": " + questionKind(name).help);
    return join(parts, "; ");
}

/// "logits: candidates (5), generate: tokens to generate (32), …"
std::string countHelp() {
    std::vector<std::string> parts;
    for (const std::string& name : printedQuestions())
        if (const QuestionKind& kind = questionKind(name); !kind.counted.empty())
            parts.push_back(name + ": " + kind.counted + " (" + std::to_string(kind.usual_count) + ")");
    return "How many there are. " + join(parts, ", ");
}

/// Refuses an option that would change nothing, by its name.
void requireRead(const CLI::App& look, const QuestionKind& kind) {
    const auto refuse = [&](const std::string& option, const std::string& readers) {
        throw CLI::ValidationError(option, "is not read by --what " + kind.name + readers);
    };
    const auto isGiven = [&](const std::string& option) { return look.get_option(option)->count() > 0; };
    const auto reads = [](const QuestionKind& one, const std::string& setting) {
        return std::find(one.own.begin(), one.own.end(), setting) != one.own.end();
    };
    if (kind.counted.empty() && isGiven("--count")) refuse("--count", ", which counts nothing");
    for (const std::string option : {"--ablate", "--mute", "--mute-heads", "--no-rotation",
                                     "--no-value-rotation", "--no-inverse", "--shift", "--base", "--scaling"})
        if (!kind.can_change && isGiven(option)) refuse(option, ": it reads the parameters as they are");
    for (const std::string option : {"--out", "--distance", "--other", "--needle", "--question", "--answer",
                                     "--temperature", "--seed", "--factor", "--original-length"}) {
        std::string setting = option.substr(2);
        std::replace(setting.begin(), setting.end(), '-', '_');
        const bool is_of_scaling =
            (setting == "factor" || setting == "original_length") && isGiven("--scaling");
        if (!isGiven(option) || is_of_scaling || reads(kind, setting)) continue;
        std::vector<std::string> readers;
        for (const QuestionKind& one : questionKinds())
            if (reads(one, setting)) readers.push_back(one.name);
        refuse(option, ", but by " + join(readers, ", "));
    }
}

}  // namespace

void CommandLine::addLook() {
    CLI::App* look = command("look", "Look into a model: a run, a GGUF file or a Hugging Face folder");
    look->add_option("model", look_.model, std::string("A ") + kModels)->required();
    addRunsFolder(look);
    look->add_option("--step", look_.step, "Step of a run's checkpoint (default: the newest)");
    look->add_option("--what", look_.what, whatHelp())->required()->check(CLI::IsMember(printedQuestions()));
    CLI::Option* text = look->add_option("--text", look_.text, "Text for the model to read");
    CLI::Option* file =
        look->add_option("--text-file", look_.text_file, "File with the text")->check(CLI::ExistingFile);
    file->excludes(text);
    look->add_option(
            "--layer", look_.layer,
            "Layer, from 0: the one shown, or where nothing is shown by head, the one that is changed")
        ->check(CLI::NonNegativeNumber);
    look->add_option(
            "--head", look_.head,
            "Head, from 0: the one shown, or where nothing is shown by head, the one that is changed")
        ->check(CLI::NonNegativeNumber);
    look->add_option(
            "--ablate", look_.ablations,
            "Ablate heads, or pairs of features in their scores: 2.1 (layer and head), 2 (a layer), all, "
            "2.1:24-31 (pairs; 0 rotates fastest); may be given several times")
        ->allow_extra_args(false);
    look->add_option("--mute", look_.change.mute,
                     "Former name of --ablate for pairs of features, such as 24-31; 0 rotates fastest");
    look->add_flag("--mute-heads", look_.change.mute_heads,
                   "Former name of --ablate for whole heads (--layer, --head)");
    look->add_flag("--no-rotation", look_.change.no_rotation, "Leave queries and keys unrotated");
    look->add_flag("--no-value-rotation", look_.change.no_value_rotation,
                   "Leave values and outputs unrotated (RoPER)");
    look->add_flag("--no-inverse", look_.change.no_inverse, "Do not rotate outputs back (RoPER)");
    look->add_option("--shift", look_.change.shift, "Number added to every position before rotation")
        ->check(CLI::Range(-100'000'000, 100'000'000));
    look->add_option("--base", look_.change.base, "Base of the frequencies (default: the model's own)")
        ->check(numberFrom(1.01, 1e15));
    look->add_option("--scaling", look_.scaling, "Scaling of the frequencies for longer texts")
        ->check(CLI::IsMember(scalingNames()))
        ->capture_default_str();
    look->add_option("--factor", look_.change.factor,
                     "Factor of --scaling: length of the text over that of training texts")
        ->check(numberFrom(1, 10000))
        ->capture_default_str();
    look->add_option("--original-length", look_.change.original_length,
                     "Length of training texts for --scaling, in tokens (default: the model's own)")
        ->check(numberFrom(1, 1e9));
    look->add_option("--out", look_.out, "File for attention: .safetensors or .csv");
    look->add_option("--count", look_.count, countHelp())->check(CLI::Range(1, 4096));
    look->add_option("--distance", look_.distance, "Distance to the token for token_map")
        ->check(CLI::Range(0, 1 << 20));
    look->add_option("--other", look_.other, "Second text for patch: as many tokens, another answer");
    look->add_option("--needle", look_.needle, "Sentence to hide for needle")->capture_default_str();
    look->add_option("--question", look_.question, "Question after the text for needle")
        ->capture_default_str();
    look->add_option("--answer", look_.answer, "Expected answer for needle")->capture_default_str();
    look->add_option("--temperature", look_.temperature,
                     "Sampling temperature for generate; 0 takes the likeliest token")
        ->check(numberFrom(0, 100));
    look->add_option("--seed", look_.seed, "Seed of the sampling for generate");
    look->add_option("--threads", look_.threads, "CPU threads; 0: one per core")->check(CLI::Range(0, 4096));
    look->add_flag("--json", look_.json, "Print JSON, one object per line");
    look->callback([this, look] {
        requireRead(*look, questionKind(look_.what));
        action_ = [this] {
            look_.runs = runs_;
            return lookCommand(look_);
        };
    });
}

void CommandLine::addRotation() {
    CLI::App* rotation =
        command("rotation", "Show how models rotate: a config.json, a model's folder, a GGUF file or a run");
    rotation->add_option("models", rotation_.models, std::string("Each a config.json, ") + kModels)
        ->required();
    rotation
        ->add_option("--tokens", rotation_.tokens,
                     "Length of the text, on which dynamic scaling and LongRoPE depend")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    rotation->add_flag("--json", rotation_.json, "One JSON object per model: layers with all θ, and notes");
    addRunsFolder(rotation);
    rotation->callback([this] {
        action_ = [this] {
            rotation_.runs = runs_;
            return rotationCommand(rotation_);
        };
    });
}

void CommandLine::addTokens() {
    CLI::App* tokens = command(
        "tokens", "Show the tokens that texts become: ids, and the part of the text that each stands for");
    tokens->add_option("model", tokens_.model, "A tokenizer.json, a folder with one, a GGUF file, or a run")
        ->required();
    CLI::Option* texts = tokens->add_option("text", tokens_.texts, "Texts, each in quotation marks");
    CLI::Option* file = tokens
                            ->add_option("--texts", tokens_.texts_file,
                                         "Read the texts from a file: one JSON string per line")
                            ->check(CLI::ExistingFile);
    file->excludes(texts);
    tokens->add_flag("--json", tokens_.json, "One JSON object per text: ids and tokens, or the error");
    addRunsFolder(tokens);
    tokens->callback([this, texts, file] {
        if (texts->count() + file->count() == 0) throw CLI::RequiredError("A text, or --texts FILE");
        action_ = [this] {
            tokens_.runs = runs_;
            return tokensCommand(tokens_);
        };
    });
}

}  // namespace roper
