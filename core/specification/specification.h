#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_path.h"
#include "core/fields/field.h"
#include "core/methods/position_method.h"
#include "core/tasks/task_kind.h"

namespace roper {

/// What the method of an imported run is called of which nobody said what it is (`About::method`).
inline constexpr auto kUnknownMethod = "imported";

/// What a run does. Plain data; `specificationFields()` holds the name, unit, default, bounds and
/// help of every member, and everything that reads, writes, checks or shows a specification goes through that
/// table. Where the names of a choice are text, `check` sees to it that they hold one of them.
struct Specification {
    struct About {
        std::string title;
        std::string teaches;
        std::string evidence;
        std::string measure = "auto";  ///< named before the runs: one of core/compare/outcome.h
        double minutes = 0;
        /// What the method is called where the run was imported and nobody said which of ours it is.
        std::string method;
        /// Of imported metrics: the keys of the settings that are known, with spaces between them. Empty: all
        /// are.
        std::string known;
    } about;

    TaskSettings task;

    struct Model : PositionSettings {
        std::string attention = "softmax";
        std::int64_t width = 128;
        std::int64_t layers = 3;
        std::int64_t heads = 4;
        std::int64_t feed_forward = 512;
        std::string norm = "pre";
        std::string activation = "gelu";
        double dropout = 0;
    } model;

    struct Training {
        std::string objective = "causal";
        double masked_share = 0.15;
        std::int64_t steps = 1000;
        std::int64_t batch = 16;
        std::int64_t length = 129;
        double learning_rate = 2e-3;
        std::int64_t warmup_steps = 100;
        std::string lr_schedule = "cosine";
        double final_fraction = 0.1;
        double beta1 = 0.9;
        double beta2 = 0.98;
        double epsilon = 1e-8;
        double weight_decay = 0;
        double clip_norm = 1;
        std::int64_t data_seed = 0;
        std::int64_t model_seed = 0;
        double frequency_rate = 0.01;
        std::int64_t report_every = 1;
    } training;

    struct Evaluation {
        std::int64_t every = 100;
        std::int64_t problems = 128;
        double temperature = 0;
        std::int64_t patience = 0;
    } evaluation;

    struct Snapshots {
        std::int64_t every = 0;
        std::int64_t tokens = 64;
    } snapshots;

    struct Checkpoints {
        std::int64_t every = 250;
        std::int64_t keep = 2;
    } checkpoints;

    struct Device {
        std::string name = "auto";
        std::int64_t threads = 0;
        std::string kernel = "auto";
        std::string precision = "auto";
    } device;

    /// The method that the run is shown and compared as: its name, and how it is written for people. Of an
    /// imported run it may be none of ours.
    const std::string& methodName() const { return about.method.empty() ? model.position : about.method; }
    const std::string& methodTitle() const {
        return about.method.empty() ? model.method().title : about.method;
    }

    /// Whether these are settings of imported metrics: of those that nobody said the members hold defaults,
    /// which are not facts (`isKnown`), and a run cannot be trained with them.
    bool isImported() const { return !about.method.empty() || !about.known.empty(); }

    std::int64_t headDim() const { return model.width / model.heads; }

    /// What position methods have to know of the model.
    ModelShape shape() const {
        return {model.width,
                model.layers,
                model.heads,
                training.length,
                snapshots.every > 0 ? snapshots.tokens : 0,
                !isMasked()};
    }

    /// Whether masked tokens are predicted from both sides, rather than each token from those before.
    bool isMasked() const { return training.objective == "masked"; }

    /// Tokens of a sequence that go into the model: a causal one has nothing to say after the last.
    std::int64_t inputLength() const { return isMasked() ? training.length : training.length - 1; }
};

/// One member of the specification.
using SpecificationField = Field<Specification>;

/// All members in the order in which they are written and shown.
const std::vector<SpecificationField>& specificationFields();

/// The field with this key ("model.width") or, where only one field has it, this bare name ("width").
/// @throws Error (usage) with the nearest known name
const SpecificationField& findField(std::string_view key);

/// Whether the value of a field is known. Of imported metrics that is what their file or a person said.
bool isKnown(const SpecificationField& field, const Specification& specification);
/// The same by the key of a field ("training.data_seed").
bool isKnown(std::string_view key, const Specification& specification);

/// Whether both seeds are known, so that a run may be paired with another of the same.
bool seedsAreKnown(const Specification& specification);

/// Everything that contradicts: width not divisible by heads, a prompt that does not fit, a value that this
/// run would never read, settings of imported metrics, … Empty if the run can start.
std::vector<SettingProblem> check(const Specification& specification);

/// Why a run of this specification never reads a field; nothing if it does.
std::optional<std::string> whyUnused(const SpecificationField& field, const Specification& specification);

/// The same with every field that the run never reads put back to its default. What one method of a
/// comparison needs and another does not know stays with the first.
Specification withoutUnused(Specification specification);

/// The same experiment with another position method, and nothing set that this method never reads.
Specification withPosition(Specification specification, const std::string& position);

/// Reads a specification; what the text does not name keeps its default.
/// @param origin  how errors name the text: usually its path
/// @throws Error (usage) with origin:line:column; an unknown key comes with the nearest known one
Specification parseSpecification(std::string_view toml, const std::string& origin);
Specification readSpecification(const FilePath& path);

/// Every field that is known, with its unit and help as comment; reads back as the same specification.
std::string toToml(const Specification& specification);

/// Whether a text names a device: auto, cpu, cuda or cuda:N.
bool isDeviceName(const std::string& name);

/// Applies "key=value" (key as for `findField`). @throws Error (usage)
void applySetting(Specification& specification, std::string_view setting);

/// @throws Error (usage) listing every problem, if there is one
void requireValid(const Specification& specification, const std::string& origin);

/// The table of all fields in Markdown, for docs/specification.md.
std::string fieldsAsMarkdown();

}  // namespace roper
