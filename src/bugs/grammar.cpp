#include "bugs/grammar.hpp"

#include "base/messages.hpp"
#include "bugs/mistakes.hpp"
#include "data/csv_record.hpp"

#include <lrvb/bugs/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>
#include <utility>

// The one unit of this box that knows PEGTL.
namespace lrvb::bugs {

namespace {

namespace pegtl = tao::pegtl;

struct NameByte : pegtl::sor<pegtl::alnum, pegtl::one<'_', '.'>> {};
struct Name : pegtl::seq<pegtl::alpha, pegtl::star<NameByte>> {};
struct Space : pegtl::star<pegtl::space> {};
template <char... Signs>
struct Sign : pegtl::seq<Space, pegtl::one<Signs...>, Space> {};

struct Digits : pegtl::plus<pegtl::digit> {};
struct Number
    : pegtl::seq<pegtl::sor<pegtl::seq<Digits, pegtl::opt<pegtl::one<'.'>, pegtl::star<pegtl::digit>>>,
                            pegtl::seq<pegtl::one<'.'>, Digits>>,
                 pegtl::opt<pegtl::one<'e', 'E'>, pegtl::opt<pegtl::one<'+', '-'>>, Digits>, pegtl::not_at<NameByte>> {
};

struct Value;

struct Closing : pegtl::seq<Space, pegtl::one<')'>> {};
struct IndexClosing : pegtl::seq<Space, pegtl::one<']'>> {};
struct Opening : pegtl::seq<Space, pegtl::one<'('>, Space> {};
struct Comma : Sign<','> {};

struct FunctionName : Name {};
struct Arguments : pegtl::opt<pegtl::list_must<Value, Comma>> {};
struct Call : pegtl::seq<FunctionName, Opening, Arguments, pegtl::must<Closing>> {};
struct EmptyIndex : pegtl::at<pegtl::one<',', ']'>> {};
struct Index : pegtl::sor<EmptyIndex, Value> {};
struct Brackets : pegtl::if_must<pegtl::seq<Space, pegtl::one<'['>, Space>, Index,
                                 pegtl::star<Comma, pegtl::must<Index>>, IndexClosing> {};
struct VariableName : Name {};
struct Variable : pegtl::seq<VariableName, pegtl::opt<Brackets>> {};
struct Parentheses : pegtl::if_must<pegtl::seq<pegtl::one<'('>, Space>, Value, Closing> {};
struct Atom : pegtl::sor<Number, Call, Variable, Parentheses> {};

struct SignBefore : pegtl::seq<pegtl::one<'+', '-'>, Space> {};
struct Exponent : pegtl::seq<pegtl::star<SignBefore>, Atom> {};
struct PowerSign : Sign<'^'> {};
struct Power : pegtl::seq<Atom, pegtl::star<PowerSign, pegtl::must<Exponent>>> {};
struct Unary : pegtl::seq<pegtl::star<SignBefore>, Power> {};
struct RangeSign : Sign<':'> {};
struct Range : pegtl::seq<Unary, pegtl::opt<pegtl::if_must<RangeSign, Unary>>> {};
struct SpecialSign : pegtl::seq<Space, pegtl::one<'%'>, pegtl::star<pegtl::not_at<pegtl::space>, pegtl::not_one<'%'>>,
                                pegtl::one<'%'>, Space> {};
struct Special : pegtl::list_must<Range, SpecialSign> {};
struct ProductSign : Sign<'*', '/'> {};
struct Product : pegtl::list_must<Special, ProductSign> {};
struct SumSign : Sign<'+', '-'> {};
struct Sum : pegtl::list_must<Product, SumSign> {};
struct ComparisonSign
    : pegtl::seq<
          Space,
          pegtl::sor<pegtl::string<'>', '='>, pegtl::string<'<', '='>, pegtl::string<'=', '='>, pegtl::string<'!', '='>,
                     pegtl::one<'>'>, pegtl::seq<pegtl::one<'<'>, pegtl::not_at<pegtl::one<'-'>>>>,
          Space> {};
struct Comparison : pegtl::seq<Sum, pegtl::opt<pegtl::if_must<ComparisonSign, Sum>>> {};
struct NotSign : pegtl::seq<pegtl::one<'!'>, Space> {};
struct Not : pegtl::seq<pegtl::star<NotSign>, Comparison> {};
struct AndSign : pegtl::seq<Space, pegtl::two<'&'>, Space> {};
struct And : pegtl::list_must<Not, AndSign> {};
struct OrSign : pegtl::seq<Space, pegtl::two<'|'>, Space> {};
struct Value : pegtl::list_must<And, OrSign> {};

struct LinkName : Name {};
struct LeftVariable : Variable {};
struct LinkedLeft : pegtl::seq<LinkName, Opening, LeftVariable, Closing> {};
struct Left : pegtl::sor<LinkedLeft, LeftVariable> {};
// <-, and = as JAGS 4 takes it.
struct Arrow : pegtl::sor<pegtl::string<'<', '-'>, pegtl::seq<pegtl::one<'='>, pegtl::not_at<pegtl::one<'='>>>> {};
struct Tilde : pegtl::one<'~'> {};
struct RelationSign : pegtl::sor<Tilde, Arrow> {};
struct DistributionName : Name {};
struct DistributionOpening : pegtl::seq<Space, pegtl::one<'('>, Space> {};
struct Bound : pegtl::opt<Value> {};
struct BoundsLetter : pegtl::seq<pegtl::one<'T', 'I'>, pegtl::at<Opening>> {};
struct BoundsComma : Comma {};
struct Bounds : pegtl::if_must<pegtl::seq<BoundsLetter, Opening>, Bound, BoundsComma, Bound, Closing> {};
struct Distribution
    : pegtl::seq<pegtl::must<DistributionName>, pegtl::must<DistributionOpening>, Arguments, pegtl::must<Closing>> {};
struct Drawn : pegtl::if_must<Tilde, Space, Distribution, pegtl::opt<Space, Bounds>> {};
struct Computed : pegtl::if_must<Arrow, Space, Value> {};
struct WholeRelation
    : pegtl::seq<pegtl::must<Left>, Space, pegtl::must<pegtl::at<RelationSign>>, pegtl::sor<Drawn, Computed>> {};

struct LoopIndex : Name {};
struct LoopOpening : pegtl::seq<pegtl::one<'('>, Space> {};
struct In : pegtl::seq<pegtl::string<'i', 'n'>, pegtl::not_at<NameByte>> {};
struct LoopRange : pegtl::seq<Value> {};
struct WholeLoop : pegtl::seq<pegtl::must<LoopOpening>, pegtl::must<LoopIndex>, Space, pegtl::must<In>, Space,
                              pegtl::must<LoopRange>, pegtl::must<Closing>> {};

struct DeclaredName : Name {};
struct Declared : pegtl::seq<DeclaredName, pegtl::opt<Brackets>> {};
struct WholeDeclaration : pegtl::must<pegtl::list_must<Declared, Comma>> {};

template <class Rule>
inline constexpr const char* kMessage = nullptr;
template <>
inline constexpr auto kMessage<Value> = kValueMissing;
template <>
inline constexpr auto kMessage<And> = kValueMissing;
template <>
inline constexpr auto kMessage<Not> = kValueMissing;
template <>
inline constexpr auto kMessage<Sum> = kValueMissing;
template <>
inline constexpr auto kMessage<Product> = kValueMissing;
template <>
inline constexpr auto kMessage<Special> = kValueMissing;
template <>
inline constexpr auto kMessage<Range> = kValueMissing;
template <>
inline constexpr auto kMessage<Unary> = kValueMissing;
template <>
inline constexpr auto kMessage<Exponent> = kValueMissing;
template <>
inline constexpr auto kMessage<Index> = kValueMissing;
template <>
inline constexpr auto kMessage<LoopRange> = kValueMissing;
template <>
inline constexpr auto kMessage<Closing> = kNotClosed;
template <>
inline constexpr auto kMessage<IndexClosing> = kNotClosed;
template <>
inline constexpr auto kMessage<pegtl::star<Comma, pegtl::must<Index>>> = "";
template <>
inline constexpr auto kMessage<Space> = "";
template <>
inline constexpr auto kMessage<Bound> = "";
template <>
inline constexpr auto kMessage<Distribution> = "";
template <>
inline constexpr auto kMessage<pegtl::opt<Space, Bounds>> = "";
template <>
inline constexpr auto kMessage<BoundsComma> = kBoundsComma;
template <>
inline constexpr auto kMessage<Left> = kNoRelation;
template <>
inline constexpr auto kMessage<pegtl::at<RelationSign>> = kNoRelationSign;
template <>
inline constexpr auto kMessage<DistributionName> = kNoDistribution;
template <>
inline constexpr auto kMessage<DistributionOpening> = kNoArguments;
template <>
inline constexpr auto kMessage<LoopOpening> = kLoopOpening;
template <>
inline constexpr auto kMessage<LoopIndex> = kLoopIndex;
template <>
inline constexpr auto kMessage<In> = kLoopIn;
template <>
inline constexpr auto kMessage<Declared> = kDeclaredName;
template <>
inline constexpr auto kMessage<pegtl::list_must<Declared, Comma>> = kDeclaredName;

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
    Rule, pegtl::parse_tree::store_content::on<
              Number, FunctionName, Call, EmptyIndex, Brackets, VariableName, Variable, LeftVariable, Parentheses,
              SignBefore, PowerSign, Power, Exponent, Unary, RangeSign, Range, SpecialSign, Special, ProductSign,
              Product, SumSign, Sum, ComparisonSign, Comparison, NotSign, Not, AndSign, And, OrSign, Value, LinkName,
              Arrow, DistributionName, Distribution, Bound, BoundsLetter, Bounds, LoopIndex, DeclaredName, Declared>>;

using Tree = pegtl::parse_tree::node;

/// From PEGTL's tree, whose places count from where the parse began, to ours.
class Reader {
  public:
    explicit Reader(std::size_t origin) : origin_(origin) {}

    Place place(const Tree& node) const { return {origin_ + node.begin().byte, origin_ + node.end().byte}; }

    Expression expression(const Tree& node) const { return deep(node).expression; }

    /// A name with its indices.
    Expression variable(const Tree& node) const { return deep_variable(node).expression; }

    Expression distribution(const Tree& node) const { return deep_call(node).expression; }

    std::vector<Expression> indices(const Tree& brackets) const {
        Deep result;
        add_parts(result, brackets, 0);
        return std::move(result.expression.parts);
    }

  private:
    struct Deep {
        Expression expression;
        std::size_t depth = 1;
    };

    Deep deep(const Tree& node) const {
        if (node.is_type<Number>()) return number(node);
        if (node.is_type<Variable>()) return deep_variable(node);
        if (node.is_type<Call>()) return deep_call(node);
        if (node.is_type<Parentheses>()) return deep(*node.children.front());
        if (node.is_type<EmptyIndex>()) {
            Deep result;
            result.expression.kind = Expression::Kind::empty;
            result.expression.place = place(node);
            result.expression.name_place = result.expression.place;
            return result;
        }
        if (node.is_type<Power>()) return power(node);
        return chain(node);
    }

    Deep number(const Tree& node) const {
        Deep result;
        result.expression.place = result.expression.name_place = place(node);
        const lrvb::detail::NumberKind kind = lrvb::detail::parse_number(node.string_view(), result.expression.number);
        if (kind != lrvb::detail::NumberKind::number) {
            throw SyntaxProblem{place(node), fmt::format("{} is too large for a computer's numbers",
                                                         lrvb::detail::shown(node.string_view()))};
        }
        return result;
    }

    Deep deep_variable(const Tree& node) const {
        Deep result;
        result.expression.kind = Expression::Kind::variable;
        result.expression.name = node.children.front()->string();
        result.expression.place = place(node);
        result.expression.name_place = place(*node.children.front());
        if (node.children.size() > 1) {
            result.expression.has_brackets = true;
            add_parts(result, *node.children[1], 0);
        }
        return result;
    }

    Deep deep_call(const Tree& node) const {
        Deep result;
        result.expression.kind = Expression::Kind::call;
        result.expression.name = node.children.front()->string();
        result.expression.place = place(node);
        result.expression.name_place = place(*node.children.front());
        add_parts(result, node, 1);
        return result;
    }

    void add_parts(Deep& whole, const Tree& node, std::size_t first) const {
        for (std::size_t i = first; i < node.children.size(); ++i) add(whole, deep(*node.children[i]));
    }

    void add(Deep& whole, Deep part) const {
        whole.depth = std::max(whole.depth, part.depth + 1);
        if (whole.depth > kDeepestExpression) {
            throw SyntaxProblem{part.expression.place,
                                fmt::format("the expression is deeper than {} operators: give parts of it names by <-",
                                            kDeepestExpression)};
        }
        whole.expression.parts.push_back(std::move(part.expression));
    }

    static bool is_sign(const Tree& node) {
        return node.is_type<SignBefore>() || node.is_type<PowerSign>() || node.is_type<RangeSign>() ||
               node.is_type<SpecialSign>() || node.is_type<ProductSign>() || node.is_type<SumSign>() ||
               node.is_type<ComparisonSign>() || node.is_type<NotSign>() || node.is_type<AndSign>() ||
               node.is_type<OrSign>();
    }

    /// Where a sign itself stands, without the spaces around it.
    Place sign_place(const Tree& node) const {
        constexpr const char* spaces = " \t\r\n\v\f";
        const std::string_view text = node.string_view();
        const std::size_t begin = origin_ + node.begin().byte;
        return {begin + text.find_first_not_of(spaces), begin + text.find_last_not_of(spaces) + 1};
    }

    Deep combined(const Tree& sign, Deep left, Deep right) const {
        Deep result;
        result.expression.name_place = sign_place(sign);
        result.expression.place = {left.expression.place.begin, right.expression.place.end};
        result.expression.kind = sign.is_type<RangeSign>() ? Expression::Kind::range : Expression::Kind::call;
        result.expression.name = trimmed(sign);
        add(result, std::move(left));
        add(result, std::move(right));
        return result;
    }

    Deep signed_by(const Tree& sign, Deep value) const {
        if (trimmed(sign) == "+") return value;
        Deep result;
        result.expression.kind = Expression::Kind::call;
        result.expression.name = trimmed(sign);
        result.expression.name_place = sign_place(sign);
        result.expression.place = {result.expression.name_place.begin, value.expression.place.end};
        add(result, std::move(value));
        return result;
    }

    static std::string trimmed(const Tree& sign) {
        const std::string_view text = sign.string_view();
        const std::size_t begin = text.find_first_not_of(" \t\r\n\v\f");
        return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n\v\f") + 1 - begin));
    }

    /// Signs before, then parts with signs between them, from the left.
    Deep chain(const Tree& node) const {
        std::size_t first = 0;
        while (is_sign(*node.children[first])) ++first;
        Deep result = deep(*node.children[first]);
        for (std::size_t i = first + 1; i + 1 < node.children.size(); i += 2) {
            result = combined(*node.children[i], std::move(result), deep(*node.children[i + 1]));
        }
        for (std::size_t i = first; i-- > 0;) result = signed_by(*node.children[i], std::move(result));
        return result;
    }

    /// a ^ b ^ c, from the right; the signs before an exponent belong to all that follows.
    Deep power(const Tree& node) const {
        Deep result;
        for (std::size_t i = node.children.size(); i-- > 0;) {
            const Tree& part = *node.children[i];
            if (is_sign(part)) continue;
            const Tree& atom = part.is_type<Exponent>() ? *part.children.back() : part;
            const bool is_last = i + 1 == node.children.size();
            result = is_last ? deep(atom) : combined(*node.children[i + 1], deep(atom), std::move(result));
            if (!part.is_type<Exponent>()) continue;
            for (std::size_t j = part.children.size() - 1; j-- > 0;) {
                result = signed_by(*part.children[j], std::move(result));
            }
        }
        return result;
    }

    std::size_t origin_;
};

/// Parses by the grammar, and puts errors into words.
template <class Grammar>
std::unique_ptr<Tree> parsed(const std::string& text, std::size_t& at) {
    pegtl::memory_input<pegtl::tracking_mode::eager, pegtl::eol::lf> input(text.data() + at, text.data() + text.size(),
                                                                           "");
    try {
        std::unique_ptr<Tree> tree = pegtl::parse_tree::parse<Grammar, Selector, pegtl::nothing, Control>(input);
        at += static_cast<std::size_t>(input.current() - input.begin());
        return tree;
    } catch (const pegtl::parse_error& error) {
        throw problem_in_words(error.message(), text, at, at + error.positions().front().byte);
    }
}

}  // namespace

Relation parse_relation(const std::string& text, std::size_t& at) {
    const Reader reader(at);
    const std::size_t begin = at;
    const std::unique_ptr<Tree> tree = parsed<WholeRelation>(text, at);
    Relation result;
    for (const auto& child : tree->children) {
        if (child->is_type<LinkName>()) {
            result.link = child->string();
            result.link_place = reader.place(*child);
        } else if (child->is_type<LeftVariable>()) {
            result.left = reader.variable(*child);
        } else if (child->is_type<Distribution>()) {
            result.is_stochastic = true;
            result.right = reader.distribution(*child);
        } else if (child->is_type<Bounds>()) {
            Truncation& bounds = result.truncation.emplace();
            bounds.place = reader.place(*child);
            bounds.letter = child->string_view().front();
            const auto bound = [&](std::size_t i) -> std::optional<Expression> {
                const Tree& node = *child->children.at(i);
                if (node.children.empty()) return std::nullopt;
                return reader.expression(*node.children.front());
            };
            bounds.lower = bound(1);
            bounds.upper = bound(2);
        } else if (!child->is_type<Arrow>()) {
            result.right = reader.expression(*child);
        }
    }
    result.place = {begin, at};
    return result;
}

Loop parse_loop(const std::string& text, std::size_t& at) {
    const Reader reader(at);
    const std::unique_ptr<Tree> tree = parsed<WholeLoop>(text, at);
    Loop result;
    result.index = tree->children.at(0)->string();
    result.index_place = reader.place(*tree->children[0]);
    result.range = reader.expression(*tree->children.at(1));
    return result;
}

std::vector<Declaration> parse_declarations(const std::string& text, std::size_t& at) {
    const Reader reader(at);
    const std::unique_ptr<Tree> tree = parsed<WholeDeclaration>(text, at);
    std::vector<Declaration> result;
    for (const auto& child : tree->children) {
        Declaration& declaration = result.emplace_back();
        declaration.name = child->children.front()->string();
        declaration.place = reader.place(*child->children.front());
        if (child->children.size() > 1) declaration.dimensions = reader.indices(*child->children[1]);
    }
    return result;
}

}  // namespace lrvb::bugs
