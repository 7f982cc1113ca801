#include <algorithm>
#include <cctype>

#include "app/roper_train/command_line.h"
#include "core/base/error.h"
#include "core/base/text.h"

// The look command: questions about a model.

namespace roper {
namespace {

/// What a command accepts as a model, found by locateModel and findRun.
constexpr const char* kModels =
    "a run, a GGUF file (or one part of a split one), a Hugging Face folder, or an Ollama manifest";

std::vector<std::string> printedQuestions() {
    std::vector<std::string> names;
    for (const QuestionKind& kind : questionKinds())
        if (kind.is_printed) names.push_back(kind.name);
    return names;
}

/// The questions, one per line, with the meaning and default of --count:
/// "  logits   most likely next tokens after each token (--count: candidates, default 5)"
std::string questionTable() {
    std::size_t width = 0;
    for (const std::string& name : printedQuestions())
        width = std::max(width, name.size());
    std::string table = "Questions (--what):\n";
    for (const QuestionKind& kind : questionKinds()) {
        if (!kind.is_printed) continue;
        table += "  " + kind.name + std::string(width - kind.name.size() + 2, ' ') + kind.help;
        if (!kind.count_meaning.empty())
            table +=
                " (--count: " + kind.count_meaning + ", default " + std::to_string(kind.default_count) + ")";
        table += "\n";
    }
    return table +
           "\nExamples:\n"
           "  roper-train look model.gguf --what loss --text \"Hello, world\"\n"
           "  roper-train look model.gguf --what attention --layer 3 --head 4 --text-file a.txt "
           "--out a.csv\n"
           "  roper-train look model.gguf --what loss --text-file a.txt --ablate \"2.1;all:24-31\"";
}

/// "--no-rotation" for "no_rotation"
std::string optionOf(std::string setting) {
    std::ranges::replace(setting, '_', '-');
    return "--" + setting;
}

/// Refuses options that the question does not use. @throws CLI::ValidationError naming the option
void requireUsedByQuestion(const CLI::App& look, const Question& question) {
    const QuestionKind& kind = question.kind();
    const auto refuse = [&](const std::string& setting) {
        std::vector<std::string> users;
        for (const QuestionKind& one : questionKinds())
            if (one.isUsedSetting(setting) && one.is_printed) users.push_back(one.name);
        std::string why;
        if (setting != "count" && setting != "text")
            why = users.size() > 4 ? ": it uses the unmodified parameters" : "; only by " + join(users, ", ");
        throw CLI::ValidationError(optionOf(setting), "is not used by --what " + kind.name + why);
    };
    const bool scales = look.get_option("--scaling")->count() > 0;
    const auto require_used = [&](const std::string& setting) {
        const CLI::Option* const option = look.get_option_no_throw(optionOf(setting));
        if (option != nullptr && option->count() > 0 && !kind.isUsedSetting(setting, scales)) refuse(setting);
    };
    for (const Field<Question>& field : questionFields()) {
        // If the answer is not about single heads, --layer and --head select the heads to change.
        const bool selects_heads = field.name == "layer" || field.name == "head";
        if (field.name != "text" && !(selects_heads && kind.accepts_changes)) require_used(field.name);
    }
    require_used("out");
    require_used("text");
}

/// Whether the command line gives this setting by an option that addSettings does not add.
bool hasDedicatedOption(const std::string& setting) {
    return setting == "what" || setting == "text" || setting == "positions" || setting == "change_layer" ||
           setting == "change_head";
}

/// An option for each setting of a question.
void addSettings(CLI::App* look, Question& question) {
    for (const Field<Question>& field : questionFields()) {
        if (hasDedicatedOption(field.name)) continue;
        std::string help = field.help;
        help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
        if (field.name == "layer" || field.name == "head")
            help += "; for questions about all heads: " + field.name +
                    " to which --no-rotation, --no-value-rotation and --no-inverse apply";
        const std::string option = optionOf(field.name);
        const auto set = [&field, &question, option](const std::string& text) {
            try {
                field.set(question, text);
            } catch (const Error& error) {
                const std::string message = error.what(), prefix = field.name + " ";
                throw CLI::ValidationError(option,
                                           message.substr(message.starts_with(prefix) ? prefix.size() : 0));
            }
        };
        if (std::holds_alternative<Flag>(field.accepts)) {
            look->add_flag_callback(
                option, [set] { set("1"); }, help);
            continue;
        }
        CLI::Option* const added = look->add_option_function<std::string>(option, set, help);
        added->type_name(field.isText() && !field.isChoice() ? "TEXT" : acceptsText(field));
        if (field.name == "ablate") added->join(';')->allow_extra_args(false);
        if (const std::string default_text = field.text(question); !default_text.empty())
            added->default_str(default_text);
    }
}

}  // namespace

void CommandLine::addLook() {
    CLI::App* look =
        command("look", "Ask a question about a model: a training run, a GGUF file or a Hugging Face folder");
    look->add_option("model", look_.model, std::string("One of: ") + kModels)->required();
    addRunsFolder(look);
    look->add_option("--step", look_.step, "For a run: step of the checkpoint (default: the newest)");
    look->add_option("--what", look_.question.what, "Question (see below)")
        ->required()
        ->transform([](const std::string& name) {
            const auto former = formerQuestionNames().find(name);
            return former == formerQuestionNames().end() ? name : former->second;
        })
        ->check(CLI::IsMember(printedQuestions()));
    CLI::Option* text = look->add_option("--text", look_.question.text, "Input text");
    CLI::Option* file = look->add_option("--text-file", look_.text_file, "File that contains the text")
                            ->check(CLI::ExistingFile);
    file->excludes(text);
    addSettings(look, look_.question);
    look->add_option("--out", look_.out, "For attention: file to write, .safetensors or .csv");
    look->add_option("--threads", look_.threads, "CPU threads; 0: one per core")->check(CLI::Range(0, 4096));
    CLI::Option* csv = look->add_flag_callback(
        "--csv", [this] { look_.format = AnswerFormat::csv; }, "Print comma-separated values");
    look->add_flag_callback(
            "--json", [this] { look_.format = AnswerFormat::json; }, "Print JSON, one object per line")
        ->excludes(csv);
    look->footer(questionTable());
    look->callback([this, look] {
        requireUsedByQuestion(*look, look_.question);
        action_ = withRuns(look_, lookCommand);
    });
}

void CommandLine::addRotation() {
    CLI::App* rotation =
        command("rotation", "Show how models rotate: a config.json, a model's folder, a GGUF file or a run");
    rotation->add_option("models", rotation_.models, std::string("Each one of: a config.json, ") + kModels)
        ->required();
    rotation
        ->add_option("--tokens", rotation_.tokens,
                     "Length of the text in tokens, on which dynamic scaling and LongRoPE depend")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    rotation->add_flag("--json", rotation_.json, "One JSON object per model: layers with all θ, and notes");
    addRunsFolder(rotation);
    setAction(rotation, withRuns(rotation_, rotationCommand));
}

void CommandLine::addModels() {
    CLI::App* models = command("models",
                               "List the models that Hugging Face's tools, LM Studio, Ollama and llama.cpp "
                               "have downloaded");
    models->add_flag("--json", read_.json, "One JSON object per model");
    setAction(models, [this] { return modelsCommand(read_.json); });
}

void CommandLine::addFamilies() {
    CLI::App* families = command(
        "families",
        "Compare how models rotate: one row for the layers of a model with the same rotation and window");
    families->add_option("models", families_.models,
                         std::string("Each one of: a config.json, ") + kModels +
                             " (default: all that `roper-train models` lists)");
    families->add_flag("--well-known", families_.well_known,
                       "Also list the rotations of well-known models, which need not be on this machine");
    families->add_option(
        "--text", families_.text,
        "Also measure attention on this text: the fraction of the scores' variance due to slow "
        "pairs, and the mean distance");
    families->add_option("--threads", families_.threads, "CPU threads; 0: one per core")
        ->check(CLI::Range(0, 4096));
    families->add_flag("--json", families_.json, "One JSON object per row");
    addRunsFolder(families);
    setAction(families, withRuns(families_, familiesCommand));
}

void CommandLine::addTokens() {
    CLI::App* tokens = command("tokens", "Tokenize texts: show the ids and the text of each token");
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
        action_ = withRuns(tokens_, tokensCommand);
    });
}

}  // namespace roper
