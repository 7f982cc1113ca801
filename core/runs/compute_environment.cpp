#include "core/runs/compute_environment.h"

#include <nlohmann/json.hpp>

#include "core/base/durable_file.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxBytes = 1U << 22U;

/// Text members of a `ComputeEnvironment` and their keys in the file.
constexpr std::pair<const char*, std::string ComputeEnvironment::*> kTexts[] = {
    {"device", &ComputeEnvironment::device},
    {"processor", &ComputeEnvironment::processor},
    {"instructions", &ComputeEnvironment::instruction_set},
    {"kernel", &ComputeEnvironment::kernel},
    {"products", &ComputeEnvironment::matrix_products},
    {"precision", &ComputeEnvironment::precision},
    {"libtorch", &ComputeEnvironment::libtorch},
    {"program", &ComputeEnvironment::program},
    {"commit", &ComputeEnvironment::commit}};

std::string lineOf(const Session& session) {
    nlohmann::ordered_json json = {
        {"after_step", session.after_step}, {"began", session.started_at}, {"host", session.host}};
    for (const auto& [name, text] : kTexts)
        json[name] = session.computation.*text;
    json["processes"] = session.computation.processes;
    json["threads"] = session.computation.threads;
    return jsonText(json) + "\n";
}

/// @throws nlohmann::json::exception, std::invalid_argument
Session sessionIn(std::string_view line) {
    const auto json = parseStrictJson(line);
    Session session;
    session.after_step = integerMember(json, "after_step");
    session.started_at = json.at("began").get<double>();
    session.host = json.at("host").get<std::string>();
    for (const auto& [name, text] : kTexts)
        session.computation.*text = toSingleLine(json.at(name).get<std::string>());
    // older versions always used one process
    session.computation.processes = json.contains("processes") ? integerMember(json, "processes") : 1;
    session.computation.threads = integerMember(json, "threads");
    return session;
}

std::vector<Session> parseSessions(std::string_view lines) {
    std::vector<Session> sessions;
    for (const std::string& line : split(lines, '\n')) {
        try {
            if (!line.empty()) sessions.push_back(sessionIn(line));
        } catch (const nlohmann::json::exception&) {
            // Other lines are still valid.
        } catch (const std::invalid_argument&) {
        }
    }
    return sessions;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> fieldsOf(const ComputeEnvironment& c) {
    return {{"device", c.device},
            {"processor", c.processor},
            {"instruction set", c.instruction_set},
            {"kernels", c.kernel},
            {"matrix products", c.matrix_products},
            {"precision", c.precision},
            {"processes", std::to_string(c.processes)},
            {"threads", std::to_string(c.threads)},
            {"LibTorch", c.libtorch},
            {"RoPER Lab", c.program},
            {"commit", c.commit}};
}

std::vector<std::pair<std::string, std::set<std::string>>> fieldsOf(
    const std::vector<ComputeEnvironment>& computations) {
    std::vector<std::pair<std::string, std::set<std::string>>> all;
    for (const auto& [name, value] : fieldsOf(ComputeEnvironment()))
        all.push_back({name, {}});
    for (const ComputeEnvironment& computation : computations) {
        const auto fields = fieldsOf(computation);
        for (std::size_t i = 0; i < fields.size(); ++i)
            all[i].second.insert(fields[i].second);
    }
    return all;
}

std::string textOf(const ComputeEnvironment& c) {
    std::vector<std::string> parts{c.precision};
    parts.push_back(c.kernel == "ours" ? "our kernels for " + c.instruction_set : "LibTorch's operations");
    parts.push_back("matrix products by " + c.matrix_products);
    parts.push_back(c.device == "cpu" && !c.processor.empty() ? c.processor : c.device);
    const std::string threads = countOf(static_cast<std::size_t>(c.threads), "thread");
    parts.push_back(c.processes == 1 ? threads
                                     : std::to_string(c.processes) + " processes with " + threads + " each");
    parts.push_back("LibTorch " + c.libtorch);
    parts.push_back("RoPER Lab " + c.program + (c.commit.empty() ? "" : " of commit " + c.commit));
    return join(parts, ", ");
}

FilePath sessionsPath(const RunFolder& run) {
    return run.file("sessions.jsonl");
}

void addSession(const RunFolder& run, const Session& session) {
    const FilePath path = sessionsPath(run);
    std::string lines = pathExists(path) ? readFile(path, kMaxBytes) : std::string();
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    writeFileAtomically(path, lines + lineOf(session), Durability::machine_failure);
}

std::vector<Session> readSessions(const RunFolder& run) {
    const FilePath path = sessionsPath(run);
    return pathExists(path) ? parseSessions(readFile(path, kMaxBytes)) : std::vector<Session>();
}

std::vector<ComputeEnvironment> computeEnvironmentsOf(const std::vector<Session>& sessions) {
    std::vector<const Session*> kept;
    for (const Session& session : sessions) {
        // Earlier sessions that started at or after its checkpoint contributed no kept step.
        std::erase_if(kept, [&](const Session* before) { return before->after_step >= session.after_step; });
        kept.push_back(&session);
    }
    std::vector<ComputeEnvironment> computations;
    for (const Session* session : kept)
        if (!hasElement(computations, session->computation)) computations.push_back(session->computation);
    return computations;
}

}  // namespace roper
