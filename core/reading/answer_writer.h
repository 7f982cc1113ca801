#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "core/questions/value_kernel.h"

namespace roper {

/// How `roper-train look` prints an answer.
enum class AnswerFormat {
    text,  ///< as a person reads it; a table where there is no better form
    csv,
    json,  ///< one object per line
};

/// Where an answer is printed. Each question says what stands in a line of JSON and in a row of its table.
class AnswerWriter {
  public:
    /// @param file  that `attention` is written to instead; empty: none
    AnswerWriter(std::ostream& out, AnswerFormat format, std::filesystem::path file = {})
        : out_(out), format_(format), file_(std::move(file)) {}

    bool isJson() const { return format_ == AnswerFormat::json; }
    bool isText() const { return format_ == AnswerFormat::text; }
    const std::filesystem::path& file() const { return file_; }

    /// One object per line, flushed at once, so that a reader sees it without delay. What is not UTF-8
    /// in it becomes U+FFFD, and characters that control a terminal are written as \uXXXX.
    void line(const nlohmann::ordered_json& json);

    /// The first line of the table, unless JSON is printed.
    void columns(const std::string& names);
    void row(const std::vector<std::string>& cells);

    /// Where text is written as it is.
    std::ostream& text() { return out_; }

  private:
    std::ostream& out_;
    AnswerFormat format_;
    std::filesystem::path file_;
};

/// A value kernel as a line of JSON, or as a row for each distance.
/// @param of  whose it is: the first columns
void writeKernel(nlohmann::ordered_json of, const ValueKernel& kernel, AnswerWriter& to);

/// A token in a cell of a table, in quotes where it needs them; line ends are shown as signs.
std::string cellOf(const std::string& token);

/// "⟨ the⟩": a token between brackets, its line ends and tabs as signs.
std::string shownToken(const std::string& token);

}  // namespace roper
