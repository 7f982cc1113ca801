#include "core/training/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/fingerprint.h"
#include "core/base/text.h"
#include "core/operators/tensor_data.h"
#include "core/runs/run_folder.h"
#include "core/specification/presets.h"
#include "core/training/optimizer.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "roper-lab-checkpoint-2";
constexpr const char* kLegacyFormat = "roper-lab-checkpoint-1";  // its checksum covers only the tensors
constexpr const char* kChecksum = "checksum";

std::string meanName(const std::string& parameter) {
    return std::string("optimizer.mean.").append(parameter);
}

std::string squareName(const std::string& parameter) {
    return std::string("optimizer.square.").append(parameter);
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
    const auto parts = mapped(shape, [](std::int64_t dimension) { return std::to_string(dimension); });
    return std::string("[").append(join(parts, ", ")).append("]");
}

/// Copies a stored tensor into one of the same shape and type.
void restore(const SafetensorsFile& file, const std::string& name, at::Tensor target) {
    const SafetensorsFile::Tensor& stored = file.tensor(name);
    const at::Tensor plain = at::empty_like(target.detach(), at::kCPU, at::MemoryFormat::Contiguous);
    if (stored.shape != plain.sizes().vec())
        throw Error(ErrorKind::checkpoint, file.origin() + ": tensor \"" + name + "\" has shape " +
                                               shapeText(stored.shape) + ", but the run's model needs " +
                                               shapeText(plain.sizes().vec()));
    if (stored.dtype != dtypeOf(plain))
        throw Error(ErrorKind::checkpoint, file.origin() + ": tensor \"" + name + "\" is " +
                                               dtypeName(stored.dtype) +
                                               ", but the run's model needs another type");
    std::memcpy(plain.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
    const at::NoGradGuard no_gradients;
    target.copy_(plain);
}

at::Generator generatorOf(const at::Device& device) {
    return at::globalContext().defaultGenerator(device);
}

std::vector<at::Device> generatorDevices(const Transformer& model) {
    const at::Device device = model.parameters().front().second.device();
    if (device.is_cpu()) return {device};
    return {at::Device(at::kCPU), device};
}

std::string generatorName(const at::Device& device) {
    return device.is_cpu() ? "random.cpu" : "random.cuda";
}

using Metadata = std::map<std::string, std::string>;

/// Checksum of a whole checkpoint, with tensors ordered by name; in the legacy format only of the tensors'
/// names and bytes. A tensor may be written in pieces whose sizes are multiples of eight bytes.
std::string checksumOf(const Metadata& metadata, std::vector<TensorToWrite> tensors) {
    const bool is_legacy = metadata.at("format") == kLegacyFormat;
    std::ranges::sort(tensors, {}, &TensorToWrite::name);
    Fingerprint sum;
    for (const auto& [key, value] : metadata)
        if (!is_legacy && key != kChecksum) sum.add(key).add("=").add(value).add("\n");
    for (const TensorToWrite& tensor : tensors) {
        sum.add(tensor.name);
        if (!is_legacy) sum.add(dtypeName(tensor.dtype)).add(shapeText(tensor.shape));
        tensor.appendTo([&](std::span<const std::byte> bytes) { sum.addWords(bytes); });
    }
    return sum.text();
}

/// @throws Error (checkpoint) if the format is unknown or the checksum differs. The oldest checkpoints have
/// no checksum and are accepted.
void requireUndamaged(const std::string& origin, const Metadata& metadata,
                      std::vector<TensorToWrite> tensors) {
    const auto entry = [&](const char* key) {
        const auto found = metadata.find(key);
        return found == metadata.end() ? std::string() : found->second;
    };
    const std::string format = entry("format"), written = entry(kChecksum);
    if (format != kFormat && format != kLegacyFormat)
        throw Error(ErrorKind::checkpoint, origin + ": its format is \"" + format + "\", not " + kFormat);
    if (written.empty() && format == kLegacyFormat) return;
    if (written != checksumOf(metadata, std::move(tensors)))
        throw Error(ErrorKind::checkpoint,
                    origin + " is damaged: its contents have changed since they were written");
}

void setState(const at::Device& device, const at::Tensor& state, const std::string& origin) {
    try {
        generatorOf(device).set_state(state);
    } catch (const c10::Error&) {
        throw Error(ErrorKind::checkpoint, origin + ": tensor \"" + generatorName(device) +
                                               "\" is not the state of a random generator");
    }
}

std::int64_t integerEntry(const SafetensorsFile& file, const std::string& key) {
    const auto value = parseInteger(file.entry(key));
    if (!value || *value < 0)
        throw Error(ErrorKind::checkpoint, file.origin() + ": entry \"" + key + "\" is not a whole number");
    return *value;
}

/// The specification stored in a checkpoint; nullopt if it cannot be read, as from some other versions.
std::optional<Specification> specificationIn(const std::map<std::string, std::string>& metadata,
                                             const std::string& origin) {
    const auto found = metadata.find("specification");
    if (found == metadata.end()) return std::nullopt;
    try {
        return withoutUnused(parseSpecification(found->second, origin));
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// Whether a field may change when a run is resumed.
bool mayChange(const SpecificationField& field) {
    static const std::set<std::string> sections = {"about", "device", "evaluation", "checkpoints",
                                                   "snapshots"};
    // A text is identified by its fingerprint, not its path.
    static const std::set<std::string> fields = {"training.steps", "training.report_every", "task.text"};
    return sections.count(field.section) > 0 || fields.count(field.key()) > 0;
}

std::int64_t parametersOfPositions(const Specification& s) {
    const auto& count = s.model.method().parameters;
    return count ? count(s.model, s.shape()) : 0;
}

[[noreturn]] void refuseWeights(const FilePath& path, const std::string& why) {
    throw Error(ErrorKind::usage, path.string() + " " + why);
}

/// A model may start from the weights of another if the two differ only in their position methods and if
/// these, when different, have no parameters.
/// @returns the other model's specification
/// @throws Error (usage) naming the first setting that must not differ
Specification requireSameArchitecture(const FilePath& path, const Specification& specification) {
    static const std::set<std::string> may_change = {"model.position",
                                                     "model.rotates",
                                                     "model.dropout",
                                                     "model.window",
                                                     "model.no_rotation_every",
                                                     "model.value_rotary_fraction",
                                                     "model.value_rotation_strength",
                                                     "model.rotary_fraction",
                                                     "model.base",
                                                     "model.frequency_formula"};
    // Only the header is read: another model may be of any size.
    const std::optional<Specification> theirs =
        specificationIn(SafetensorsHeader::read(path).metadata, path.string());
    if (!theirs)
        refuseWeights(path, "is not a checkpoint of this program, or its specification cannot be read");
    const Specification ours = withoutUnused(specification);
    const bool is_same_method = theirs->model.position == ours.model.position;
    if (!is_same_method && parametersOfPositions(*theirs) + parametersOfPositions(ours) > 0)
        refuseWeights(path, "is a model with model.position = " + theirs->model.position + ", not " +
                                ours.model.position +
                                ", and one of the two has parameters that the other lacks");
    const auto rotated = [](const Specification& s) { return s.model.rotation(s.headDim()).rotatedWidth(); };
    if (ours.model.latent_rank > 0 && rotated(*theirs) != rotated(ours))
        refuseWeights(
            path, "is a model with model.rotary_fraction = " + formatNumber(theirs->model.rotary_fraction) +
                      ", not " + formatNumber(ours.model.rotary_fraction) +
                      ", which changes the shapes of latent attention");
    for (const SpecificationField& field : specificationFields()) {
        if (field.section != "model" || may_change.count(field.key()) > 0) continue;
        if (unusedReason(field, *theirs) || unusedReason(field, ours)) continue;
        if (field.text(*theirs) != field.text(ours))
            refuseWeights(path, "is a model with " + field.key() + " = " + field.text(*theirs) + ", not " +
                                    field.text(ours));
    }
    return *theirs;
}

/// Whether an allowed change is mentioned to the user; the device is mentioned anyway.
bool isReported(const SpecificationField& field) {
    return field.section != "about" && field.section != "device" && field.key() != "task.text";
}

/// A sentence about how a new number of steps changes the learning rate from `step` on; empty if it does not.
std::string describeRateChange(const Specification::Training& before, const Specification::Training& now,
                               std::int64_t step) {
    const double was = learningRate(before, step), is = learningRate(now, step);
    if (before.steps == now.steps || was == is) return {};
    return "the " + now.lr_schedule + " schedule of the learning rate now ends at step " +
           std::to_string(now.steps) + ": from step " + std::to_string(step) +
           " on it follows the new course, " + formatRounded(is, 3) + " instead of " + formatRounded(was, 3);
}

}  // namespace

void saveCheckpoint(const FilePath& path, const Transformer& model, const AdamW& optimizer,
                    const TrainingPosition& position, const std::string& specification_toml,
                    const std::string& vocabulary) {
    TensorsToWrite tensors;
    for (const auto& [name, parameter] : model.parameters())
        tensors.add(name, parameter);
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
        const AdamW::Moments moments = optimizer.moments(i);
        tensors.add(meanName(model.parameters()[i].first), moments.mean);
        tensors.add(squareName(model.parameters()[i].first), moments.square);
    }
    for (const at::Device& device : generatorDevices(model))
        tensors.add(generatorName(device), generatorOf(device).get_state());
    Metadata metadata = {{"format", kFormat},
                         {"step", std::to_string(position.step)},
                         {"tokens", std::to_string(position.tokens)},
                         {"next_sequence", std::to_string(position.next_sequence)},
                         {"time_s", formatNumber(position.time_s)},
                         {"vocabulary", vocabulary},
                         {"specification", specification_toml}};
    for (auto& [key, value] : metadata)
        value = withValidUtf8(value);
    metadata[kChecksum] = checksumOf(metadata, tensors.views());
    writeSafetensors(path, tensors.views(), metadata);
}

void verifyCheckpoint(const FilePath& path, std::int64_t parameters) {
    requirePlausibleSize(path, parameters);
    const SafetensorsHeader header = SafetensorsHeader::read(path);
    const std::string origin = path.string();
    const Descriptor file = openFile(path, O_RDONLY);
    std::string piece(1U << 20U, '\0');
    std::vector<TensorToWrite> tensors;
    for (const auto& [name, entry] : header.tensors)
        tensors.push_back({.name = name,
                           .dtype = entry.dtype,
                           .shape = entry.shape,
                           .produce = [&, &entry = entry](const AppendBytes& append) {
                               for (std::uint64_t at = entry.begin; at < entry.end; at += piece.size()) {
                                   const std::span<char> part = std::span(piece).first(
                                       std::min<std::uint64_t>(piece.size(), entry.end - at));
                                   if (readAt(file, part, header.data_begin + at, origin) != part.size())
                                       throw Error(ErrorKind::checkpoint, origin + " has become shorter");
                                   append(std::as_bytes(part));
                               }
                           }});
    requireUndamaged(origin, header.metadata, std::move(tensors));
}

std::uint64_t requirePlausibleSize(const FilePath& path, std::int64_t parameters) {
    // header, generators, and possible additions of later versions
    constexpr std::uint64_t kOverheadBytes = 8U << 20U;
    constexpr std::uint64_t kBytesPerParameter =
        3 * sizeof(double);  // with AdamW's two moments, at most in float64
    const std::uint64_t max_bytes =
        kBytesPerParameter * static_cast<std::uint64_t>(parameters) + kOverheadBytes;
    if (fileSize(path) > max_bytes)
        throw Error(ErrorKind::checkpoint,
                    path.string() + " is larger than " + formatBytes(static_cast<double>(max_bytes)) +
                        ", the maximum for a checkpoint of the model in run.toml; it is not read");
    return max_bytes;
}

SafetensorsFile readCheckpoint(const FilePath& path, std::int64_t parameters) {
    const std::uint64_t max_bytes = requirePlausibleSize(path, parameters);
    SafetensorsFile file = SafetensorsFile::read(path, max_bytes);
    std::vector<TensorToWrite> tensors;
    for (const auto& [name, tensor] : file.tensors())
        tensors.push_back({name, tensor.dtype, tensor.shape, tensor.bytes});
    requireUndamaged(file.origin(), file.metadata(), std::move(tensors));
    return file;
}

void loadWeights(const SafetensorsFile& file, Transformer& model, const std::string& vocabulary) {
    if (file.entry("vocabulary") != vocabulary)
        throw Error(ErrorKind::checkpoint, file.origin() + " was trained on the vocabulary \"" +
                                               file.entry("vocabulary") + "\", this run uses \"" +
                                               vocabulary + "\"");
    for (const auto& [name, parameter] : model.parameters())
        restore(file, name, parameter);
}

std::string loadInitialWeights(const Specification& specification, const fs::path& runs,
                               const std::string& vocabulary, Transformer& model) {
    const fs::path given = initialWeightsPath(specification, runs);
    try {
        std::error_code unreadable;
        const FilePath path = fs::is_directory(given, unreadable)
                                  ? chooseCheckpoint(RunFolder(given), std::nullopt).path
                                  : FilePath::regular(given);
        const Specification theirs = requireSameArchitecture(path, specification);
        const SafetensorsFile file = readCheckpoint(path, model.parameterCount());
        loadWeights(file, model, vocabulary);
        return "initial weights from " + path.string() + ", step " +
               std::to_string(integerEntry(file, "step")) + " of " + std::to_string(theirs.training.steps);
    } catch (const Error& error) {
        // The kind of error for any setting that cannot be applied.
        throw Error(ErrorKind::usage, std::string("training.initial_weights: ") + error.what());
    }
}

TrainingPosition loadCheckpoint(const SafetensorsFile& file, Transformer& model, AdamW& optimizer,
                                const std::string& vocabulary) {
    loadWeights(file, model, vocabulary);
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
        const AdamW::Moments moments = optimizer.moments(i);
        restore(file, meanName(model.parameters()[i].first), moments.mean);
        restore(file, squareName(model.parameters()[i].first), moments.square);
    }
    for (const at::Device& device : generatorDevices(model)) {
        // If the run continues on another kind of device, its generator starts from the seed.
        if (file.tensors().count(generatorName(device)) == 0) continue;
        const at::Tensor state = generatorOf(device).get_state().clone();
        restore(file, generatorName(device), state);
        setState(device, state, file.origin());
    }
    TrainingPosition position;
    position.step = integerEntry(file, "step");
    position.tokens = integerEntry(file, "tokens");
    position.next_sequence = static_cast<std::uint64_t>(integerEntry(file, "next_sequence"));
    position.time_s = parseNumber(file.entry("time_s")).value_or(0);
    optimizer.setStepsDone(position.step);
    return position;
}

PreviousSettings requireSameSettings(const SafetensorsFile& file, const Specification& specification) {
    const std::int64_t step = integerEntry(file, "step");
    const std::optional<Specification> before = specificationIn(file.metadata(), file.origin());
    if (!before) return {};
    std::vector<std::string> differing, changed;
    for (const SpecificationField& field : specificationFields()) {
        const std::string was = field.text(*before), is = field.text(specification);
        if (was == is) continue;
        const std::string text = field.key() + " = " + is + " (was " + was + ")";
        if (!mayChange(field))
            differing.push_back(text);
        else if (isReported(field))
            changed.push_back(text);
    }
    if (specification.training.steps < step && specification.training.steps < before->training.steps)
        differing.push_back("training.steps = " + std::to_string(specification.training.steps) + ", but " +
                            std::to_string(step) + " steps have already been trained");
    if (!differing.empty())
        throw Error(ErrorKind::usage, "run.toml differs from the settings that the run was trained with: " +
                                          join(differing, "; ") + ". Restore the settings of " +
                                          file.origin() + ", or start a new run.");
    if (const std::string jump = describeRateChange(before->training, specification.training, step);
        !jump.empty())
        changed.push_back(jump);
    return {changed.empty() ? "" : "run.toml has changed: " + join(changed, "; "),
            before->training.report_every};
}

}  // namespace roper
