#include "core/distributed/authenticated_store.h"

#include <stdexcept>
#include <string_view>

#include "core/base/cryptography.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// The authenticated content. It includes the name, so that a text cannot be moved to another name.
std::string named(const std::string& name, std::string_view text) {
    return std::to_string(name.size()) + " " + name + std::string(text);
}

}  // namespace

AuthenticatedStore::AuthenticatedStore(c10::intrusive_ptr<c10d::Store> store, std::string key)
    : store_(std::move(store)), key_(std::move(key)) {}

c10::intrusive_ptr<c10d::Store> AuthenticatedStore::clone() {
    return c10::make_intrusive<AuthenticatedStore>(store_->clone(), key_);
}

void AuthenticatedStore::set(const std::string& name, const std::vector<std::uint8_t>& text) {
    const std::string plain(text.begin(), text.end());
    const std::string all = authenticationCode(key_, named(name, plain)) + plain;
    store_->set(name, std::vector<std::uint8_t>(all.begin(), all.end()));
}

std::vector<std::uint8_t> AuthenticatedStore::get(const std::string& name) {
    constexpr std::size_t kCode = 32;
    const std::vector<std::uint8_t> bytes = store_->get(name);
    const std::string all(bytes.begin(), bytes.end());
    const std::string_view code = std::string_view(all).substr(0, kCode);
    const std::string_view text = std::string_view(all).substr(code.size());
    if (!isAuthentic(key_, named(name, text), code))
        throw Error(ErrorKind::other, "the entry \"" + toSingleLine(name) +
                                          "\" of this run was not written by one of its processes: another "
                                          "program has written to the port on which they meet");
    return {text.begin(), text.end()};
}

std::int64_t AuthenticatedStore::add(const std::string& name, std::int64_t) {
    throw std::logic_error("a counter cannot be authenticated: " + name);
}

}  // namespace roper
