#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "formula/syntax.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <cmath>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>
#include <utility>

// The one unit of this box that knows PEGTL.
namespace lrvb::detail {

namespace {

namespace pegtl = tao::pegtl;

constexpr std::size_t kDeepest = 50;

// What a name is made of: any byte beyond ASCII is a letter.
struct NameByte : pegtl::sor<pegtl::alnum, pegtl::one<'_', '.'>, pegtl::ranges<'\x80', '\xff'>> {};
struct FirstNameByte : pegtl::sor<pegtl::alpha, pegtl::one<'_'>, pegtl::ranges<'\x80', '\xff'>> {};
struct Space : pegtl::star<pegtl::space> {};
template <char... Signs>
struct Sign : pegtl::seq<Space, pegtl::one<Signs...>, Space> {};

struct Digits : pegtl::plus<pegtl::digit> {};
struct Number
    : pegtl::seq<pegtl::sor<pegtl::seq<Digits, pegtl::opt<pegtl::one<'.'>, pegtl::star<pegtl::digit>>>,
                            pegtl::seq<pegtl::one<'.'>, Digits>>,
                 pegtl::opt<pegtl::one<'e', 'E'>, pegtl::opt<pegtl::one<'+', '-'>>, Digits>, pegtl::not_at<NameByte>> {
};
// As R has it, a name may begin with a dot that no digit follows; a dot alone is another thing.
struct Name : pegtl::sor<pegtl::seq<FirstNameByte, pegtl::star<NameByte>>,
                         pegtl::seq<pegtl::one<'.'>, pegtl::not_at<pegtl::digit>, pegtl::plus<NameByte>>> {};
struct Quoted
    : pegtl::seq<pegtl::one<'`'>,
                 pegtl::plus<pegtl::sor<pegtl::string<'\\', '\\'>, pegtl::string<'\\', '`'>, pegtl::not_one<'`'>>>,
                 pegtl::one<'`'>> {};
struct Dot : pegtl::one<'.'> {};

struct Sum;
struct Bar;

struct Closing : pegtl::seq<Space, pegtl::one<')'>> {};
struct ArgumentName : Name {};
struct Named : pegtl::seq<ArgumentName, Sign<'='>, pegtl::must<Sum>> {};
struct Argument : pegtl::sor<pegtl::seq<pegtl::at<Name, Space, pegtl::one<'='>>, Named>, Sum> {};
struct Opening : pegtl::seq<Space, pegtl::one<'('>, Space> {};
struct Arguments : pegtl::opt<pegtl::list_must<Argument, Sign<','>>> {};
struct Function : pegtl::seq<Name, pegtl::at<Opening>> {};
struct Call : pegtl::seq<Function, Opening, Arguments, pegtl::must<Closing>> {};
struct Parentheses : pegtl::seq<pegtl::one<'('>, Space, pegtl::must<Bar>, pegtl::must<Closing>> {};
struct Column : pegtl::sor<Name, Quoted> {};
struct Atom : pegtl::sor<Number, Call, Column, Dot, Parentheses> {};

struct SignBefore : pegtl::seq<pegtl::one<'+', '-'>, Space> {};
struct Exponent : pegtl::seq<pegtl::opt<SignBefore>, Atom> {};
struct PowerSign : pegtl::seq<Space, pegtl::sor<pegtl::one<'^'>, pegtl::two<'*'>>, Space> {};
struct Power : pegtl::seq<Atom, pegtl::star<PowerSign, pegtl::must<Exponent>>> {};
struct Unary : pegtl::seq<pegtl::opt<SignBefore>, Power> {};
struct Interaction : pegtl::list_must<Unary, Sign<':'>> {};
struct ProductSign : pegtl::seq<Space, pegtl::one<'*', '/'>, pegtl::not_at<pegtl::one<'*'>>, Space> {};
struct Product : pegtl::list_must<Interaction, ProductSign> {};
struct SumSign : Sign<'+', '-'> {};
struct Sum : pegtl::seq<pegtl::opt<SignBefore>, pegtl::list_must<Product, SumSign>> {};
struct BarSign : pegtl::seq<Space, pegtl::sor<pegtl::two<'|'>, pegtl::one<'|'>>, Space> {};
struct Bar : pegtl::list_must<Sum, BarSign> {};

struct Tilde : pegtl::one<'~'> {};
struct End : pegtl::eof {};
struct Response : pegtl::opt<Sum> {};
struct WholeFormula
    : pegtl::seq<Space, Response, Space, pegtl::must<Tilde>, Space, pegtl::must<Bar>, Space, pegtl::must<End>> {};

// Indices end at the bracket before the last ~.
struct IndexEnd
    : pegtl::seq<Space, pegtl::one<']'>, Space, pegtl::one<'~'>, pegtl::star<pegtl::not_one<'~'>>, pegtl::eof> {};
struct Indices : pegtl::star<pegtl::not_at<IndexEnd>, pegtl::any> {};
// A name, or what is reported of one: 1/sqrt(phi).
struct Reciprocal : pegtl::seq<pegtl::string<'1', '/'>, Name, pegtl::one<'('>, Name, pegtl::one<')'>> {};
struct Target : pegtl::sor<Reciprocal, Name> {};
struct IndexClosing : pegtl::seq<Space, pegtl::one<']'>> {};
struct Brackets : pegtl::seq<Space, pegtl::one<'['>, Space, Indices, pegtl::must<IndexClosing>> {};
struct Distribution : Name {};
struct SignedNumber : pegtl::seq<pegtl::opt<pegtl::one<'+', '-'>, Space>, Number> {};
struct NumberArguments : pegtl::opt<pegtl::list_must<SignedNumber, Sign<','>>> {};
struct DistributionOpening : pegtl::seq<Space, pegtl::one<'('>, Space> {};
struct WholePrior : pegtl::seq<Space, pegtl::must<Target>, pegtl::opt<Brackets>, Space, pegtl::must<Tilde>, Space,
                               pegtl::must<Distribution>, pegtl::must<DistributionOpening>, NumberArguments,
                               pegtl::must<Closing>, Space, pegtl::must<End>> {};

template <class Rule>
inline constexpr const char* kMessage = nullptr;
template <>
inline constexpr auto kMessage<Sum> = "a term is missing here";
template <>
inline constexpr auto kMessage<Bar> = "a term is missing here";
template <>
inline constexpr auto kMessage<Product> = "a term is missing here";
template <>
inline constexpr auto kMessage<Interaction> = "a term is missing here";
template <>
inline constexpr auto kMessage<Unary> = "a term is missing here";
template <>
inline constexpr auto kMessage<Exponent> = "a number is missing here";
template <>
inline constexpr auto kMessage<Argument> = "an argument is missing here";
template <>
inline constexpr auto kMessage<SignedNumber> = "a number is missing here";
template <>
inline constexpr auto kMessage<Closing> = "";
template <>
inline constexpr auto kMessage<End> = "";
template <>
inline constexpr auto kMessage<IndexClosing> = "the bracket [ is not closed by ] before the ~";
template <>
inline constexpr auto kMessage<Tilde> = "~";
template <>
inline constexpr auto kMessage<Target> =
    "a prior begins with what it is of, as in 'beta[Days] ~ normal(0, 2)' or 'sigma ~ half_normal(30)'";
template <>
inline constexpr auto kMessage<Distribution> = "a distribution follows the ~, as in 'beta ~ normal(0, 2)'";
template <>
inline constexpr auto kMessage<DistributionOpening> =
    "a distribution's numbers stand in parentheses, as in normal(0, 2)";

struct Messages {
    template <class Rule>
    static constexpr auto message = kMessage<Rule>;
    template <class>
    static constexpr bool raise_on_failure = false;
};

template <class Rule>
using Control = pegtl::must_if<Messages>::control<Rule>;

template <class Rule>
using Selector = pegtl::parse_tree::selector<
    Rule, pegtl::parse_tree::store_content::on<Number, ArgumentName, Named, Function, Call, Parentheses, Column, Dot,
                                               SignBefore, PowerSign, Power, Exponent, Unary, Sign<':'>, Interaction,
                                               ProductSign, Product, SumSign, Sum, BarSign, Bar, Response, Target,
                                               Indices, Distribution, SignedNumber>>;

using Tree = pegtl::parse_tree::node;

std::size_t begin_of(const Tree& node) {
    return node.begin().byte;
}

std::size_t end_of(const Tree& node) {
    return node.end().byte;
}

/// Where the sign itself stands, behind spaces.
std::size_t sign_place(const Tree& node) {
    return begin_of(node) + node.string_view().find_first_not_of(" \t\r\n\v\f");
}

char sign_of(const Tree& node) {
    const std::string_view text = node.string_view();
    const std::size_t at = text.find_first_not_of(" \t\r\n\v\f");
    if (node.is_type<PowerSign>()) return '^';
    if (node.is_type<BarSign>()) return text.substr(at, 2) == "||" ? 'B' : '|';
    return text[at];
}

std::string unquoted_name(std::string_view text) {
    if (text.front() != '`') return std::string(text);
    std::string name;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        const bool is_escape = text[i] == '\\' && i + 2 < text.size() && (text[i + 1] == '\\' || text[i + 1] == '`');
        if (is_escape) ++i;
        name += text[i];
    }
    return name;
}

class Reader {
  public:
    explicit Reader(const std::string& text) : text_(text) {}

    Expression expression(const Tree& node) const {
        Expression result;
        result.begin = begin_of(node);
        result.end = end_of(node);
        if (node.is_type<Number>()) {
            result.number = number(node);
        } else if (node.is_type<Dot>()) {
            result.kind = Expression::Kind::dot;
        } else if (node.is_type<Column>()) {
            result.kind = Expression::Kind::column;
            result.text = unquoted_name(node.string_view());
        } else if (node.is_type<Call>()) {
            result.kind = Expression::Kind::call;
            result.text = node.children.front()->string();
            for (std::size_t i = 1; i < node.children.size(); ++i) {
                result.parts.push_back(expression(*node.children[i]));
            }
        } else if (node.is_type<Named>()) {
            result.kind = Expression::Kind::argument;
            result.text = node.children[0]->string();
            result.parts.push_back(expression(*node.children[1]));
        } else if (node.is_type<Parentheses>()) {
            result.kind = Expression::Kind::parentheses;
            result.parts.push_back(expression(*node.children.front()));
        } else {
            return chain(node, std::move(result));
        }
        return result;
    }

    double number(const Tree& node) const {
        double value = 0.0;
        if (parse_number(node.string_view(), value) != NumberKind::number) {
            throw FormulaError(fmt::format("{} is not a number that a computer has", shown(node.string_view())), text_,
                               begin_of(node));
        }
        return value;
    }

  private:
    Expression chain(const Tree& node, Expression result) const {
        const bool is_sum = node.is_type<Sum>();
        const bool is_signed = node.children.front()->is_type<SignBefore>();
        if (node.children.size() == 1) return expression(*node.children.front());
        result.kind = is_sum                        ? Expression::Kind::sum
                      : is_signed                   ? Expression::Kind::sign
                      : node.is_type<Bar>()         ? Expression::Kind::bar
                      : node.is_type<Product>()     ? Expression::Kind::product
                      : node.is_type<Interaction>() ? Expression::Kind::interaction
                                                    : Expression::Kind::power;
        if (is_sum && !is_signed) {
            result.operators.push_back('+');
            result.places.push_back(result.begin);
        }
        for (const auto& child : node.children) {
            const bool is_operator = child->is_type<SignBefore>() || child->is_type<PowerSign>() ||
                                     child->is_type<Sign<':'>>() || child->is_type<ProductSign>() ||
                                     child->is_type<SumSign>() || child->is_type<BarSign>();
            if (is_operator) {
                result.operators.push_back(sign_of(*child));
                result.places.push_back(sign_place(*child));
            } else {
                result.parts.push_back(expression(*child));
            }
        }
        return result;
    }

    const std::string& text_;
};

/// Parentheses first: where one is not closed, that is what is wrong, wherever it is noticed.
void require_closed(const std::string& text) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '`') {
            std::size_t end = i + 1;
            while (end < text.size() && text[end] != '`') {
                const bool is_escape =
                    text[end] == '\\' && end + 1 < text.size() && (text[end + 1] == '\\' || text[end + 1] == '`');
                end += is_escape ? 2 : 1;
            }
            if (end >= text.size()) throw FormulaError("the backquote is not closed", text, i);
            if (end == i + 1) throw FormulaError("there is no name between the backquotes", text, i);
            i = end;
        } else if (text[i] == '(') {
            open.push_back(i);
            if (open.size() > kDeepest) {
                throw FormulaError(fmt::format("parentheses stand within each other more than {} times", kDeepest),
                                   text, i);
            }
        } else if (text[i] == ')') {
            if (open.empty()) throw FormulaError("the parenthesis ) was not opened", text, i);
            open.pop_back();
        }
    }
    if (!open.empty()) throw FormulaError("the parenthesis ( is not closed", text, open.back());
}

/// What stands at a place, as far as it is one thing.
std::string thing_at(const std::string& text, std::size_t place) {
    const std::string_view rest = std::string_view(text).substr(place);
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' ||
               (static_cast<unsigned char>(c) & 0x80U) != 0;
    };
    std::size_t length = 0;
    while (length < rest.size() && is_word(rest[length])) ++length;
    return shown(rest.substr(0, std::max<std::size_t>(length, 1)));
}

std::string misplaced(const std::string& text, std::size_t place) {
    if (place >= text.size()) return "the text ends too early";
    const char c = text[place];
    if (c == '~') return "there is a second ~: a formula has one";
    if (c == '=') return "= is not understood here: a formula has ~ between the response and the terms";
    if (c == '"' || c == '\'')
        return "quotes are not understood: a column's name stands in backquotes, `as here`, where it must";
    if (c == '|') return "| stands in parentheses of its own, as in (1 | group)";
    if (c == '(') return "( is not understood here: an operator such as + may be missing before it";
    return fmt::format("{} is not understood here: an operator such as + may be missing before it",
                       thing_at(text, place));
}

/// Where a term is missing, since what stands there is none.
std::string instead_of(const std::string& message, const std::string& text, std::size_t place) {
    constexpr std::string_view kOperators = "+-*/^:|)(~,=";
    const bool is_end = place >= text.size() || kOperators.find(text[place]) != std::string_view::npos;
    if (is_end || message != kMessage<Sum>) return message;
    const bool is_quote = text[place] == '"' || text[place] == '\'';
    return is_quote ? misplaced(text, place) : fmt::format("{} is not understood here", thing_at(text, place));
}

/// Parses by the grammar, and puts errors into words.
template <class Grammar>
std::unique_ptr<Tree> parsed(const std::string& text, std::string_view without_tilde) {
    pegtl::memory_input<pegtl::tracking_mode::eager, pegtl::eol::lf> input(text, "");
    try {
        return pegtl::parse_tree::parse<Grammar, Selector, pegtl::nothing, Control>(input);
    } catch (const pegtl::parse_error& error) {
        const std::size_t place = error.positions().front().byte;
        const std::string message(error.message());
        if (message == "~")
            throw FormulaError(
                text.find('~') == std::string::npos ? std::string(without_tilde) : misplaced(text, place), text, place);
        throw FormulaError(message.empty() ? misplaced(text, place) : instead_of(message, text, place), text, place);
    }
}

/// The expression of a node that has one below.
Expression below(const Reader& reader, const Tree& node) {
    return reader.expression(*node.children.front());
}

}  // namespace

FormulaSyntax parse_formula(std::string text) {
    require_closed(text);
    const std::unique_ptr<Tree> tree =
        parsed<WholeFormula>(text, "there is no ~ between the response and the terms, as in 'y ~ x'");
    const Reader reader(text);
    const Tree& response = *tree->children.at(0);
    if (response.children.empty()) {
        throw FormulaError("the response is missing before the ~", text, std::min(text.find('~'), text.size()));
    }
    FormulaSyntax result;
    result.response = below(reader, response);
    result.right = reader.expression(*tree->children.at(1));
    result.text = std::move(text);
    return result;
}

PriorSyntax parse_prior(const std::string& sentence) {
    // A comment, as --show-priors has them, behind the numbers.
    const std::size_t numbers = sentence.find(')', std::min(sentence.find('~'), sentence.size()));
    const std::string text = sentence.substr(0, sentence.find('#', std::min(numbers, sentence.size())));
    const std::unique_ptr<Tree> tree = parsed<WholePrior>(
        text, "there is no ~ between what the prior is of and its distribution, as in 'beta ~ normal(0, 2)'");
    const Reader reader(text);
    PriorSyntax result;
    for (const auto& child : tree->children) {
        if (child->is_type<Target>()) {
            result.target = child->string();
            result.target_place = begin_of(*child);
        } else if (child->is_type<Indices>()) {
            result.has_indices = true;
            result.indices = child->string();
        } else if (child->is_type<Distribution>()) {
            result.distribution = child->string();
            result.distribution_place = begin_of(*child);
        } else if (child->is_type<SignedNumber>()) {
            const double value = reader.number(*child->children.front());
            result.numbers.push_back(child->string_view().front() == '-' ? -value : value);
            result.number_places.push_back(begin_of(*child));
        }
    }
    return result;
}

bool is_plain_name(std::string_view name) {
    pegtl::memory_input<pegtl::tracking_mode::lazy, pegtl::eol::lf> input(name.data(), name.data() + name.size(), "");
    return pegtl::parse<pegtl::seq<Name, pegtl::eof>>(input);
}

}  // namespace lrvb::detail
