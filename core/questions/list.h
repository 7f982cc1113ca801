#pragma once

// All questions about a model, in the order of --help. A question consists of an entry here, its answer type
// in answers.h and core/reading/answer_NAME.cpp. The columns are the members of QuestionKind.
#define ROPER_QUESTIONS(QUESTION)                                                                            \
    QUESTION(model, .help = "describe the model: architecture, rotation, data types, size",                  \
             .reads_text = false, .can_change = false)                                                       \
    QUESTION(loss, .help = "surprisal (−ln p) of every token, in nats")                                      \
    QUESTION(logits, .help = "most likely next tokens after each token", .count_meaning = "candidates",      \
             .default_count = 5)                                                                             \
    QUESTION(generate, .help = "continue the text", .count_meaning = "tokens to generate",                   \
             .default_count = 32, .repeats_passes = true, .specific_settings = {"temperature", "seed"})      \
    QUESTION(heads, .help = "attention statistics of every head", .heads = Heads::chosen)                    \
    QUESTION(bands, .help = "share of each rotated pair in the variance of a head's scores",                 \
             .heads = Heads::chosen)                                                                         \
    QUESTION(thumbnails, .help = "attention maps of all heads, downsampled",                                 \
             .count_meaning = "cells per side", .default_count = 40, .is_printed = false)                    \
    QUESTION(attention, .help = "attention weights of one head", .heads = Heads::one,                        \
             .specific_settings = {"out"})                                                                   \
    QUESTION(induction, .help = "prefix-matching score of every head on repeated random tokens",             \
             .count_meaning = "random tokens", .default_count = 25, .heads = Heads::chosen,                  \
             .reads_text = false, .specific_settings = {"seed"})                                             \
    QUESTION(kernels,                                                                                        \
             .help =                                                                                         \
                 "value kernel of every head: norm of its OV circuit by distance, and cosine similarity to " \
                 "distance 0",                                                                               \
             .count_meaning = "distances", .default_count = 32, .heads = Heads::chosen, .reads_text = false, \
             .can_change = false)                                                                            \
    QUESTION(kernel_history, .help = "value kernel of one head at every checkpoint of a run",                \
             .count_meaning = "distances", .default_count = 32, .heads = Heads::one, .reads_text = false,    \
             .can_change = false)                                                                            \
    QUESTION(ov_by_distance, .help = "singular values of one head's OV circuit by distance",                 \
             .count_meaning = "distances", .default_count = 16, .heads = Heads::one, .reads_text = false,    \
             .can_change = false)                                                                            \
    QUESTION(                                                                                                \
        token_map, .help = "what one head adds to the logits when it attends to each token of the text",     \
        .heads = Heads::one, .can_change = false, .repeats_passes = true, .specific_settings = {"distance"}) \
    QUESTION(copying, .help = "copying score of every head on the tokens of the text",                       \
             .heads = Heads::chosen, .can_change = false)                                                    \
    QUESTION(subsets, .help = "loss when only some groups of rotated pairs are kept, for every subset",      \
             .count_meaning = "groups", .default_count = 4, .repeats_passes = true)                          \
    QUESTION(lengths, .help = "loss by position, with original and scaled frequencies",                      \
             .repeats_passes = true, .specific_settings = {"factor", "original_length"})                     \
    QUESTION(needle, .help = "whether the model finds a sentence hidden in the text",                        \
             .count_meaning = "depths", .default_count = 5, .repeats_passes = true,                          \
             .specific_settings = {"needle", "question", "answer"})                                          \
    QUESTION(lens, .help = "logit lens: the prediction of every layer", .repeats_passes = true)              \
    QUESTION(experts, .help = "mixtures of experts: the experts that the router chooses for each token")     \
    QUESTION(solve, .help = "problems of its own task that a run solves", .count_meaning = "problems",       \
             .default_count = 64, .reads_text = false, .repeats_passes = true)                               \
    QUESTION(patch, .help = "activation patching: effect of each head on the answers to two texts",          \
             .heads = Heads::chosen, .repeats_passes = true, .specific_settings = {"other", "positions"})    \
    QUESTION(vectors, .help = "queries, keys and values of one head, before rotation", .heads = Heads::one,  \
             .can_change = false, .is_printed = false)                                                       \
    QUESTION(maps, .help = "attention of all heads, and the norms of their rotated pairs",                   \
             .can_change = false, .is_printed = false)                                                       \
    QUESTION(continuation, .help = "continue the text, with attention and candidates",                       \
             .count_meaning = "tokens to generate", .default_count = 64, .can_change = false,                \
             .repeats_passes = true, .is_printed = false, .specific_settings = {"temperature", "seed"})
