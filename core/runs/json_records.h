#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace roper {

/// Takes a JSON text apart into the objects that are its rows, in memory that does not depend on its length:
/// the elements of an array, those of "log_history" (Hugging Face's Trainer), or objects one after the other.
class JsonRecords {
  public:
    using Take = std::function<void(std::string_view record, std::size_t line)>;
    /// @param origin  how errors name the file
    JsonRecords(std::string origin, Take take) : origin_(std::move(origin)), take_(std::move(take)) {}

    /// The next part of the text. @throws Error (usage) naming the line
    void feed(std::string_view part);
    /// After the last part. @throws Error (usage) where something is still open
    void finish() const;

    /// Whether an array of rows has begun, and whether something is still open.
    bool hasArray() const { return has_array_; }
    bool isOpen() const { return depth_ > 0; }

  private:
    void takeChar(char c);
    void takeStructure(char c);
    void open(char c);
    void close();
    [[noreturn]] void refuse(const std::string& what) const;

    std::string origin_;
    Take take_;
    std::size_t line_ = 1, begun_line_ = 1;
    int depth_ = 0;
    int rows_depth_ = 0;     ///< containers around a row
    int record_depth_ = -1;  ///< of the record that is being read; none if negative
    bool in_string_ = false, escaped_ = false, has_array_ = false;
    std::string record_;
    std::string key_;  ///< the string read last
};

}  // namespace roper
