#pragma once

#include <string_view>

/// What must hold of every file that a stranger may hand us. Each check takes the bytes of one, reads it in every way
/// there is, and throws Finding where a promise is broken; whatever is worse than that, the sanitizers see.
///
/// fuzz/target.cpp puts a check behind libFuzzer, and tests/fuzz_corpus_test.cpp replays the kept corpus through them.
namespace lrvb::fuzz {

/// A model in BUGS, a line of three dashes, and data in JSON or R's dump format; without the line, any of these.
void check_bugs(std::string_view bytes);

/// The first byte gives the size of the blocks and what is done about missing values; the rest is the CSV file.
void check_csv(std::string_view bytes);

void check_fit(std::string_view bytes);

/// A formula, or the sentence of a prior.
void check_formula(std::string_view bytes);

void check_npy(std::string_view bytes);

}  // namespace lrvb::fuzz
