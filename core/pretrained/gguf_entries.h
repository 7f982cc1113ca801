#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pretrained/gguf_file.h"

namespace roper {

/// Metadata entries of one architecture, such as "llama.block_count", whose names are given without "llama.".
/// Records which were read, so that the others can be reported.
class GgufEntries {
  public:
    GgufEntries(const GgufMetadata& metadata, std::string architecture)
        : metadata_(metadata), architecture_(std::move(architecture)) {}

    const std::string& architecture() const { return architecture_; }
    const GgufMetadata& metadata() const { return metadata_; }
    std::string key(const std::string& name) const { return architecture_ + "." + name; }
    bool has(const char* name) const { return metadata_.has(key(name)); }
    bool wasRead(const std::string& name) const { return read_.count(name) > 0; }

    // Like llama.cpp's get_key_or_arr, these accept a list with one number for each layer in place of a
    // number; `differingByLayer` is for entries whose numbers may differ.
    // @throws Error (checkpoint) naming an entry whose numbers differ between layers, which is not supported

    std::int64_t required(const char* name, std::int64_t max_value) const {
        if (const auto value = integerOfLayers(name, 1, max_value)) return *value;
        refuse(name, "is missing");
    }
    std::int64_t integer(const char* name, std::int64_t min_value, std::int64_t max_value,
                         std::int64_t default_value) const {
        return integerOfLayers(name, min_value, max_value).value_or(default_value);
    }
    double requiredNumber(const char* name, double min_value, double max_value) const {
        if (const auto value = metadata_.number(readKey(name), min_value, max_value)) return *value;
        refuse(name, "is missing");
    }
    double number(const char* name, double min_value, double max_value, double default_value) const {
        return metadata_.number(readKey(name), min_value, max_value, layers(name)).value_or(default_value);
    }
    /// The numbers of a list with one for each layer, if they differ; otherwise empty.
    std::vector<std::int64_t> differingByLayer(const char* name, std::int64_t min_value,
                                               std::int64_t max_value) const {
        const auto found = metadata_.entries().find(readKey(name));
        using List = std::vector<std::int64_t>;
        if (found == metadata_.entries().end() || !std::holds_alternative<List>(found->second)) return {};
        const List& all = std::get<List>(found->second);
        if (std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end()) return {};
        if (std::ssize(all) != layers(name))
            refuse(name, "has " + std::to_string(all.size()) + " numbers for " +
                             std::to_string(layers(name)) + " layers");
        for (const std::int64_t one : all)
            if (one < min_value || one > max_value)
                refuse(name, "has " + std::to_string(one) + "; its numbers must lie between " +
                                 std::to_string(min_value) + " and " + std::to_string(max_value));
        return all;
    }
    /// A list; null if it is missing.
    const std::vector<double>* numbers(const char* name) const { return metadata_.numbers(readKey(name)); }
    const std::vector<bool>* flags(const char* name) const { return metadata_.flags(readKey(name)); }
    bool flag(const char* name, bool default_value) const {
        return metadata_.flag(readKey(name)).value_or(default_value);
    }
    std::string text(const char* name) const { return metadata_.text(readKey(name)).value_or(""); }
    [[noreturn]] void refuse(const char* name, const std::string& why) const {
        metadata_.refuse(key(name), why);
    }

  private:
    std::string readKey(const char* name) const {
        read_.insert(name);
        return key(name);
    }
    static constexpr const char* kLayers = "block_count";

    /// Number of layers; 0 if unknown, and for block_count itself, which is never a list with one number for
    /// each.
    std::int64_t layers(std::string_view name) const {
        if (name == kLayers) return 0;
        return metadata_.integer(key(kLayers), 1, INT32_MAX).value_or(0);
    }
    std::optional<std::int64_t> integerOfLayers(const char* name, std::int64_t min_value,
                                                std::int64_t max_value) const {
        return metadata_.integer(readKey(name), min_value, max_value, layers(name));
    }

    const GgufMetadata& metadata_;
    std::string architecture_;
    mutable std::set<std::string> read_;
};

/// Checks every entry of a file: an entry that may change what the model computes is either applied elsewhere
/// or refused here.
/// @returns notes on unknown entries, which are ignored
/// @throws Error (checkpoint) naming the file and the entry
std::vector<std::string> checkKeys(const GgufEntries& entries);

}  // namespace roper
