#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/look/head_report.h"
#include "core/look/value_kernel.h"

namespace roper {

// What a model answers, as plain numbers, and how that is sent: as JSON (docs/control-socket.md).

/// What a model is, and what working with it costs here.
struct ModelSummary {
    std::string name, family;
    std::int64_t layers = 0, heads = 0, key_value_heads = 0, head_dim = 0, width = 0, feed_forward = 0,
                 vocabulary = 0;
    std::int64_t context = 0;     ///< tokens of the texts that it was trained on; 0: not known
    std::int64_t parameters = 0;  ///< how many numbers its files hold
    bool causal = true;
    bool rotates = false, rotates_values = false;
    std::vector<double> theta = {};       ///< of the first layer, radians per position
    std::vector<std::string> notes = {};  ///< about how it was read
    double gflops = 0;                    ///< what products of matrices reach here, measured
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

/// The loss when all bands but some are left out of the scores.
struct BandSubset {
    std::vector<int> kept;  ///< of the bands, from the fastest on
    double loss = 0;
};
struct SubsetsAnswer {
    std::vector<std::string> bands;  ///< the pairs of each: "0-7", "8-15"
    std::vector<BandSubset> subsets;
};

std::string formatAnswer(const ModelSummary& answer);
std::string formatAnswer(const TextReading& answer);
std::string formatAnswer(const HeadsAnswer& answer);
std::string formatAnswer(const GeneratedText& answer);
std::string formatAnswer(const KernelsAnswer& answer);
std::string formatAnswer(const SubsetsAnswer& answer);

/// Reads one of these. @throws Error (checkpoint) if it is not what was asked for
template <class Answer>
Answer parseAnswer(std::string_view json);

}  // namespace roper
