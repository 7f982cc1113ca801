#pragma once

#include <string>
#include <vector>

#include "core/explorer/setup_text.h"

namespace roper {

/// A state of an explorer page in which one idea can be seen.
struct Example {
    std::string name;    ///< of files: small letters and hyphens
    std::string page;    ///< as `roper-lab --page` names it
    std::string figure;  ///< the picture that shows it
    std::string title;
    std::string about;  ///< one sentence: what can be seen
    Setup setup;
    ViewSettings view;

    /// File name of its picture, in docs/gallery and in resources/examples.
    std::string pictureName() const { return page + "-" + name + ".png"; }
};

/// In the order in which pages list them.
const std::vector<Example>& examples();

/// @throws Error (usage) with the nearest known name
const Example& findExample(const std::string& name);

/// Those of a page.
std::vector<const Example*> examplesOf(const std::string& page);

// Heads that do one thing, made so that it can be seen why. Their scores are ⟨R(n)q, R(j)k⟩/√d under the
// setup's rotation, with one token for each word of its sentence. [T × d] each.

/// Every query looks at the token before: k = R(1)q, so that the product is largest where j = n − 1. Fast
/// pairs alone carry it, which tell neighbours apart.
HeadVectors previousTokenHead(const Setup& setup);

/// Queries look at what is near: q = k in pairs of middle speed, whose cosines fall together with the
/// distance.
HeadVectors localHead(const Setup& setup);

/// Queries look at the same word, wherever it stands: q = k is a vector of the word in the slow pairs, which
/// hardly rotate within a sentence. (Barbero et al. 2024, arXiv 2410.06205, find content in slow pairs.)
HeadVectors contentHead(const Setup& setup);

}  // namespace roper
