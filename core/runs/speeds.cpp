#include "core/runs/speeds.h"

#include <nlohmann/json.hpp>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/runs/status.h"
#include "core/runs/user_record.h"

namespace roper {
namespace {

FilePath speedsPath(const std::filesystem::path& runs) {
    return FilePath::inside(runs, "speeds.json");
}

/// The file's content; an empty object if it cannot be read, since it can be measured again.
nlohmann::json readAll(const std::filesystem::path& runs) {
    try {
        constexpr std::uint64_t kMaxBytes = 1U << 20U;
        nlohmann::json json = parseStrictJson(readFile(speedsPath(runs), kMaxBytes));
        if (json.is_object()) return json;
    } catch (const Error&) {
    } catch (const std::invalid_argument&) {
    }
    return nlohmann::json::object();
}

}  // namespace

std::optional<double> Speeds::secondsPerStep(const std::string& shape) const {
    const auto found = seconds_per_step.find(shape);
    return found == seconds_per_step.end() ? std::nullopt : std::optional(found->second);
}

std::string stepTimeKey(const Specification& specification) {
    std::string key;
    for (const SpecificationField& field : specificationFields()) {
        const bool determines_time = field.section == "model" || field.section == "device" ||
                                     field.hasKey("training.batch") || field.hasKey("training.length");
        if (determines_time) key.append(field.name).append("=").append(field.text(specification)).append(" ");
    }
    key.pop_back();
    return key;
}

Speeds readSpeeds(const std::filesystem::path& runs) {
    Speeds speeds{thisHost(), {}};
    const nlohmann::json all = readAll(runs);
    const auto mine = all.find(speeds.host);
    if (mine == all.end() || !mine->is_object()) return speeds;
    for (const auto& [shape, seconds] : mine->items())
        if (seconds.is_number()) speeds.seconds_per_step[shape] = seconds.get<double>();
    return speeds;
}

void saveSpeed(const std::filesystem::path& runs, const Specification& specification,
               double seconds_per_step) {
    nlohmann::json all = readAll(runs);
    nlohmann::json& mine = all[thisHost()];
    if (!mine.is_object()) mine = nlohmann::json::object();
    mine[stepTimeKey(specification)] = seconds_per_step;
    makeFolder(runs);
    requireOwnedOrTrusted(runs);
    writeFileAtomically(speedsPath(runs), all.dump(2) + "\n");
}

}  // namespace roper
