#pragma once

// All questions about a model, in the order of --help. A question consists of an entry here, its answer type
// in answers.h and core/reading/answer_NAME.cpp. The columns are the members of QuestionKind.
#define ROPER_QUESTIONS(QUESTION)                                                                           \
    QUESTION(model, .help = "what the model is", .reads_text = false, .can_change = false)                  \
    QUESTION(loss, .help = "−ln p of every token, in nats")                                                 \
    QUESTION(logits, .help = "the likeliest successors of every token", .counted = "candidates",            \
             .usual_count = 5)                                                                              \
    QUESTION(generate, .help = "how the model continues the text", .counted = "tokens to generate",         \
             .usual_count = 32, .repeats_passes = true, .own = {"temperature", "seed"})                     \
    QUESTION(heads, .help = "what every head does", .heads = Heads::chosen)                                 \
    QUESTION(bands, .help = "what each pair of features contributes to the scores", .heads = Heads::chosen) \
    QUESTION(thumbnails, .help = "attention of all heads, in few cells", .counted = "cells of a side",      \
             .usual_count = 40, .is_printed = false)                                                        \
    QUESTION(attention, .help = "attention weights", .heads = Heads::one, .own = {"out"})                   \
    QUESTION(induction, .help = "prefix-matching score of every head on random tokens that repeat",         \
             .counted = "random tokens", .usual_count = 25, .heads = Heads::chosen, .reads_text = false,    \
             .own = {"seed"})                                                                               \
    QUESTION(kernels, .help = "the value kernel of every head by distance", .counted = "distances",         \
             .usual_count = 32, .heads = Heads::chosen, .reads_text = false, .can_change = false)           \
    QUESTION(kernel_history, .help = "the value kernel of one head at every checkpoint of a run",           \
             .counted = "distances", .usual_count = 32, .heads = Heads::one, .reads_text = false,           \
             .can_change = false)                                                                           \
    QUESTION(ov_by_distance, .help = "singular values of one head's OV circuit by distance",                \
             .counted = "distances", .usual_count = 16, .heads = Heads::one, .reads_text = false,           \
             .can_change = false)                                                                           \
    QUESTION(token_map, .help = "what one head adds to the logits for each token that it attends to",       \
             .heads = Heads::one, .can_change = false, .repeats_passes = true, .own = {"distance"})         \
    QUESTION(copying, .help = "copying score of every head on the tokens of the text",                      \
             .heads = Heads::chosen, .can_change = false)                                                   \
    QUESTION(subsets, .help = "the loss with every subset of bands", .counted = "bands", .usual_count = 4,  \
             .repeats_passes = true)                                                                        \
    QUESTION(lengths, .help = "the loss by position, with frequencies as they are and scaled",              \
             .repeats_passes = true, .own = {"factor", "original_length"})                                  \
    QUESTION(needle, .help = "whether the model finds a sentence hidden in the text", .counted = "depths",  \
             .usual_count = 5, .repeats_passes = true, .own = {"needle", "question", "answer"})             \
    QUESTION(lens, .help = "what every layer would predict (logit lens)", .repeats_passes = true)           \
    QUESTION(solve, .help = "which of its task's problems a run solves", .counted = "problems",             \
             .usual_count = 64, .reads_text = false, .repeats_passes = true)                                \
    QUESTION(patch, .help = "which heads make the answers to two texts differ (activation patching)",       \
             .heads = Heads::chosen, .repeats_passes = true, .own = {"other", "positions"})                 \
    QUESTION(vectors, .help = "queries, keys and values of one head, before rotation", .heads = Heads::one, \
             .can_change = false, .is_printed = false)                                                      \
    QUESTION(maps, .help = "attention of all heads, and the lengths of their pairs", .can_change = false,   \
             .is_printed = false)                                                                           \
    QUESTION(continuation, .help = "how the model continues the text, with attention and candidates",       \
             .counted = "tokens to generate", .usual_count = 64, .can_change = false,                       \
             .repeats_passes = true, .is_printed = false, .own = {"temperature", "seed"})
