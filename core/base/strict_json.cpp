#include "core/base/strict_json.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// Builds a value from the events of the library's parser. The parser's own callback is not suitable for
/// detecting duplicate keys: it searches all members of a container whenever one of them ends.
class JsonBuilder : public nlohmann::json_sax<Json> {
  public:
    JsonBuilder(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

    Json take() { return std::move(root_); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }  // not possible in JSON

    bool start_object(std::size_t) override { return open(Json::value_t::object); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(Json::value_t::array); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        const auto [member, is_new] = open_.back()->get_ref<Json::object_t&>().emplace(name, nullptr);
        if (!is_new)
            throw std::invalid_argument("the key " + quoteExcerpt(name) + " occurs twice in one object");
        member_ = &member->second;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const Json::exception& problem) override {
        if (position > text_.size()) throw std::invalid_argument("the text ends before the JSON is complete");
        std::string_view read = text_.substr(0, position);
        while (!read.empty() && std::string_view(" \t\r\n").find(read.back()) != std::string_view::npos)
            read.remove_suffix(1);
        const auto line = 1 + std::ranges::count(read, '\n');
        const std::string location = text_.find('\n') == std::string_view::npos
                                         ? "column "
                                         : "line " + std::to_string(line) + ", column ";
        // everything if there is no newline
        const std::string_view of_line = read.substr(read.rfind('\n') + 1);
        constexpr std::size_t kShown = 20;
        const std::string_view end = of_line.substr(of_line.size() - std::min(of_line.size(), kShown));
        constexpr int kTooLarge = 406;  // the library's id of this error
        throw std::invalid_argument(location + std::to_string(of_line.size()) + ": " + toSingleLine(end) +
                                    (problem.id == kTooLarge ? " is too large a number" : " is not JSON"));
    }

  private:
    template <class Value>
    Json& insert(Value&& value) {
        if (++values_ > limits_.values)
            throw std::invalid_argument("it contains more than " + std::to_string(limits_.values) +
                                        " values");
        if (open_.empty()) return root_ = std::forward<Value>(value);
        Json& parent = *open_.back();
        if (parent.is_array()) return parent.emplace_back(std::forward<Value>(value));
        return *member_ = std::forward<Value>(value);
    }

    template <class Value>
    bool add(Value&& value) {
        insert(std::forward<Value>(value));
        return true;
    }

    bool open(Json::value_t kind) {
        if (open_.size() >= static_cast<std::size_t>(limits_.depth))
            throw std::invalid_argument("it is nested too deeply");
        open_.push_back(&insert(Json(kind)));
        return true;
    }

    bool close() {
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    JsonLimits limits_;
    Json root_;
    std::vector<Json*> open_;  ///< open containers, the outermost first
    Json* member_ = nullptr;   ///< receives the next value of the innermost object
    std::size_t values_ = 0;
};

}  // namespace

nlohmann::json parseStrictJson(std::string_view text, const JsonLimits& limits) {
    JsonBuilder builder(text, limits);
    Json::sax_parse(text, &builder);
    return builder.take();
}

std::int64_t integerMember(const Json& object, const std::string& key, std::int64_t max) {
    const Json& value = object.at(key);
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(max)
                          : value.is_number_integer() && value.get<std::int64_t>() <= max;
    if (!fits) {
        const bool is_bounded = max < std::numeric_limits<std::int64_t>::max();
        throw std::invalid_argument("\"" + key + "\" must be a whole number" +
                                    (is_bounded ? " up to " + std::to_string(max) : "") + ", not " +
                                    truncateText(jsonText(value), 60));
    }
    return value.get<std::int64_t>();
}

std::string quoteNonFiniteNumbers(std::string_view text) {
    constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
    std::string json;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size();) {
        const bool may_begin = !in_string && (text[at] == 'N' || text[at] == 'I' || text[at] == '-');
        const auto word = std::ranges::find_if(
            kWords, [&](std::string_view one) { return may_begin && text.substr(at).starts_with(one); });
        if (word != kWords.end()) {
            json.append("\"").append(*word).append("\"");
            at += word->size();
            continue;
        }
        if (text[at] == '"') in_string = !in_string;
        const bool is_escaped = in_string && text[at] == '\\' && at + 1 < text.size();
        json.append(text.substr(at, is_escaped ? 2 : 1));
        at += is_escaped ? 2 : 1;
    }
    return json;
}

}  // namespace roper
