#pragma once

#include "bugs/grammar.hpp"

#include <string>
#include <string_view>

/// Mistakes as people make them, in words: what is wrong where the grammar gave up, and what to write instead.
namespace lrvb::bugs {

// What the grammar expected.
inline constexpr auto kValueMissing = "value";
inline constexpr auto kNotClosed = "close";
inline constexpr auto kBoundsComma = "comma of bounds";
inline constexpr auto kNoRelation = "relation";
inline constexpr auto kNoRelationSign = "sign";
inline constexpr auto kNoDistribution = "distribution";
inline constexpr auto kNoArguments = "arguments";
inline constexpr auto kLoopOpening = "loop opening";
inline constexpr auto kLoopIndex = "loop index";
inline constexpr auto kLoopIn = "in";
inline constexpr auto kDeclaredName = "declared";

/// Something was expected that is not there. `begin` is where the relation began, `at` where it is missed.
SyntaxProblem problem_in_words(std::string_view expected, const std::string& text, std::size_t begin, std::size_t at);

/// Something follows a whole relation that is neither another nor a brace.
SyntaxProblem problem_behind_relation(const std::string& text, std::size_t begin, std::size_t at);

}  // namespace lrvb::bugs
