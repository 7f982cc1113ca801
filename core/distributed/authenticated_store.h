#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <string>
#include <vector>

namespace roper {

/// A store of named texts through which the processes of a group exchange messages. Anyone on the machine can
/// reach the store, so each text carries a message authentication code of its name and content, made with the
/// group's key. A process without the key can delete or corrupt texts, which ends the group, but cannot
/// replace them. Secret names would not help, because `TCPStore` lists its names to anyone.
class AuthenticatedStore : public c10d::Store {
  public:
    AuthenticatedStore(c10::intrusive_ptr<c10d::Store> store, std::string key);

    c10::intrusive_ptr<c10d::Store> clone() override;
    void set(const std::string& name, const std::vector<std::uint8_t>& text) override;
    /// @throws Error (other) if the text was not written by a process of the group
    std::vector<std::uint8_t> get(const std::string& name) override;
    bool deleteKey(const std::string& name) override { return store_->deleteKey(name); }
    bool check(const std::vector<std::string>& names) override { return store_->check(names); }
    std::int64_t getNumKeys() override { return store_->getNumKeys(); }
    void wait(const std::vector<std::string>& names) override { store_->wait(names); }
    void wait(const std::vector<std::string>& names, const std::chrono::milliseconds& timeout) override {
        store_->wait(names, timeout);
    }
    const std::chrono::milliseconds& getTimeout() const noexcept override { return store_->getTimeout(); }
    void setTimeout(const std::chrono::milliseconds& timeout) override { store_->setTimeout(timeout); }
    /// Counters of the store cannot carry an authentication code. @throws std::logic_error
    std::int64_t add(const std::string& name, std::int64_t value) override;

  private:
    c10::intrusive_ptr<c10d::Store> store_;
    std::string key_;
};

}  // namespace roper
