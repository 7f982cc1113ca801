#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace roper {

/// Splits a JSON text into the objects that are its rows, with memory independent of its length. The rows are
/// consecutive objects, or the elements of an array, which may be "log_history" of Hugging Face's Trainer.
class JsonRecords {
  public:
    using OnRecord = std::function<void(std::string_view record, std::size_t line)>;
    /// @param origin  name of the file in errors
    JsonRecords(std::string origin, OnRecord on_record)
        : origin_(std::move(origin)), on_record_(std::move(on_record)) {}

    /// Processes the next chunk of the text. @throws Error (usage) naming the line
    void feed(std::string_view part);
    /// To be called after the last chunk. @throws Error (usage) if the text is incomplete
    void finish() const;

    /// Whether an array of rows has begun, and whether a container is still open.
    bool hasArray() const { return has_array_; }
    bool isOpen() const { return depth_ > 0; }

  private:
    void consumeChar(char c);
    void consumeStructural(char c);
    void open(char c);
    void close();
    [[noreturn]] void refuse(const std::string& what) const;

    std::string origin_;
    OnRecord on_record_;
    std::size_t line_ = 1, record_first_line_ = 1;
    int depth_ = 0;
    int rows_depth_ = 0;     ///< nesting depth of a row
    int record_depth_ = -1;  ///< of the current record; negative: none
    bool in_string_ = false, escaped_ = false, has_array_ = false;
    std::string record_;
    std::string key_;  ///< the last string read, which may be a key
};

}  // namespace roper
