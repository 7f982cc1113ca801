#include "app/command_help/number_checks.h"
#include "app/roper_train/command_line.h"
#include "core/rotary/scaling.h"

// What is asked of a model that is only read.

namespace roper {
namespace {

/// What may be named as a model: what placeOfModel and findRun take.
constexpr const char* kModels =
    "run, GGUF file or part of one (of any name), folder with a model, or ollama manifest";

}  // namespace

void CommandLine::addLook() {
    CLI::App* look = command("look", "Look into a model: a run, a GGUF file or a Hugging Face folder");
    look->add_option("model", look_.model, std::string("A ") + kModels)->required();
    addRunsFolder(look);
    look->add_option("--step", look_.step, "Of a run: the checkpoint at this step; the newest if not given");
    look->add_option("--what", look_.what,
                     "loss: −ln p of every token, in nats; logits: what may come after every token; "
                     "generate: what the model writes on; attention: weights; heads: what every head does; "
                     "bands: what each pair does; kernels: what a head makes of a value by its distance, "
                     "kernel_history: the same at each checkpoint of a run; token_map: what it makes of each "
                     "token; subsets: the loss with every subset of bands; lengths: the loss by position, "
                     "frequencies as they are and scaled; needle: whether a sentence is found again; lens: "
                     "what every layer would predict; solve: which problems a run solves; patch: which heads "
                     "make the answers to two texts differ")
        ->required()
        ->check(CLI::IsMember({"loss", "logits", "generate", "attention", "heads", "bands", "kernels",
                               "kernel_history", "subsets", "lengths", "needle", "lens", "solve", "token_map",
                               "patch"}));
    CLI::Option* text = look->add_option("--text", look_.text, "Text that the model reads");
    CLI::Option* file =
        look->add_option("--text-file", look_.text_file, "The same from a file")->check(CLI::ExistingFile);
    file->excludes(text);
    look->add_option("--layer", look_.layer, "This layer alone, from 0: of --mute, or of what is shown")
        ->check(CLI::NonNegativeNumber);
    look->add_option("--head", look_.head, "This head alone, from 0: of --mute, or of what is shown")
        ->check(CLI::NonNegativeNumber);
    look->add_option("--mute", look_.change.mute,
                     "Pairs that are left out of the scores, such as 24-31; 0 rotates fastest");
    look->add_flag("--mute-heads", look_.change.mute_heads, "These heads (--layer, --head) add nothing");
    look->add_flag("--no-rotation", look_.change.no_rotation, "Queries and keys are not rotated");
    look->add_flag("--no-value-rotation", look_.change.no_value_rotation,
                   "Of RoPER: values, and outputs, are not rotated");
    look->add_flag("--no-inverse", look_.change.no_inverse, "Of RoPER: outputs are not rotated back");
    look->add_option("--shift", look_.change.shift, "Added to every position of the rotation")
        ->check(CLI::Range(-100'000'000, 100'000'000));
    look->add_option("--base", look_.change.base, "Base of the frequencies in place of the model's own")
        ->check(numberFrom(1.01, 1e15));
    look->add_option("--scaling", look_.scaling, "How frequencies are changed")
        ->check(CLI::IsMember(scalingNames()))
        ->capture_default_str();
    look->add_option("--factor", look_.change.factor,
                     "Of --scaling: how much longer texts are than those of training")
        ->check(numberFrom(1, 10000))
        ->capture_default_str();
    look->add_option("--original-length", look_.change.original_length,
                     "Of --scaling: tokens of the texts of training; what the model says if not given")
        ->check(numberFrom(1, 1e9));
    look->add_option("--out", look_.out, "Of attention: a .safetensors or .csv file");
    look->add_option("--count", look_.count,
                     "Candidates of logits (5), tokens to generate (32), distances of kernels (32), bands of "
                     "subsets (4)")
        ->check(CLI::Range(1, 4096));
    look->add_option("--distance", look_.distance, "Of token_map: how far back the token is")
        ->check(CLI::Range(0, 1 << 20));
    look->add_option("--other", look_.other,
                     "Of patch: a text of as many tokens, to which another answer is right");
    look->add_option("--needle", look_.needle, "Of needle: the sentence that is hidden")
        ->capture_default_str();
    look->add_option("--question", look_.question, "Of needle: what is put after the text")
        ->capture_default_str();
    look->add_option("--answer", look_.answer, "Of needle: what should follow the question")
        ->capture_default_str();
    look->add_option("--temperature", look_.temperature, "Of generate: 0 takes the likeliest token")
        ->check(numberFrom(0, 100));
    look->add_option("--seed", look_.seed, "Of generate at a temperature");
    look->add_option("--threads", look_.threads, "CPU threads; 0 takes one per core")
        ->check(CLI::Range(0, 4096));
    look->add_flag("--json", look_.json, "One JSON object in a line");
    look->callback([this] {
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
