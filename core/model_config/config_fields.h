#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace roper {

/// The members of one JSON object of a config.json, read one by one. Records which were read, so that the
/// others can be reported.
class ConfigFields {
  public:
    /// @param text  one JSON object of at most 1 MiB, at most 32 levels deep, without duplicate keys
    /// @throws Error (usage) saying what is wrong with it
    static ConfigFields parse(std::string_view text);

    /// Whether the member exists and is not null.
    bool has(const std::string& key) const;
    /// Whether the member exists, even as null.
    bool contains(const std::string& key) const;
    /// Whether the member equals this value, written as JSON.
    bool equalsJson(const std::string& key, const std::string& json) const;
    /// Whether the member exists and is a number.
    bool isNumber(const std::string& key) const;
    bool isEmpty() const;
    /// Path of the object within the file, such as "text_config"; empty for the root.
    const std::string& where() const { return where_; }
    /// The same object with nothing marked as read, for objects that several readers share.
    ConfigFields unreadCopy() const;
    /// A copy in which the other object's members replace or join those of this one. A member read in it
    /// counts as read in both.
    ConfigFields mergedWith(const ConfigFields& other) const;
    /// Path of a member, for messages: "rope_scaling.factor".
    std::string nameOf(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }

    // Each of these returns nullopt if the member is missing or null. `low` and `high` are inclusive.
    // @throws Error (usage) naming the member if it has another type or is out of bounds

    std::optional<double> number(const std::string& key, double low, double high) const;
    std::optional<int> integer(const std::string& key, int low, int high) const;
    std::optional<bool> flag(const std::string& key) const;
    /// The same for a flag that a class tests as `if config.key`: null is false.
    bool flagOr(const std::string& key, bool default_value) const;
    std::optional<std::string> text(const std::string& key) const;
    /// A list of at most `max_count` numbers.
    std::optional<std::vector<double>> numbers(const std::string& key, double low, double high,
                                               std::size_t max_count) const;
    /// The same for whole numbers.
    std::optional<std::vector<int>> integers(const std::string& key, int low, int high,
                                             std::size_t max_count) const;
    /// A list with one of the `known` texts for each layer; returns their indices in `known`.
    std::optional<std::vector<std::size_t>> kindsByLayer(const std::string& key, std::int64_t layers,
                                                         const std::vector<std::string>& known) const;
    /// A list of at most `max_count` texts.
    std::optional<std::vector<std::string>> texts(const std::string& key, std::size_t max_count) const;
    std::optional<ConfigFields> object(const std::string& key) const;

    /// The first of these members that is neither missing nor null.
    std::optional<double> firstNumber(std::initializer_list<const char*> keys, double low, double high) const;
    std::optional<int> firstInteger(std::initializer_list<const char*> keys, int low, int high) const;

    /// @throws Error (usage) unless `entries`, the length of the list `key`, equals the number of layers
    void requireOnePerLayer(const std::string& key, std::size_t entries, std::int64_t layers) const;

    /// Keys of all members that are objects, sorted.
    std::vector<std::string> objectKeys() const;

    /// "key = value" for each unread member that is not null or false.
    std::vector<std::string> unread() const;

    /// @throws Error (usage) "KEY WHAT", where KEY is the member's path
    [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

  private:
    /// The members of an object that have been read.
    struct ReadMembers {
        std::set<std::string> members;
        std::map<std::string, std::shared_ptr<ReadMembers>> nested;  ///< for members that are objects
    };

    ConfigFields(std::shared_ptr<const nlohmann::json> root, const nlohmann::json& object, std::string where);

    /// The member, marked as read; null if it is missing.
    const nlohmann::json* read(const std::string& key) const;

    std::shared_ptr<const nlohmann::json> root_;  ///< keeps the object alive
    const nlohmann::json* json_;
    std::string where_;
    std::shared_ptr<ReadMembers> read_members_ = std::make_shared<ReadMembers>();
    std::vector<std::shared_ptr<ReadMembers>> source_members_ = {};  ///< of both merged objects
};

}  // namespace roper
