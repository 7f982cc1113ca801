#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/fields/toml_text.h"

namespace roper {

/// One table of a TOML file, whose keys are read one by one; `finish` refuses keys that were not read. Errors
/// (usage) name the position in the file.
class TomlSection {
  public:
    /// @param origin  path of the file, for errors
    TomlSection(const toml::table& table, std::string origin) : table_(table), origin_(std::move(origin)) {}

    std::string text(const std::string& key);
    std::optional<std::string> optionalText(const std::string& key);
    /// An integer from `low` to `high`.
    int whole(const std::string& key, int low, int high);
    /// False if the key is missing.
    bool flag(const std::string& key);
    std::vector<std::string> texts(const std::string& key, std::size_t min_count, std::size_t max_count);
    /// The entries of a nested table as texts; empty if the table is missing.
    std::vector<std::pair<std::string, std::string>> entries(const std::string& key);
    /// A nested table; nullopt if it is missing.
    std::optional<TomlSection> section(const std::string& key);
    /// An array of one to `max_count` tables.
    std::vector<const toml::table*> tables(const std::string& key, std::size_t max_count);

    /// @throws Error (usage) for a key that was not read
    void finish() const;

    /// @throws Error (usage) with this position in the file
    [[noreturn]] void fail(const toml::source_region& place, const std::string& what) const;
    const toml::source_region& place() const { return table_.source(); }

  private:
    /// The node of a key, which counts as read from now on; an empty view if it is missing.
    toml::node_view<const toml::node> take(const std::string& key);
    /// The position of a node; of the table, if the node is missing.
    const toml::source_region& placeOf(const toml::node_view<const toml::node>& node) const;

    const toml::table& table_;
    std::string origin_;
    std::vector<std::string> taken_;
};

}  // namespace roper
