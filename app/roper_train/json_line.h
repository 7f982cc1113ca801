#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/console.h"
#include "core/base/error.h"
#include "core/reading/answer_writer.h"

namespace roper {

/// One JSON object per line on stdout, as answers are printed.
inline void print(const nlohmann::ordered_json& json) {
    AnswerWriter(std::cout, AnswerFormat::json).line(json);
}

/// Answers about several models or texts in turn, and goes on with the next after an error, which it prints
/// in the answer's place: as JSON beside what `named` says of that one. An error about the only one is
/// thrown, unless JSON is printed.
/// @returns the exit code of the first error, otherwise 0
template <class One, class Answer, class Named>
int answerEach(const std::vector<One>& all, bool json, const Answer& answer, const Named& named) {
    int code = 0;
    for (const One& one : all) {
        try {
            answer(one);
        } catch (const Error& error) {
            if (all.size() == 1 && !json) throw;
            if (code == 0) code = error.exitCode();
            if (json) {
                nlohmann::ordered_json line = named(one);
                line["error"] = error.what();
                print(line);
            } else {
                tellPerson(std::string("roper-train: ") + error.what());
            }
        }
    }
    return code;
}

}  // namespace roper
