#include "core/runs/json_records.h"

#include <cctype>
#include <limits>

#include "core/base/error.h"

namespace roper {
namespace {

constexpr std::size_t kMaxRecordBytes = 4U << 20U;
constexpr std::size_t kMaxKeyBytes = 64;
constexpr int kNoRows = std::numeric_limits<int>::max();
constexpr std::string_view kHistory = "log_history";

}  // namespace

void JsonRecords::feed(std::string_view part) {
    for (const char c : part) {
        consumeChar(c);
        if (c == '\n') ++line_;
    }
}

void JsonRecords::finish() const {
    if (depth_ > 0)
        throw Error(
            ErrorKind::usage,
            origin_ + ":" + std::to_string(record_first_line_) +
                ": not JSON: the object or array that begins here does not end; the file was cut off or "
                "is still being written");
}

void JsonRecords::refuse(const std::string& what) const {
    throw Error(ErrorKind::usage, origin_ + ":" + std::to_string(line_) + ": " + what);
}

void JsonRecords::consumeChar(char c) {
    if (record_depth_ >= 0) {
        record_ += c;
        if (record_.size() > kMaxRecordBytes) refuse("an object larger than 4 MB is not a row of metrics");
    }
    if (in_string_) {
        if (!escaped_ && c == '"')
            in_string_ = false;
        else if (key_.size() < kMaxKeyBytes)
            key_ += c;
        escaped_ = !escaped_ && c == '\\';
    } else {
        consumeStructural(c);
    }
}

void JsonRecords::consumeStructural(char c) {
    const bool is_between = record_depth_ < 0 && depth_ == rows_depth_;
    if (c == '{' || c == '[') return open(c);
    if (c == '}' || c == ']') return close();
    if (is_between && c != ',' && std::isspace(static_cast<unsigned char>(c)) == 0)
        refuse(depth_ == 0 ? "not JSON, or not JSON objects" : "an element of the array is not an object");
    if (c != '"') return;
    in_string_ = true;
    key_.clear();
}

void JsonRecords::open(char c) {
    const bool is_between = record_depth_ < 0 && depth_ == rows_depth_;
    if (depth_ == 0) record_first_line_ = line_;
    if (is_between && c == '{') {
        record_depth_ = depth_;
        record_ = c;
        record_first_line_ = line_;
    } else if (is_between && depth_ == 0) {
        rows_depth_ = 1;
        has_array_ = true;
    } else if (is_between) {
        refuse("an element of the array is not an object");
    } else if (record_depth_ == 0 && depth_ == 1 && c == '[' && key_ == kHistory) {
        record_depth_ = -1;  // the object contains the rows, and is not a row itself
        rows_depth_ = 2;
        has_array_ = true;
    }
    ++depth_;
}

void JsonRecords::close() {
    if (depth_ == 0) refuse("not JSON: a closing bracket without an opening one");
    --depth_;
    if (depth_ == record_depth_) {
        record_depth_ = -1;
        on_record_(record_, record_first_line_);
        record_.clear();
    } else if (record_depth_ < 0 && depth_ < rows_depth_) {
        rows_depth_ = depth_ == 0 ? 0 : kNoRows;
    }
}

}  // namespace roper
