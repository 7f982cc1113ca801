#pragma once

namespace roper {

/// Whether linear layers of one kind have biases.
enum class BiasRule {
    never,       ///< a bias in the file is refused: the reference program would not add it
    always,      ///< a missing bias is refused
    if_present,  ///< used if the file has them
};

/// One rule for each kind of linear layer of a model.
struct BiasRules {
    BiasRule query_key_value = BiasRule::if_present, output = BiasRule::if_present,
             feed_forward = BiasRule::if_present, head = BiasRule::if_present;
    BiasRule head_dense = BiasRule::always;  ///< of b in `Architecture::head_activation`
};

}  // namespace roper
