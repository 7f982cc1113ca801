#pragma once

namespace roper {

/// Whether linear layers of some kind have biases.
enum class BiasRule {
    never,    ///< one that stands in the file is refused: no program would add it
    always,   ///< one that is missing is refused
    as_file,  ///< where the file has them
};

/// The same for all linear layers of a model.
struct BiasRules {
    BiasRule query_key_value = BiasRule::as_file, output = BiasRule::as_file,
             feed_forward = BiasRule::as_file, head = BiasRule::as_file;
};

}  // namespace roper
