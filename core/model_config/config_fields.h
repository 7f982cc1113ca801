#pragma once

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

/// The members of one object of a config.json, read one by one. What was never read can be named afterwards.
class ConfigFields {
  public:
    /// @param text  one JSON object; at most 1 MB, at most 32 objects deep, no key twice in one of them
    /// @throws Error (usage) saying what is wrong with it
    static ConfigFields parse(std::string_view text);

    /// Whether the member is there and not null.
    bool has(const std::string& key) const;
    /// Whether it is there, maybe as null.
    bool stands(const std::string& key) const;
    /// Whether it is this value, written as JSON.
    bool isValue(const std::string& key, const std::string& json) const;
    /// Whether it is there and a number.
    bool isNumber(const std::string& key) const;
    bool isEmpty() const;
    /// Where the object stands: "text_config"; empty for all of a file.
    const std::string& where() const { return where_; }
    /// The same object of which nothing was read yet: for one that several readers share.
    ConfigFields askedAnew() const;
    /// The same with the members of another object in place of its own or beside them.
    ConfigFields updatedBy(const ConfigFields& other) const;
    /// Where a member stands, for messages: "rope_scaling.factor".
    std::string nameOf(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }

    // Each of these is empty where the member is missing or null. @throws Error (usage) naming the member
    // where it is of another type or outside its bounds

    std::optional<double> number(const std::string& key, double low, double high) const;
    std::optional<int> whole(const std::string& key, int low, int high) const;
    std::optional<bool> flag(const std::string& key) const;
    std::optional<std::string> text(const std::string& key) const;
    /// A list of at most `most` numbers.
    std::optional<std::vector<double>> numbers(const std::string& key, double low, double high,
                                               std::size_t most) const;
    /// A list of at most `most` texts.
    std::optional<std::vector<std::string>> texts(const std::string& key, std::size_t most) const;
    std::optional<ConfigFields> object(const std::string& key) const;

    /// The first of several spellings that is there.
    std::optional<double> firstNumber(std::initializer_list<const char*> keys, double low, double high) const;
    std::optional<int> firstWhole(std::initializer_list<const char*> keys, int low, int high) const;

    /// The keys of all members that are objects themselves, in the order of the alphabet.
    std::vector<std::string> keysOfObjects() const;

    /// "key = value" of each member that nothing has asked for and that is not null or false.
    std::vector<std::string> unread() const;

    /// Ends with an error that begins with the member's name.
    [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

  private:
    /// The members of an object that something has asked for.
    struct Asked {
        std::set<std::string> members;
        std::map<std::string, std::shared_ptr<Asked>> inside;  ///< of those that are objects
    };

    ConfigFields(std::shared_ptr<const nlohmann::json> root, const nlohmann::json& object, std::string where);

    /// The member, null where it is missing; from now on it counts as read.
    const nlohmann::json* read(const std::string& key) const;

    std::shared_ptr<const nlohmann::json> root_;  ///< keeps the object
    const nlohmann::json* json_;
    std::string where_;
    std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
    std::vector<std::shared_ptr<Asked>> also_asked_ = {};  ///< of the objects that it was made of
};

}  // namespace roper
