// Commands about one model: eval and export run that of a run, tokens tokenizes texts as the model does.
// models lists the models that other programs have downloaded, and what it takes to read them.

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/pretrained/model_stores.h"
#include "core/reading/answer_writer.h"
#include "core/reading/gpt_neox_export.h"
#include "core/reading/opened_model.h"
#include "core/reading/reading_memory.h"
#include "core/runs/run_recorder.h"
#include "core/training/exports.h"
#include "core/training/run_evaluation.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

/// Length of the text to which the stated memory refers, in tokens.
constexpr std::int64_t kTokens = 500;

/// A model of a store with what its files say.
struct ModelDetails {
    std::string family, type;  ///< type: number type of most parameters, "Q4_K"
    std::int64_t parameters = 0;
    std::uint64_t bytes = 0;   ///< of the tensors as stored
    double memory_bytes = 0;   ///< minimum for a text of kTokens tokens
    std::string problem = {};  ///< why the model cannot be read; empty if it can
};

std::string typeOfMost(const TensorStore& tensors) {
    std::map<std::string, std::int64_t> elements;
    for (const auto& [name, tensor] : tensors.tensors())
        elements[tensor.quantized ? "quantized" : nameOf(tensor.type)] += tensor.count();
    const auto most = std::max_element(elements.begin(), elements.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == elements.end() ? std::string() : most->first;
}

ModelDetails detailsOf(const StoredModel& stored) {
    ModelDetails details;
    try {
        const OpenedModel opened = openPublished(FilePath::regular(stored.path));
        const PretrainedModel& model = opened.model;
        details.family = model.architecture.family;
        details.type = typeOfMost(*model.tensors);
        details.parameters = model.weights.parameters;
        for (std::size_t file = 0; file < model.tensors->fileCount(); ++file)
            details.bytes += model.tensors->sizeOfFile(file);
        details.memory_bytes =
            minReadingBytes(model.architecture, kTokens) + largestMatrixBytes(model.architecture);
    } catch (const Error& error) {
        details.problem = error.what();
    }
    return details;
}

Json jsonOf(const StoredModel& stored, const ModelDetails& details) {
    Json json = {{"title", stored.title}, {"program", stored.program}, {"path", stored.path.string()}};
    if (!details.problem.empty()) {
        json["problem"] = details.problem;
        return json;
    }
    json.update({{"family", details.family},
                 {"parameters", details.parameters},
                 {"type", details.type},
                 {"bytes", details.bytes},
                 {"memory_bytes", details.memory_bytes}});
    return json;
}

void printModel(const StoredModel& stored, const ModelDetails& details) {
    std::cout << toSingleLine(stored.title) << " (" << stored.program << ")\n";
    if (details.problem.empty())
        std::cout << "  " << details.family << ", "
                  << formatWithUnit(static_cast<double>(details.parameters),
                                    {"", "thousand", "million", "billion", "trillion"})
                  << " parameters, " << details.type << ", "
                  << formatBytes(static_cast<double>(details.bytes)) << "; reading " << kTokens
                  << " tokens takes at least " << formatBytes(details.memory_bytes) << " of memory\n";
    else
        std::cout << "  cannot be opened: " << toSingleLine(details.problem) << "\n";
    std::cout << "  " << toSingleLine(stored.path.string()) << "\n";
}

}  // namespace

namespace fs = std::filesystem;

namespace {

/// The factor with which rows of a scaling are saved.
double factorOf(const Scaling& scaling) {
    return scaling.method == ScalingMethod::none ? 1.0 : scaling.factor;
}

std::vector<SizeRow> sizeRows(const SizeScores& scores) {
    std::vector<SizeRow> rows;
    for (const SizeScore& score : scores.scores)
        rows.push_back({scores.step, nameOf(scores.scaling.method), factorOf(scores.scaling),
                        score.size.first, score.size.second, score.correct, score.of, score.fully_correct});
    return rows;
}

int printScoresBySize(const SizeScores& scores, bool json) {
    if (json) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const SizeScore& score : scores.scores) {
            list.push_back({score.size.first, score.size.second, score.correct, score.of});
            if (score.fully_correct) list.back().push_back(*score.fully_correct);
        }
        print({{"step", scores.step}, {"names", scores.names}, {"scores", list}});
        return 0;
    }
    const bool has_working = !scores.scores.empty() && scores.scores.front().fully_correct;
    std::cout << join(scores.names, ",") << ",correct,of" << (has_working ? ",fully_correct" : "") << "\n";
    for (const SizeScore& score : scores.scores) {
        std::cout << score.size.first << "," << score.size.second << "," << score.correct << "," << score.of;
        if (score.fully_correct) std::cout << "," << *score.fully_correct;
        std::cout << "\n";
    }
    return 0;
}

void evaluateByPosition(const RunFolder& folder, const ReadingOptions& reading, const EvalOptions& eval,
                        bool json) {
    const PositionLosses losses = lossByPosition(folder, reading, eval.evaluation);
    std::vector<PositionRow> rows;
    for (std::size_t t = 0; t < losses.losses.size(); ++t)
        rows.push_back({losses.step, eval.scaling, factorOf(eval.evaluation.scaling), losses.length,
                        static_cast<std::int64_t>(t), losses.losses[t]});
    if (eval.keep) savePositions(folder, rows);
    if (json) {
        print({{"step", losses.step}, {"length", losses.length}, {"losses", losses.losses}});
        return;
    }
    std::cout << formatRows(rows);
}

void evaluateAtLength(const RunFolder& folder, const ReadingOptions& reading, const EvalOptions& eval,
                      bool json) {
    const RunEvaluation evaluation = evaluateRun(folder, reading, eval.evaluation);
    const EvaluationRow& row = evaluation.row;
    const std::int64_t length = eval.evaluation.length.value_or(folder.specification().training.length);
    if (eval.keep && row.loss && !row.correct)
        saveLength(folder, {row.step, eval.scaling, factorOf(eval.evaluation.scaling), length, *row.loss,
                            row.tokens_correct.value_or(0), row.tokens_scored.value_or(0)});
    if (!eval.out.empty()) {
        std::string lines;
        for (const Sample& sample : evaluation.samples)
            lines += formatRow(sample) + "\n";
        writeFileAtomically(eval.out, lines);
    }
    if (json) {
        nlohmann::ordered_json object = rowJson(row);
        object["length"] = length;
        print(object);
        return;
    }
    std::cout << "step " << row.step;
    if (eval.lengths.size() > 1) std::cout << ", " << length << " tokens";
    std::cout << ": " << evaluationText(row) << "\n";
}

/// The scaling with LongRoPE's list. @throws Error (usage) for a list without LongRoPE, or vice versa
Scaling scalingOf(const EvalOptions& eval) {
    Scaling scaling = eval.evaluation.scaling;
    scaling.method = enumFromName<ScalingMethod>(eval.scaling);
    const bool is_longrope = scaling.method == ScalingMethod::longrope;
    if (is_longrope == eval.long_factors.empty())
        throw Error(ErrorKind::usage, is_longrope ? "--scaling longrope needs --long-factors"
                                                  : "--long-factors works only with --scaling longrope");
    scaling.long_factors = Eigen::Map<const Eigen::VectorXd>(
        eval.long_factors.data(), static_cast<Eigen::Index>(eval.long_factors.size()));
    return scaling;
}

}  // namespace

int evalCommand(const CheckpointOptions& options, EvalOptions eval) {
    std::optional<ExitOnClosedOutput> exit_on_closed_output;
    if (eval.out.empty() && !eval.keep) exit_on_closed_output.emplace();
    if (!eval.out.empty()) eval.out = outputPath(eval.out);
    const RunFolder folder = findRun(options.run, options.runs);
    const ReadingOptions reading{options.step, options.device,
                                 [](const std::string& line) { std::cerr << line << "\n"; }};
    eval.evaluation.scaling = scalingOf(eval);
    if (eval.by_size) {
        const SizeScores scores = evaluateRunBySize(folder, reading, eval.evaluation);
        if (eval.keep) saveSizes(folder, sizeRows(scores));
        return printScoresBySize(scores, options.json);
    }
    const auto evaluate = [&] {
        if (eval.by_position)
            evaluateByPosition(folder, reading, eval, options.json);
        else
            evaluateAtLength(folder, reading, eval, options.json);
    };
    const bool has_problems = folder.specification().task.hasProblems();
    if (eval.keep && has_problems && !eval.by_position)
        throw Error(ErrorKind::usage, "solved problems are recorded by size: add --by-size to --keep");
    if (!eval.out.empty() && eval.lengths.size() > 1)
        throw Error(ErrorKind::usage, "--out writes the texts of one --length, not of several");
    if (eval.lengths.empty()) evaluate();
    for (const std::int64_t length : eval.lengths) {
        eval.evaluation.length = length;
        evaluate();
    }
    return 0;
}

int exportCommand(const CheckpointOptions& options, const std::string& what, const std::string& text,
                  const fs::path& named, const std::string& precision) {
    if (what == "huggingface") {
        for (const std::string& note : exportGptNeox(findRun(options.run, options.runs), options.step, named))
            std::cerr << "roper-train: " << note << "\n";
        std::cerr << "wrote " << named.string() << "\n";
        return 0;
    }
    const fs::path out = outputPath(named);
    std::vector<std::string> suffixes = {".safetensors"};
    if (what == "metrics") suffixes = {".csv"};
    if (what == "attention" || what == "norms") suffixes.emplace_back(".csv");
    if (std::find(suffixes.begin(), suffixes.end(), out.extension()) == suffixes.end())
        throw Error(ErrorKind::usage,
                    what + " is written as " + join(suffixes, " or ") + ", not as \"" + out.string() + "\"");
    if (precision == "bf16" && (what == "weights" || what == "metrics"))
        throw Error(ErrorKind::usage, "--precision has no effect on " + what +
                                          "; it sets the precision of logits, attention and norms");
    const RunFolder folder = findRun(options.run, options.runs);
    const ReadingOptions reading{options.step, options.device, {}, precision};
    if (what == "attention") {
        exportAttention(folder, reading, text, out);
    } else if (what == "norms") {
        exportNorms(folder, reading, text, out);
    } else if (what == "logits") {
        exportLogits(folder, reading, text, out);
    } else if (what == "weights") {
        exportWeights(folder, reading, out);
    } else {
        writeFileAtomically(out, [&](const AppendBytes& append) {
            append(bytesOf(headerLine<MetricsRow>() + "\n"));
            folder.forEachRow<MetricsRow>(
                [&](const MetricsRow& row) { append(bytesOf(formatRow(row) + "\n")); });
        });
    }
    std::cerr << "wrote " << out.string() << "\n";
    return 0;
}

int modelsCommand(bool json) {
    const ExitOnClosedOutput exit_on_closed_output;
    const std::vector<StoredModel> models = storedModels();
    for (const StoredModel& stored : models) {
        const ModelDetails details = detailsOf(stored);
        if (json)
            print(jsonOf(stored, details));
        else
            printModel(stored, details);
        std::cout << std::flush;
    }
    if (!json && models.empty())
        std::cerr << "roper-train: no models found in the caches of Hugging Face, LM Studio, Ollama and "
                     "llama.cpp\n";
    return 0;
}

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxTextsFileBytes = 256U << 20U;

/// Whether this is a tokenizer or a published model rather than a run. A tokenizer.json may be in a folder
/// without a config.json, or have another name.
bool isPretrainedTokenizer(const fs::path& model) {
    return model.extension() == ".json" || pathExists(model / "tokenizer.json") || isPretrainedModel(model);
}

/// Texts from a file with one JSON string per line.
std::vector<std::string> textsOf(const fs::path& path) {
    std::vector<std::string> texts;
    std::istringstream lines(readFile(path, kMaxTextsFileBytes));
    for (std::string line; std::getline(lines, line);) {
        const auto refuse = [&](const std::string& why) {
            return Error(ErrorKind::usage,
                         path.string() + ": line " + std::to_string(texts.size() + 1) + why);
        };
        try {
            texts.push_back(parseStrictJson(line).get<std::string>());
        } catch (const nlohmann::json::type_error&) {
            throw refuse(" is not a JSON string (text in quotation marks)");
        } catch (const std::invalid_argument& error) {
            throw refuse(std::string(": ") + error.what());
        }
    }
    return texts;
}

std::vector<std::int64_t> idsOf(const TextCodec& codec, const std::string& text) {
    try {
        return codec.encode(text);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, error.what());
    }
}

void printText(const TextCodec& codec, const std::vector<std::int64_t>& ids) {
    for (const std::int64_t id : ids)
        std::cout << id << "\t" << formatToken(codec.textOf(id)) << (codec.isSpecial(id) ? "\tspecial" : "")
                  << "\n";
    std::cout << countOf(ids.size(), "token") << "\n";
}

}  // namespace

int tokensCommand(const TokensOptions& options) {
    const ExitOnClosedOutput exit_on_closed_output;
    std::vector<std::string> texts = options.texts;
    if (!options.texts_file.empty()) texts = textsOf(options.texts_file);
    const TextCodec codec = isPretrainedTokenizer(options.model)
                                ? openPublishedCodec(options.model)
                                : openRunCodec(findRun(options.model.string(), options.runs));
    const auto answer = [&](const std::string& text) {
        const std::vector<std::int64_t> ids = idsOf(codec, text);
        if (!options.json) return printText(codec, ids);
        std::vector<std::string> tokens;
        for (const std::int64_t id : ids)
            tokens.push_back(codec.textOf(id));
        print({{"ids", ids}, {"tokens", tokens}});
    };
    return answerEach(texts, options.json, answer, [](const std::string&) { return Json::object(); });
}

}  // namespace roper
