#pragma once

namespace roper {

/// Whether linear layers of one kind have biases.
enum class BiasRule {
    never,    ///< a bias in the file is refused: no program would add it
    always,   ///< a missing bias is refused
    as_file,  ///< used if the file has them
};

/// One rule for each kind of linear layer of a model.
struct BiasRules {
    BiasRule query_key_value = BiasRule::as_file, output = BiasRule::as_file,
             feed_forward = BiasRule::as_file, head = BiasRule::as_file;
};

}  // namespace roper
