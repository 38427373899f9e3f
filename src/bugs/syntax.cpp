#include <lrvb/bugs/syntax.hpp>

#include <iterator>
#include <utility>

namespace lrvb::bugs {

namespace {

void copy_without_parts(const Expression& from, Expression& to) {
    to.kind = from.kind;
    to.name = from.name;
    to.number = from.number;
    to.has_brackets = from.has_brackets;
    to.place = from.place;
    to.name_place = from.name_place;
}

/// Empties `parts`, and with them all that is below.
void destroy(std::vector<Expression>& parts) {
    std::vector<Expression> waiting = std::move(parts);
    parts.clear();
    while (!waiting.empty()) {
        std::vector<Expression> below = std::move(waiting.back().parts);
        waiting.pop_back();
        std::move(below.begin(), below.end(), std::back_inserter(waiting));
        below.clear();
    }
}

}  // namespace

Expression::Expression(const Expression& other) {
    std::vector<std::pair<const Expression*, Expression*>> waiting{{&other, this}};
    while (!waiting.empty()) {
        const auto [from, to] = waiting.back();
        waiting.pop_back();
        copy_without_parts(*from, *to);
        to->parts = std::vector<Expression>(from->parts.size());
        for (std::size_t i = 0; i < from->parts.size(); ++i) waiting.emplace_back(&from->parts[i], &to->parts[i]);
    }
}

Expression& Expression::operator=(const Expression& other) {
    return *this = Expression(other);
}

/// `other` may be below this one.
Expression& Expression::operator=(Expression&& other) noexcept {
    Expression moved(std::move(other));
    destroy(parts);
    kind = moved.kind;
    name = std::move(moved.name);
    number = moved.number;
    parts = std::move(moved.parts);
    has_brackets = moved.has_brackets;
    place = moved.place;
    name_place = moved.name_place;
    return *this;
}

Expression::~Expression() {
    if (!parts.empty()) destroy(parts);
}

}  // namespace lrvb::bugs
