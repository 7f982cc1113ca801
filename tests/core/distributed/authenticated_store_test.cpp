#include "core/distributed/authenticated_store.h"

#include <gtest/gtest.h>

#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/base/cryptography.h"
#include "core/distributed/process_group.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const std::string& text) {
    return {text.begin(), text.end()};
}

class AuthenticatedStoreTest : public testing::Test {
  protected:
    c10::intrusive_ptr<c10d::HashStore> open_ = c10::make_intrusive<c10d::HashStore>();
    std::string key_ = randomKey();
    AuthenticatedStore ours_{open_, key_};
};

TEST_F(AuthenticatedStoreTest, IsReadByWhoeverHasTheKey) {
    ours_.set("specification", bytes("[task]"));
    ours_.set("nothing", {});
    AuthenticatedStore other(open_, key_);
    EXPECT_EQ(other.get("specification"), bytes("[task]"));
    EXPECT_EQ(other.get("nothing"), Bytes());
    EXPECT_EQ(other.clone()->get("specification"), bytes("[task]"));
}

TEST_F(AuthenticatedStoreTest, WhatIsLeftWithoutTheKeyIsRefused) {
    const auto refused = [&](const char* name) {
        expectError(ErrorKind::other, "was not written by one of its processes", [&] { ours_.get(name); });
    };
    ours_.set("folder", bytes("/runs/a"));
    for (const std::string text : {"", "/runs/b", std::string(40, 'x').c_str()}) {
        open_->set("folder", bytes(text));
        refused("folder");
    }
    AuthenticatedStore(open_, randomKey()).set("folder", bytes("/runs/b"));
    refused("folder");
    // Nor is a text valid under a name other than the one under which it was stored.
    ours_.set("a", bytes("text"));
    open_->set("b", open_->get("a"));
    refused("b");
    open_->set("at", open_->get("a"));
    refused("at");
}

TEST(ProcessGroup, WhoeverLacksItsKeyCannotSayWhatIsTrained) {
    const auto leader = ProcessGroup::create(2, /*is_single_machine=*/true);
    leader->set("specification", "ours");
    EXPECT_EQ(ProcessGroup::join(leader->address(), 1, 2)->get("specification"), "ours");
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(leader->address().port);
    options.waitWorkers = false;
    c10d::TCPStore stranger(leader->address().host, options);
    stranger.set("specification", bytes("theirs"));
    expectError(ErrorKind::other, "was not written by one of its processes",
                [&] { ProcessGroup::join(leader->address(), 1, 2)->get("specification"); });
    Address without_key = leader->address();
    without_key.key.clear();
    ProcessGroup::join(without_key, 1, 2)->set("specification", "theirs");
    expectError(ErrorKind::other, "was not written by one of its processes",
                [&] { leader->get("specification"); });
}

}  // namespace
}  // namespace roper
