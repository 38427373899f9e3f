#pragma once

#include <lrvb/bugs/syntax.hpp>

#include <string>
#include <vector>

/// Relations, heads of loops and declarations as they are written. What stands around them, and what is done where one
/// is wrong, is parser.cpp's.
namespace lrvb::bugs {

/// What is wrong, and where.
struct SyntaxProblem {
    Place place;
    std::string sentence;
};

/// Reads one thing that begins at `at`, and moves `at` behind it. Throws SyntaxProblem. Comments of the text are
/// spaces.
Relation parse_relation(const std::string& text, std::size_t& at);
/// From `(` on: "(i in 1:N)".
Loop parse_loop(const std::string& text, std::size_t& at);
/// From behind `var` on: "x[10], y".
std::vector<Declaration> parse_declarations(const std::string& text, std::size_t& at);

bool is_name_byte(char c);
/// "'mu'", or the sign that stands there: what is one thing, in quotes.
std::string thing_at(const std::string& text, std::size_t at);
Place place_of_thing(const std::string& text, std::size_t at);

constexpr std::size_t kDeepestBrackets = 50;
constexpr std::size_t kDeepestExpression = 1000;

}  // namespace lrvb::bugs
