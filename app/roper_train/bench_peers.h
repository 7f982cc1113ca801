#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/training/bench.h"

namespace roper {

/// Another program that trains the same model, tests/bench/peers.py, in a process of its own that takes steps
/// when it is asked to.
class Peer {
  public:
    struct Kind {
        std::string name;  ///< as in the table
        std::string peer;  ///< as the script knows it
        bool warm_heap;    ///< with our own setting of the heap
        int steps_a_turn;
    };
    /// Starts it and waits for its first step. @throws Error (other) if it ends before
    Peer(Kind kind, const std::string& work, const std::string& method);
    ~Peer();

    void turn();

    /// Ends it. → its peak memory in mebibytes
    double end();

    const Kind& kind() const { return kind_; }
    const BenchTimes& times() const { return times_; }
    double firstStepSeconds() const { return first_step_s_; }

  private:
    Kind kind_;
    std::unique_ptr<class ConversingProcess> process_;
    double first_step_s_ = 0;
    BenchTimes times_;
};

/// All peers, by turns. @throws Error (usage) if `./lab setup --peers` has not been
std::vector<std::unique_ptr<Peer>> startPeers(const std::string& work, const std::string& method);

}  // namespace roper
