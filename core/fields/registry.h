#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/fields/declared_settings.h"

namespace roper {

// What the registries of position methods and tasks have in common. An entry has a `name` and its own
// `settings`.

/// Returns the entry. @throws std::logic_error if its source file gives it another name than the list
template <class Entry>
Entry requireListedName(Entry entry, const std::string& name) {
    if (entry.name != name) throw std::logic_error("the list has " + name + ", its file " + entry.name);
    return entry;
}

template <class Entry>
std::vector<std::string> namesOf(const std::vector<Entry>& entries) {
    return mapped(entries, &Entry::name);
}

/// @param kind  such as "task", for the error
/// @throws std::invalid_argument with all names
template <class Entry>
const Entry& findEntry(const std::vector<Entry>& entries, const std::string& name, const std::string& kind) {
    const auto found = std::ranges::find(entries, name, &Entry::name);
    if (found != entries.end()) return *found;
    throw std::invalid_argument("unknown " + kind + " '" + name + "'; expected one of " +
                                join(namesOf(entries), ", "));
}

/// The same for a name given by the user. @throws Error (usage) with the nearest name, or all
template <class Entry>
const Entry& findUserEntry(const std::vector<Entry>& entries, const std::string& name,
                           const std::string& kind) {
    const auto found = std::ranges::find(entries, name, &Entry::name);
    if (found != entries.end()) return *found;
    throw Error(ErrorKind::usage,
                "unknown " + kind + " \"" + name + "\"; " + nameHint(name, namesOf(entries)));
}

/// The settings of all entries.
template <class Entry>
std::vector<DeclaredSetting> allSettings(const std::vector<Entry>& entries) {
    return concatenated(mapped(entries, &Entry::settings));
}

}  // namespace roper
