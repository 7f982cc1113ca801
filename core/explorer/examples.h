#pragma once

#include <string>
#include <vector>

#include "core/explorer/setup_text.h"

namespace roper {

/// A state of an explorer page that demonstrates one idea.
struct Example {
    std::string name;    ///< in file names: lower-case letters and hyphens
    std::string page;    ///< as in `roper-lab --page`
    std::string figure;  ///< the figure that shows it
    std::string title;
    std::string description;  ///< what it shows, in one sentence
    Setup setup;
    ViewSettings view;

    /// File name of its picture in docs/gallery.
    std::string pictureName() const { return page + "-" + name + ".png"; }
};

/// In the order of the pages' lists.
const std::vector<Example>& examples();

/// @throws Error (usage) with the nearest known name
const Example& findExample(const std::string& name);

/// The examples of a page.
std::vector<const Example*> examplesForPage(const std::string& page);

// Artificial heads with one known behavior. Their scores are ⟨R(n)q, R(j)k⟩/√d under the setup's rotation,
// with one token per word of its sentence. [T × d] each.

/// Every query attends to the preceding token: k = R(1)q, so that the product is largest at j = n − 1. Only
/// fast pairs contribute, since they distinguish neighboring tokens.
HeadVectors previousTokenHead(const Setup& setup);

/// Queries attend to nearby tokens: q = k in pairs of medium speed, whose cosines decrease together with
/// distance.
HeadVectors localHead(const Setup& setup);

/// Queries attend to the same word at any distance: q = k is a vector of the word in the slow pairs, which
/// hardly rotate within a sentence. (Barbero et al. 2024, arXiv 2410.06205, find content in slow pairs.)
HeadVectors contentHead(const Setup& setup);

}  // namespace roper
