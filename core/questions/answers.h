#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/questions/head_report.h"
#include "core/questions/value_kernel.h"

namespace roper {

// What a model answers, as plain numbers, and how that is sent: as JSON (docs/control-socket.md).

/// What a model is, and what working with it costs here.
struct ModelSummary {
    std::string name, family;
    std::int64_t layers = 0, heads = 0, key_value_heads = 0, head_dim = 0, width = 0, feed_forward = 0,
                 vocabulary = 0;
    std::int64_t context = 0;     ///< tokens of the texts that it was trained on; 0: not known
    std::int64_t parameters = 0;  ///< numbers that were trained, each once
    bool causal = true;
    bool rotates = false, rotates_values = false;
    std::vector<double> theta = {};              ///< of the first layer, radians per position
    std::vector<std::string> notes = {};         ///< about how it was read
    bool has_problems = false;                   ///< a run of a task whose problems it can be given
    std::vector<std::int64_t> checkpoints = {};  ///< of a run: the steps of those it has, ascending
    double gflops = 0;                           ///< what products of matrices reach here, measured
};

/// A token that may come next.
struct Prediction {
    std::int64_t id = 0;
    std::string token = {};  ///< its text
    double logit = 0, probability = 0;
};

/// How a model reads a text.
struct TextReading {
    std::vector<std::int64_t> ids;
    std::vector<std::string> tokens;  ///< their texts
    std::vector<double> nll;          ///< −ln p of every token but the first, in nats
    double loss = 0;                  ///< their mean
    std::vector<std::vector<Prediction>> predictions =
        {};  ///< of every token's successor, the likeliest first
};

/// What every head does with a text.
struct HeadsAnswer {
    std::vector<std::string> tokens;
    std::vector<std::vector<double>> theta;  ///< of every layer, radians per position
    std::vector<HeadReport> heads;           ///< layer by layer
};

/// What a model writes after a text.
struct GeneratedText {
    std::vector<std::int64_t> ids, generated;
    std::vector<std::string> tokens;  ///< of both
    std::vector<double> probability;  ///< of each generated token
    std::string text;                 ///< what was generated
};

/// What every head makes of a value by its distance.
struct KernelsAnswer {
    std::vector<ValueKernel> kernels;  ///< layer by layer
};

/// What one head of a run made of a value by its distance at every checkpoint that the run has.
struct KernelHistory {
    std::int64_t layer = 0, head = 0;
    std::vector<std::int64_t> steps;   ///< ascending
    std::vector<ValueKernel> kernels;  ///< one for each step
};

/// The circuit from a token to the logits through one head (Elhage et al. 2021), by distance: entry (a, b) is
/// what attending with weight 1 to token a, δ positions back, adds to the logit of token b, before the final
/// norm divides by its scale: (W_U γ K(δ) x_a)_b, where x_a is the token's embedding after the layer's norm
/// and γ the weight of the final one. Biases are left out.
struct TokenMap {
    std::int64_t layer = 0, head = 0, distance = 0;
    std::vector<std::string> tokens;          ///< of the text, each once
    std::vector<std::vector<double>> logits;  ///< [tokens][tokens]
};

/// The loss when all bands but some are left out of the scores.
struct BandSubset {
    std::vector<int> kept;  ///< of the bands, from the fastest on
    double loss = 0;
};
struct SubsetsAnswer {
    std::vector<std::string> bands;  ///< the pairs of each: "0-7", "8-15"
    std::vector<BandSubset> subsets;
};

/// −ln p by position, with frequencies as they are and scaled in several ways.
struct LengthsAnswer {
    struct Variant {
        std::string scaling;      ///< one of `scalingNames`; "none": as they are
        std::vector<double> nll;  ///< of every token but the first
    };
    double factor = 1;         ///< of the scaled ones
    std::int64_t trained = 0;  ///< tokens of the texts that it was trained on
    std::vector<Variant> variants;
};

/// How far a sentence is found again that stands somewhere in a long text.
struct NeedleAnswer {
    std::vector<std::int64_t> lengths;     ///< tokens of the text, with the needle and the question
    std::vector<double> depths;            ///< 0: at its beginning, 1: right before the question
    std::vector<std::vector<double>> nll;  ///< [lengths][depths] −ln p of the answer's tokens, their mean
    std::vector<std::vector<bool>> found;  ///< whether each of them was the likeliest
};

/// What the head would make of the residual stream after every layer (nostalgebraist 2020). Of layer −1, the
/// embeddings, first.
struct LensAnswer {
    std::vector<std::string> tokens;
    std::vector<std::vector<std::string>> top;     ///< [layers + 1][T] the likeliest successor
    std::vector<std::vector<double>> probability;  ///< of it
    std::vector<std::vector<double>> nll;  ///< [layers + 1][T − 1] −ln p of the token that follows
};

/// What putting a head's output of one text into a pass over another does to the answer: the share of the
/// difference between the logits of both answers that it restores (activation patching; Wang et al. 2022,
/// arXiv 2211.00593). 0: nothing, 1: all of it.
struct PatchAnswer {
    std::int64_t layer = 0, head = 0;  ///< of what is patched position by position
    std::vector<std::string> tokens, other_tokens;
    std::string answer, other_answer;  ///< the likeliest successors of both texts
    double difference = 0;             ///< logit of `answer` less that of `other_answer`, of the text
    double other_difference = 0;       ///< the same of the other text
    std::vector<std::vector<double>>
        restored;  ///< [layers][heads], or [1][T] position by position of one head
};

/// Which of its task's problems a run of ours solves, the same ones as it was trained and with a change.
struct SolvedAnswer {
    std::vector<std::string> prompts;
    std::vector<bool> solved;   ///< as it was trained
    std::vector<bool> changed;  ///< with the change

    static std::int64_t count(const std::vector<bool>& of) { return std::count(of.begin(), of.end(), true); }
    /// How many are solved in one way alone.
    std::int64_t lost() const;
    std::int64_t gained() const;
};

/// Any of these as it is sent. What is not UTF-8, such as a token that is part of a character, becomes
/// U+FFFD.
template <class Answer>
std::string formatAnswer(const Answer& answer);

/// Reads one of these. @throws Error (checkpoint) if it is not what was asked for
template <class Answer>
Answer parseAnswer(std::string_view json);

}  // namespace roper
