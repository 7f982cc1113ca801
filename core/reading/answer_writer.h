#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "core/questions/value_kernel.h"

namespace roper {

/// Output format of `roper-train look`.
enum class AnswerFormat {
    text,  ///< for people: sentences or a table
    csv,
    json,  ///< one object per line
};

/// Prints answers. Each question defines its lines of JSON and the rows of its table.
class AnswerWriter {
  public:
    /// @param file  output file of `attention`; empty: none
    AnswerWriter(std::ostream& out, AnswerFormat format, std::filesystem::path file = {})
        : out_(out), format_(format), file_(std::move(file)) {}

    bool isJson() const { return format_ == AnswerFormat::json; }
    bool isText() const { return format_ == AnswerFormat::text; }
    const std::filesystem::path& file() const { return file_; }

    /// Prints one object per line and flushes it. Invalid UTF-8 becomes U+FFFD, and terminal control
    /// characters are written as \uXXXX.
    void line(const nlohmann::ordered_json& json);

    /// Prints the header of the table, except in JSON.
    void columns(const std::string& names);
    void row(const std::vector<std::string>& cells);

    /// A number, a text that is printed unchanged, or a bool, which is 1 or 0 in a table.
    struct Value {
        std::string name;  ///< key in a line of JSON
        nlohmann::ordered_json value;
        int digits = 0;  ///< significant digits of a floating-point number in a table
    };
    /// Prints a line of JSON or a row of the table.
    void record(std::vector<Value> values);

    /// The stream for free text.
    std::ostream& text() { return out_; }

  private:
    std::ostream& out_;
    AnswerFormat format_;
    std::filesystem::path file_;
};

/// Prints a value kernel as a line of JSON, or as one row per distance.
/// @param of  the first columns, which identify the kernel
void writeKernel(nlohmann::ordered_json of, const ValueKernel& kernel, AnswerWriter& to);

/// A token as a table cell, quoted if necessary; newlines are shown as symbols.
std::string tableCell(const std::string& token);

/// "⟨ the⟩": a token in brackets, with newlines and tabs as symbols.
std::string formatToken(const std::string& token);

}  // namespace roper
