// Commands about the model of a run: eval evaluates it, export writes it or what it computes to a file.

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/reading/gpt_neox_export.h"
#include "core/runs/run_recorder.h"
#include "core/training/exports.h"
#include "core/training/run_evaluation.h"

namespace roper {
namespace fs = std::filesystem;

namespace {

/// The scaling factor in saved rows: 1 without scaling.
double factorOf(const Scaling& scaling) {
    return scaling.method == ScalingMethod::none ? 1.0 : scaling.factor;
}

std::vector<SizeRow> sizeRows(const SizeScores& scores) {
    std::vector<SizeRow> rows;
    for (const SizeScore& score : scores.scores)
        rows.push_back({scores.step, nameOf(scores.scaling.method), factorOf(scores.scaling),
                        score.size.first, score.size.second, score.correct, score.total,
                        score.fully_correct});
    return rows;
}

int printScoresBySize(const SizeScores& scores, bool json) {
    if (json) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const SizeScore& score : scores.scores) {
            list.push_back({score.size.first, score.size.second, score.correct, score.total});
            if (score.fully_correct) list.back().push_back(*score.fully_correct);
        }
        print({{"step", scores.step}, {"names", scores.names}, {"scores", list}});
        return 0;
    }
    const bool has_working = !scores.scores.empty() && scores.scores.front().fully_correct;
    std::cout << join(scores.names, ",") << ",correct,of" << (has_working ? ",fully_correct" : "") << "\n";
    for (const SizeScore& score : scores.scores) {
        std::cout << score.size.first << "," << score.size.second << "," << score.correct << ","
                  << score.total;
        if (score.fully_correct) std::cout << "," << *score.fully_correct;
        std::cout << "\n";
    }
    return 0;
}

void evaluateByPosition(const RunFolder& folder, const ModelLoadOptions& reading, const EvalOptions& eval,
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

void evaluateAtLength(const RunFolder& folder, const ModelLoadOptions& reading, const EvalOptions& eval,
                      bool json) {
    const Evaluation evaluation = evaluateRun(folder, reading, eval.evaluation);
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

/// The scaling given by the options. @throws Error (usage) for LongRoPE without --long-factors, or vice versa
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
    const ModelLoadOptions reading{options.step, options.device,
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
    if (!hasElement(suffixes, out.extension().string()))
        throw Error(ErrorKind::usage,
                    what + " is written as " + join(suffixes, " or ") + ", not as \"" + out.string() + "\"");
    if (precision == "bf16" && (what == "weights" || what == "metrics"))
        throw Error(ErrorKind::usage, "--precision has no effect on " + what +
                                          "; it sets the precision of logits, attention and norms");
    const RunFolder folder = findRun(options.run, options.runs);
    const ModelLoadOptions reading{options.step, options.device, {}, precision};
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

}  // namespace roper
