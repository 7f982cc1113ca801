#pragma once

// All questions about a model, in the order of --help. A question consists of an entry here, its answer type
// in answers.h and core/reading/answer_NAME.cpp. The columns are the members of QuestionKind.
#define ROPER_QUESTIONS(QUESTION)                                                                            \
    QUESTION(model, .help = "describe the model: architecture, rotation, data types, size",                  \
             .reads_text = false, .accepts_changes = false)                                                  \
    QUESTION(loss, .help =                                                                                   \
                       "surprisal (−ln p) of every token, in nats; for an encoder, each token is masked "  \
                       "in turn, with one forward pass per token")                                           \
    QUESTION(logits,                                                                                         \
             .help =                                                                                         \
                 "most likely next tokens after each token; for an encoder, most likely tokens in place "    \
                 "of each, with one forward pass per token",                                                 \
             .count_meaning = "candidates", .default_count = 5)                                              \
    QUESTION(generate, .help = "continue the text", .count_meaning = "tokens to generate",                   \
             .default_count = 32, .repeats_passes = true, .needs_causal = true,                              \
             .specific_settings = {"temperature", "seed"})                                                   \
    QUESTION(heads, .help = "attention entropy, mean distance and label (such as induction) of every head",  \
             .heads = Heads::chosen)                                                                         \
    QUESTION(pairs, .help = "fraction of the variance of a head's scores due to each rotated pair",          \
             .former_name = "bands", .heads = Heads::chosen)                                                 \
    QUESTION(score_parts,                                                                                    \
             .help = "scores of every head, split into what rotated and unrotated features contribute",      \
             .heads = Heads::chosen)                                                                         \
    QUESTION(thumbnails, .help = "attention maps of all heads, downsampled",                                 \
             .count_meaning = "cells per side", .default_count = 40, .is_printed = false)                    \
    QUESTION(attention, .help = "attention weights of one head", .heads = Heads::one,                        \
             .specific_settings = {"out"})                                                                   \
    QUESTION(induction,                                                                                      \
             .help =                                                                                         \
                 "prefix-matching score of every head: attention to the token after an earlier occurrence "  \
                 "of the same token, among repeated random tokens",                                          \
             .count_meaning = "random tokens", .default_count = 25, .heads = Heads::chosen,                  \
             .reads_text = false, .needs_causal = true, .specific_settings = {"seed"})                       \
    QUESTION(                                                                                                \
        kernels,                                                                                             \
        .help =                                                                                              \
            "value kernel W_O R(−δ) W_V of every head (its OV circuit at distance δ): norm, and cosine " \
            "similarity to that at distance 0",                                                              \
        .count_meaning = "distances", .default_count = 32, .heads = Heads::chosen, .reads_text = false,      \
        .accepts_changes = false)                                                                            \
    QUESTION(kernel_history, .help = "value kernel of one head at every checkpoint of a run",                \
             .count_meaning = "distances", .default_count = 32, .heads = Heads::one, .reads_text = false,    \
             .accepts_changes = false)                                                                       \
    QUESTION(ov_by_distance, .help = "singular values of one head's OV circuit at each distance",            \
             .count_meaning = "distances", .default_count = 16, .heads = Heads::one, .reads_text = false,    \
             .accepts_changes = false)                                                                       \
    QUESTION(token_map,                                                                                      \
             .help = "what one head adds to the logits when it attends to each token of the text",           \
             .heads = Heads::one, .accepts_changes = false, .repeats_passes = true,                          \
             .specific_settings = {"distance"})                                                              \
    QUESTION(                                                                                                \
        copying,                                                                                             \
        .help =                                                                                              \
            "copying score of every head: how much attending to a token favors that token, from −1 to 1",    \
        .heads = Heads::chosen, .accepts_changes = false)                                                    \
    QUESTION(                                                                                                \
        subsets,                                                                                             \
        .help = "loss with every subset of bands (groups of neighboring rotated pairs), the others ablated", \
        .count_meaning = "bands", .default_count = 4, .repeats_passes = true)                                \
    QUESTION(lengths, .help = "loss at each position, with original and scaled frequencies",                 \
             .repeats_passes = true, .specific_settings = {"factor", "original_length"})                     \
    QUESTION(needle, .help = "whether the model finds a sentence hidden in the text",                        \
             .count_meaning = "depths at which it is hidden", .default_count = 5, .repeats_passes = true,    \
             .needs_causal = true, .specific_settings = {"needle", "question", "answer"})                    \
    QUESTION(lens, .help = "logit lens: what each layer would predict", .repeats_passes = true,              \
             .needs_causal = true)                                                                           \
    QUESTION(experts, .help = "mixture of experts: the experts to which the router sends each token")        \
    QUESTION(sinks,                                                                                          \
             .help = "share of every head's attention that goes to the first token and a learned sink",      \
             .heads = Heads::chosen)                                                                         \
    QUESTION(solve, .help = "for a run: how many problems of its own task it solves",                        \
             .count_meaning = "problems", .default_count = 64, .reads_text = false, .repeats_passes = true)  \
    QUESTION(patch,                                                                                          \
             .help =                                                                                         \
                 "activation patching: fraction of the difference between the predictions for two texts "    \
                 "that patching each head restores",                                                         \
             .heads = Heads::chosen, .repeats_passes = true, .needs_causal = true,                           \
             .specific_settings = {"other", "positions"})                                                    \
    QUESTION(                                                                                                \
        walkthrough,                                                                                         \
        .help = "one head's computation for one token, stage by stage, and the prediction without the head", \
        .count_meaning = "candidates", .default_count = 5, .heads = Heads::one,                              \
        .specific_settings = {"token"})                                                                      \
    QUESTION(vectors, .help = "queries, keys and values of one head, before rotation", .heads = Heads::one,  \
             .accepts_changes = false, .is_printed = false)                                                  \
    QUESTION(maps, .help = "attention of all heads, and the norms of their rotated pairs",                   \
             .accepts_changes = false, .is_printed = false)                                                  \
    QUESTION(continuation, .help = "continue the text, with attention and candidates",                       \
             .count_meaning = "tokens to generate", .default_count = 64, .accepts_changes = false,           \
             .repeats_passes = true, .needs_causal = true, .is_printed = false,                              \
             .specific_settings = {"temperature", "seed"})
