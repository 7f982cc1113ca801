#include "core/tokenizers/prefix_search.h"

#include <algorithm>

namespace roper {
namespace {

int byteAt(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : -1;
}

}  // namespace

PrefixSearch::PrefixSearch(const std::vector<std::string_view>& texts) {
    for (std::size_t index = 0; index < texts.size(); ++index)
        sorted_.push_back({texts[index], index});
    std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) {
        return a.text != b.text ? a.text < b.text : a.index < b.index;
    });
    const auto is_same = [](const Entry& a, const Entry& b) { return a.text == b.text; };
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), is_same), sorted_.end());
    for (std::size_t place = 0; place < sorted_.size(); ++place) {
        Range& range = by_first_byte_[static_cast<unsigned char>(sorted_[place].text.front())];
        if (range.last == 0) range.first = place;
        range.last = place + 1;
    }
}

std::span<const PrefixSearch::Entry> PrefixSearch::beginningWith(char byte) const {
    const Range& range = by_first_byte_[static_cast<unsigned char>(byte)];
    return std::span(sorted_).subspan(range.first, range.last - range.first);
}

std::span<const PrefixSearch::Entry> PrefixSearch::continuedBy(char byte, std::size_t at,
                                                               std::span<const Entry> among) {
    const int wanted = static_cast<unsigned char>(byte);
    const auto first = std::partition_point(among.begin(), among.end(),
                                            [&](const Entry& one) { return byteAt(one.text, at) < wanted; });
    const auto last = std::partition_point(first, among.end(),
                                           [&](const Entry& one) { return byteAt(one.text, at) == wanted; });
    return among.subspan(static_cast<std::size_t>(first - among.begin()),
                         static_cast<std::size_t>(last - first));
}

}  // namespace roper
