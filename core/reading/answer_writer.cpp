#include "core/reading/answer_writer.h"

#include "core/base/text.h"

namespace roper {

void AnswerWriter::line(const nlohmann::ordered_json& json) {
    using Json = nlohmann::ordered_json;
    out_ << escapeControlCharacters(json.dump(-1, ' ', false, Json::error_handler_t::replace)) << std::endl;
}

void AnswerWriter::columns(const std::string& names) {
    if (!isJson()) out_ << names << "\n";
}

void AnswerWriter::row(const std::vector<std::string>& cells) {
    out_ << join(cells, ",") << "\n";
}

void AnswerWriter::record(std::vector<Value> values) {
    if (isJson()) {
        auto json = nlohmann::ordered_json::object();
        for (Value& one : values)
            json[one.name] = std::move(one.value);
        return line(json);
    }
    std::vector<std::string> cells;
    for (const auto& [name, value, digits] : values)
        cells.push_back(value.is_number_float() ? formatRounded(value.get<double>(), digits)
                        : value.is_string()     ? value.get<std::string>()
                        : value.is_boolean()    ? std::to_string(value.get<bool>())
                                                : value.dump());
    row(cells);
}

void writeKernel(nlohmann::ordered_json of, const ValueKernel& kernel, AnswerWriter& to) {
    if (to.isJson()) {
        of.update({{"norm", kernel.norm}, {"cosine", kernel.cosine}});
        return to.line(of);
    }
    std::vector<std::string> begin;
    for (const auto& number : of)
        begin.push_back(number.dump());
    for (std::size_t distance = 0; distance < kernel.norm.size(); ++distance) {
        std::vector<std::string> row = begin;
        row.insert(row.end(), {std::to_string(distance), formatRounded(kernel.norm[distance], 6),
                               formatRounded(kernel.cosine[distance], 5)});
        to.row(row);
    }
}

std::string tableCell(const std::string& token) {
    const std::string shown = toSingleLine(token);
    if (shown.find_first_of(",\" ") == std::string::npos) return shown;
    std::string quoted = "\"";
    for (const char c : shown)
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string formatToken(const std::string& token) {
    std::string shown;
    for (const char c : token)
        shown += c == '\n' ? "↵" : c == '\t' ? "⇥" : std::string(1, c);
    return "⟨" + toSingleLine(shown) + "⟩";
}

}  // namespace roper
