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
#include "core/rotary/head_layout.h"
#include "core/tasks/task_kind.h"

namespace roper {

/// The method's name for an imported run whose method was not given (`About::method`).
inline constexpr auto kUnknownMethod = "imported";

/// What a run does. Plain data; `specificationFields()` holds the name, unit, default, bounds and help of
/// every member, and everything that reads, writes, checks or shows a specification goes through that table.
/// Choices stored as text are validated by `check`.
struct Specification {
    struct About {
        std::string title;
        std::string teaches;
        std::string evidence;
        std::string measure = "auto";  ///< chosen before the runs, from core/compare/outcome.h
        double minutes = 0;
        /// The method's name, if the run was imported and its method may be unknown to this program.
        std::string method;
        /// For imported metrics: the keys of the known settings, separated by spaces. Empty: all are known.
        std::string known;
    } about;

    TaskSettings task;

    struct Model : PositionSettings {
        std::string attention = "softmax";
        std::int64_t width = 128;
        std::int64_t layers = 3;
        std::int64_t heads = 4;
        std::int64_t kv_heads = 0;     ///< 0: as many as heads
        std::int64_t latent_rank = 0;  ///< 0: keys and values are computed from x
        bool qk_norm = false;
        bool attention_sinks = false;
        std::int64_t window = 0;
        std::int64_t feed_forward = 512;
        std::string block = "classic";
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
        std::string initial_weights;  ///< a run or checkpoint; empty: random
        std::int64_t value_rotation_warmup = 0;
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

    /// Name and title of the method under which the run is shown and compared. An imported run may have used
    /// a method that this program does not know.
    const std::string& methodName() const { return about.method.empty() ? model.position : about.method; }
    const std::string& methodTitle() const {
        return about.method.empty() ? model.method().title : about.method;
    }

    /// Whether these are the settings of imported metrics. Unknown ones then hold defaults, which are not
    /// facts (`isKnown`), and no run can be trained with them.
    bool isImported() const { return !about.method.empty() || !about.known.empty(); }

    std::int64_t headDim() const { return model.width / model.heads; }

    /// The heads of a layer's attention, and where they are in its joint projection to q, k and v.
    HeadLayout headLayout() const {
        return {model.heads, model.kv_heads > 0 ? model.kv_heads : model.heads, headDim(), model.shared_kv};
    }

    /// What position methods need to know about the model.
    ModelShape shape() const {
        return {model.width,
                model.layers,
                model.heads,
                training.length,
                snapshots.every > 0 ? snapshots.tokens : 0,
                !isMasked()};
    }

    /// Whether the model predicts masked tokens from both sides, rather than each token from the preceding
    /// ones.
    bool isMasked() const { return training.objective == "masked"; }

    /// Whether blocks have RMSNorm, SwiGLU and no biases.
    bool isModern() const { return model.block == "modern"; }

    /// The specification of the model as it is after `step` steps: during `training.value_rotation_warmup`,
    /// its values rotate at a fraction of `model.value_rotation_strength`.
    Specification afterSteps(std::int64_t step) const;
    double valueRotationStrengthAfter(std::int64_t step) const;

    /// Tokens of a sequence that enter the model. A causal model predicts nothing after the last one.
    std::int64_t inputLength() const { return isMasked() ? training.length : training.length - 1; }
};

/// A field for one member of the specification.
using SpecificationField = Field<Specification>;

/// All fields in the order in which they are written and shown.
const std::vector<SpecificationField>& specificationFields();

/// The field with this key ("model.width") or, if it is unique, this bare name ("width").
/// @throws Error (usage) with the nearest known name
const SpecificationField& findField(std::string_view key);

/// Whether the value of a field is known; for imported metrics, whether the file or the user stated it.
bool isKnown(const SpecificationField& field, const Specification& specification);
/// The same by the key of a field ("training.data_seed").
bool isKnown(std::string_view key, const Specification& specification);

/// Whether both seeds are known, so that the run can be paired with another run of the same seeds.
bool seedsAreKnown(const Specification& specification);

/// All contradictions: a width not divisible by the number of heads, a prompt that does not fit, a setting
/// that this run never reads, settings of imported metrics, … Empty if the run can start.
std::vector<SettingProblem> check(const Specification& specification);

/// Why a run of this specification never reads the field; nullopt if it does.
std::optional<std::string> unusedReason(const SpecificationField& field, const Specification& specification);

/// The specification with all fields that the run never reads reset to their defaults. When methods are
/// compared, this removes settings that only another method needs.
Specification withoutUnused(Specification specification);

/// The same experiment with another position method, without settings that this method never reads.
Specification withPosition(Specification specification, const std::string& position);

/// Parses a specification; fields that the text does not name keep their defaults.
/// @param origin  name of the text in errors, usually its path
/// @throws Error (usage) with origin:line:column; for an unknown key, with the nearest known one
Specification parseSpecification(std::string_view toml, const std::string& origin);
Specification readSpecification(const FilePath& path);

/// All known fields with unit and help as comments. Parsing the result gives the same specification.
std::string toToml(const Specification& specification);

/// Whether the text is the name of a device: auto, cpu, cuda or cuda:N.
bool isDeviceName(const std::string& name);

/// Applies "key=value", with the key as in `findField`. @throws Error (usage)
void applySetting(Specification& specification, std::string_view setting);

/// @throws Error (usage) listing all problems, if there are any
void requireValid(const Specification& specification, const std::string& origin);

/// A Markdown table of all fields, for docs/specification.md.
std::string fieldsAsMarkdown();

}  // namespace roper
