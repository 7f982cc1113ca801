#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/console.h"
#include "core/base/error.h"
#include "core/reading/answer_writer.h"

namespace roper {

/// Prints a JSON object as one line on stdout.
inline void print(const nlohmann::ordered_json& json) {
    AnswerWriter(std::cout, AnswerFormat::json).line(json);
}

/// Calls `answer`, which prints, for each item: a model or a text. An error is printed in the answer's place,
/// and the next item follows; with `json`, as a member "error" of the object that `identify` returns for the
/// item. The error of a single item is thrown, unless JSON is printed.
/// @returns the exit code of the first error, otherwise 0
template <class One, class Answer, class Identify>
int answerEach(const std::vector<One>& all, bool json, const Answer& answer, const Identify& identify) {
    int code = 0;
    for (const One& one : all) {
        try {
            answer(one);
        } catch (const Error& error) {
            if (all.size() == 1 && !json) throw;
            if (code == 0) code = error.exitCode();
            if (json) {
                nlohmann::ordered_json line = identify(one);
                line["error"] = error.what();
                print(line);
            } else {
                reportToUser(std::string("roper-train: ") + error.what());
            }
        }
    }
    return code;
}

}  // namespace roper
