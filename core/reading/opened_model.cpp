#include "core/reading/opened_model.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/control/messages.h"
#include "core/corpus/open_task.h"
#include "core/reading/run_model.h"
#include "core/tokenizers/tokenizer_files.h"

namespace roper {

namespace {

/// Refuses a text with a token that the model lacks. @param rows  of the table of embeddings
void requireRows(const std::vector<std::int64_t>& ids, const Tokenizer& tokenizer, std::int64_t rows) {
    for (const std::int64_t id : ids)
        if (id >= rows)
            throw Error(ErrorKind::usage,
                        "the text needs the token " + quoteExcerpt(tokenizer.pieceOf(id)) + " (" +
                            std::to_string(id) +
                            "), for which the model has no embedding; it has embeddings for tokens 0 to " +
                            std::to_string(rows - 1));
}

/// @param rows  of the model's table of embeddings, if it is known
TextCodec codecOf(std::shared_ptr<const Tokenizer> tokenizer, std::optional<std::int64_t> rows = {}) {
    // A table of embeddings may have more rows than there are tokens, padded to a round number, and a
    // vocabulary may skip ids.
    const auto textOf = [tokenizer](std::int64_t id) {
        const std::string text = id < tokenizer->size() ? tokenizer->textOf(id) : "";
        return text.empty() ? "<unused " + std::to_string(id) + ">" : text;
    };
    const auto encode = [tokenizer, rows](std::string_view text) {
        std::vector<std::int64_t> ids = tokenizer->encode(text);
        if (rows) requireRows(ids, *tokenizer, *rows);
        return ids;
    };
    const TokenizerParts& parts = tokenizer->parts();
    return {encode,
            textOf,
            [tokenizer](std::int64_t id) { return tokenizer->isSpecial(id); },
            parts.prefix_ids.size(),
            parts.suffix_ids.size(),
            parts.mask_id};
}

TextCodec codecOf(std::shared_ptr<const Task> task) {
    const std::int64_t known = task->vocabulary().size();
    return {[task](std::string_view text) { return task->vocabulary().encode(text); },
            // A masked model has one additional token after its vocabulary, the mask.
            [task, known](std::int64_t id) {
                return id < known ? task->vocabulary().decode(id) : std::string("[mask]");
            },
            [known](std::int64_t id) { return id >= known; }, 0, 0, known};
}

Tokenizer openTokenizer(const FilePath& path) {
    if (path.path().extension() == ".json") return readTokenizerJson(path);
    if (hasTokenizer(path)) return readFolderTokenizer(path);
    const ModelLocation location = locateModel(path);
    return location.is_gguf ? tokenizerOf(GgufFile::read(location.path).metadata)
                            : readFolderTokenizer(location.path);
}

std::map<std::string, std::string> makeRunMetadata(const Specification& specification, std::int64_t step) {
    const Specification::Model m = withoutUnused(specification).afterSteps(step).model;
    std::map<std::string, std::string> metadata =
        ModelDescription{step,
                         m.position,
                         enumFromName<AttentionKind>(m.attention),
                         !specification.isMasked(),
                         m,
                         m.shared_kv ? m.rotary_fraction : m.value_rotary_fraction,
                         m.value_rotation_strength,
                         static_cast<int>(m.layers),
                         static_cast<int>(m.heads)}
            .toMetadata();
    for (const DeclaredSetting& setting : m.method().settings)
        metadata[setting.name] = m.specific_settings.asText(setting);
    return metadata;
}

std::vector<TrainedState> historyOf(const RunFolder& run) {
    std::vector<TrainedState> history;
    for (const StepFile& checkpoint : run.checkpoints())
        history.push_back({checkpoint.step, [run, at = checkpoint.step] { return openRunModel(run, at); }});
    return history;
}

OpenedModel openedRun(const RunFolder& run, const Specification& specification, PretrainedModel model,
                      std::shared_ptr<const Task> task, std::int64_t step) {
    const TextCodec codec = codecOf(task);
    return {std::move(model),
            codec,
            std::move(task),
            static_cast<std::uint64_t>(specification.training.data_seed),
            [run] { return historyOf(run); },
            makeRunMetadata(specification, step)};
}

}  // namespace

std::string TextCodec::decode(const std::vector<std::int64_t>& ids) const {
    std::string text;
    for (const std::int64_t id : ids)
        text += textOf(id);
    return text;
}

TextCodec openPublishedCodec(const FilePath& path) {
    return codecOf(std::make_shared<const Tokenizer>(openTokenizer(path)));
}

TextCodec openRunCodec(const RunFolder& run) {
    const Specification specification = run.specification();
    if (!isKnown("task.name", specification))
        throw Error(
            ErrorKind::usage,
            run.path().string() + " contains imported metrics, so its task and vocabulary are unknown");
    return codecOf(openTaskForInference(specification.task, run));
}

OpenedModel openPublished(const FilePath& path) {
    PretrainedModel model = openPretrainedModel(path);
    const auto tokenizer = std::make_shared<const Tokenizer>(model.gguf ? tokenizerOf(*model.gguf)
                                                                        : readFolderTokenizer(model.path));
    // Some tokenizers have a few tokens more than the model, such as those for pictures.
    const std::int64_t rows = model.architecture.vocabulary;
    if (tokenizer->size() > rows + rows / 8)
        throw Error(ErrorKind::checkpoint, tokenizer->parts().origin + ": the tokenizer has " +
                                               std::to_string(tokenizer->size()) + " tokens, the model " +
                                               std::to_string(rows) + ": they do not belong together");
    return {std::move(model), codecOf(tokenizer, rows), {}, 0};
}

OpenedModel openRun(const RunFolder& run, std::optional<std::int64_t> step) {
    const Specification specification = run.specification();
    std::shared_ptr<const Task> task = openTaskForInference(specification.task, run);
    // Chosen once, since a run in training may write a newer one at any time.
    const std::int64_t chosen = chooseCheckpoint(run, step).step;
    PretrainedModel model = openRunModel(run, chosen);
    const std::int64_t known = task->vocabulary().size();
    if (known > model.architecture.vocabulary)
        throw Error(ErrorKind::checkpoint, run.path().string() + ": the vocabulary has " +
                                               std::to_string(known) + " tokens, the model " +
                                               std::to_string(model.architecture.vocabulary));
    return openedRun(run, specification, std::move(model), std::move(task), chosen);
}

OpenedModel openTrainingModel(const RunFolder& run, const Specification& specification,
                              std::shared_ptr<const Task> task, std::int64_t step,
                              const std::vector<std::pair<std::string, at::Tensor>>& parameters) {
    auto store = std::make_shared<TensorStore>();
    for (const auto& [name, parameter] : parameters) {
        const at::Tensor plain = parameter.detach().to(at::kCPU, at::kFloat).contiguous();
        const auto* const first = static_cast<const std::byte*>(plain.const_data_ptr());
        const std::size_t file = store->addBytes(run.name(), {first, first + plain.nbytes()});
        store->add(name, {ElementType::F32, plain.sizes().vec(), file, 0});
    }
    return openedRun(run, specification,
                     convertRunModel(withoutUnused(specification).afterSteps(step), store, run.name()),
                     std::move(task), step);
}

}  // namespace roper
