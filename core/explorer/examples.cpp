#include "core/explorer/examples.h"

#include <cmath>
#include <functional>
#include <map>

#include "core/base/text.h"
#include "core/fields/registry.h"

namespace roper {
namespace {

std::vector<std::string> wordsOf(const Setup& setup) {
    std::vector<std::string> words;
    for (const std::string& word : split(setup.words, ' '))
        if (!word.empty()) words.push_back(word);
    return words;
}

/// Zero queries, keys and values for all tokens.
HeadVectors emptyHead(const Setup& setup) {
    const auto T = static_cast<Eigen::Index>(wordsOf(setup).size());
    HeadVectors heads;
    heads.Q = heads.K = Eigen::MatrixXd::Zero(T, setup.head_dim);
    heads.V = normalMatrix(T, setup.head_dim, setup.seed);
    return heads;
}

/// Two decimals, so that users can read the numbers in the table and type them.
HeadVectors rounded(HeadVectors heads) {
    for (Eigen::MatrixXd* each : {&heads.Q, &heads.K, &heads.V})
        *each = (100 * each->array()).round() / 100;
    return heads;
}

/// Gives queries the length `size` in every pair with a frequency in the range, and keys the same vectors,
/// rotated by `ahead` more positions.
HeadVectors headOfPairs(const Setup& setup, double least_theta, double most_theta, double size,
                        double ahead) {
    HeadVectors heads = emptyHead(setup);
    const Rotary rotary = setup.rotary();
    for (int pair = 0; pair < rotary.pairs(); ++pair) {
        const double theta = rotary.frequency(pair);
        if (theta < least_theta || theta > most_theta) continue;
        const auto [first, second] = rotary.plane(pair);
        heads.Q.col(first).setConstant(size);
        heads.K.col(first).setConstant(size * std::cos(ahead * theta));
        heads.K.col(second).setConstant(size * std::sin(ahead * theta));
    }
    return rounded(heads);
}

Setup withHead(Setup setup, const HeadVectors& heads) {
    setup.source = VectorSource::hand;
    setup.tokens = heads.tokens();
    setup.manual_vectors = heads;
    setup.method = "rope";
    setup.map = MapKind::weights;
    return sanitized(setup);
}

Setup changed(const std::function<void(Setup&)>& change) {
    Setup setup;
    change(setup);
    return sanitized(setup);
}

std::vector<Example> ofRotation() {
    const auto view = [](const char* above, const char* below) {
        return ViewSettings{{"view.rotation", above}, {"view.rotation_below", below}};
    };
    return {
        {"worked-example", "rotation", "worked-example", "“cat” at position 3",
         "The worked example: four features, rotated step by step.", withWorkedExample(Setup{}),
         view("0", "1")},
        {"fast-pair", "rotation", "rotation", "The fastest pair",
         "One radian per position: a full turn after 6.3 positions.", changed([](Setup& s) { s.pair = 0; }),
         view("0", "0")},
        {"slow-pair", "rotation", "rotation", "A slow pair",
         "Over a whole sentence, its arrows hardly separate.", changed([](Setup& s) { s.pair = 20; }),
         view("0", "0")},
        {"relative", "rotation", "two-vectors", "Only the distance counts",
         "Shift both positions: the product of query and key stays the same.", changed([](Setup& s) {
             s.position = 9;
             s.key_position = 4;
             s.shift = 3;
         }),
         view("1", "0")},
    };
}

std::vector<Example> ofSpectrum() {
    const ViewSettings any;
    return {
        {"decay", "spectrum", "decay", "Decay as in Su et al.",
         "A head of 128 features, base 10000: the bound on scores falls with distance.",
         changed([](Setup& s) {
             s.head_dim = 128;
             s.distances = 257;
         }),
         any},
        {"base-500000", "spectrum", "decay", "A base of 500,000",
         "Llama 3's base: slow pairs become slower, and distant keys keep more of their weight.",
         changed([](Setup& s) {
             s.head_dim = 128;
             s.base = 500000;
             s.context_length = 8192;
             s.distances = 257;
         }),
         any},
        {"longer-text", "spectrum", "spectrum", "A text longer than in training",
         "Trained on 4096 positions, read at 32768: three ways to stretch the wavelengths.",
         changed([](Setup& s) {
             s.head_dim = 128;
             s.scaling.method = ScalingMethod::yarn;
             s.scaling.factor = 8;
             s.scaling.original_length = 4096;
             s.context_length = 32768;
             s.overlays = {ScalingMethod::linear, ScalingMethod::ntk};
         }),
         any},
        {"partial-rotation", "spectrum", "spectrum", "A partial rotation",
         "Pythia rotates a quarter of its features; the others carry only content.", changed([](Setup& s) {
             s.rotary_fraction = 0.25;
             s.context_length = 2048;
             s.pair = 2;
         }),
         any},
    };
}

std::vector<Example> ofAttention() {
    const Setup plain;
    const ViewSettings below{{"view.attention_below", "0"}};
    return {
        {"position-alone", "attention", "scores", "Position alone",
         "All tokens are the same: a score depends only on distance, so stripes follow the diagonal.",
         changed([](Setup& s) {
             s.similarity = 1;
             s.tokens = 25;
             s.causal = false;
             s.method = "rope";
             s.query = 12;
             s.key = 8;
         }),
         below},
        {"previous-token", "attention", "weights", "A previous-token head",
         "Keys are queries rotated by one more position, so every query attends to the previous token.",
         withHead(plain, previousTokenHead(plain)), below},
        {"local", "attention", "weights", "A local head",
         "Queries and keys agree in pairs of medium speed, which favors nearby tokens.",
         withHead(plain, localHead(plain)), below},
        {"content", "attention", "weights", "A content head",
         "Words are encoded in slow pairs: “the” finds every other “the”, however far away.",
         withHead(plain, contentHead(plain)), below},
        {"mistake", "attention", "shift-difference", "A mistake revealed by a shift",
         "Keys rotate the wrong way: shifting all positions changes the scores.", changed([](Setup& s) {
             s.method = "rope";
             s.mistake = Mistake::wrong_direction;
             s.map = MapKind::shift_difference;
             s.shift = kExampleShift;
         }),
         below},
    };
}

std::vector<Example> ofMixing() {
    const ViewSettings chain{{"view.mixing_below", "0"}}, shift{{"view.mixing_below", "2"}};
    return {
        {"one-token", "value-mixing", "mixing", "One token on a clock",
         "RoPE's output stands still; RoPER's shows how far away the token is.", sanitized(Setup{}), chain},
        {"two-tokens", "value-mixing", "mixing", "Two tokens",
         "Two equal values add up or cancel depending on their distance.",
         changed([](Setup& s) { s.mixed_tokens = MixedTokens::two; }), chain},
        {"all-tokens", "value-mixing", "mixing", "All tokens",
         "Every value with its weight, placed head to tail.",
         changed([](Setup& s) { s.mixed_tokens = MixedTokens::all; }), chain},
        {"inverse-forgotten", "value-mixing", "shift-test", "The inverse omitted",
         "The sentence moves, and the output rotates with it.", changed([](Setup& s) {
             s.mixed_tokens = MixedTokens::all;
             s.mistake = Mistake::no_inverse;
             s.shift = 12;
         }),
         shift},
    };
}

}  // namespace

HeadVectors previousTokenHead(const Setup& setup) {
    return headOfPairs(setup, 0.2, 1, 6, 1);
}

HeadVectors localHead(const Setup& setup) {
    return headOfPairs(setup, 0.1, 0.5, 3, 0);
}

HeadVectors contentHead(const Setup& setup) {
    constexpr double kMaxTheta = 0.01, kSize = 2.5;
    HeadVectors heads = emptyHead(setup);
    const Rotary rotary = setup.rotary();
    const std::vector<std::string> words = wordsOf(setup);
    std::map<std::string, Eigen::RowVectorXd> vectors;
    for (std::size_t token = 0; token < words.size(); ++token) {
        if (vectors.count(words[token]) == 0)
            vectors[words[token]] =
                kSize * normalMatrix(1, setup.head_dim, setup.seed + 100 + token) / std::sqrt(2);
        for (int pair = 0; pair < rotary.pairs(); ++pair) {
            if (rotary.frequency(pair) > kMaxTheta) continue;
            const auto [first, second] = rotary.plane(pair);
            for (const int feature : {first, second}) {
                const auto row = static_cast<Eigen::Index>(token);
                heads.Q(row, feature) = heads.K(row, feature) = vectors[words[token]](feature);
            }
        }
    }
    return rounded(heads);
}

const std::vector<Example>& examples() {
    static const std::vector<Example> all =
        concatenated<Example>({ofRotation(), ofSpectrum(), ofAttention(), ofMixing()});
    return all;
}

const Example& findExample(const std::string& name) {
    return findUserEntry(examples(), name, "example");
}

std::vector<const Example*> examplesForPage(const std::string& page) {
    std::vector<const Example*> found;
    for (const Example& example : examples())
        if (example.page == page) found.push_back(&example);
    return found;
}

}  // namespace roper
