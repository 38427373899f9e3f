#include "formula/syntax.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

namespace lrvb::detail {

namespace {

using Kind = Expression::Kind;

void write_operator(char sign, std::string& text) {
    if (sign == 'B') {
        text += "||";
    } else {
        text += sign;
    }
}

void write(const Expression& expression, std::string& text) {
    switch (expression.kind) {
        case Kind::number:
            text += fmt::format("{}", expression.number);
            return;
        case Kind::column:
            text += formula_name(expression.text);
            return;
        case Kind::dot:
            text += '.';
            return;
        case Kind::argument:
            text += expression.text + "=";
            break;
        case Kind::call:
            text += expression.text + "(";
            break;
        case Kind::parentheses:
            text += '(';
            break;
        default:
            break;
    }
    const bool is_list = expression.kind == Kind::call;
    for (std::size_t i = 0; i < expression.parts.size(); ++i) {
        if (is_list && i > 0) text += ',';
        if (expression.kind == Kind::sum) {
            if (i > 0 || expression.operators[0] == '-') write_operator(expression.operators[i], text);
        } else if (expression.kind == Kind::sign) {
            write_operator(expression.operators[0], text);
        } else if (i > 0 && !is_list && i <= expression.operators.size()) {
            write_operator(expression.operators[i - 1], text);
        }
        write(expression.parts[i], text);
    }
    if (is_list || expression.kind == Kind::parentheses) text += ')';
}

}  // namespace

std::string written(const Expression& expression) {
    std::string text;
    write(expression, text);
    return text;
}

const Expression& unwrapped(const Expression& expression) {
    const Expression* result = &expression;
    while (result->kind == Kind::parentheses) result = &result->parts.front();
    return *result;
}

}  // namespace lrvb::detail
