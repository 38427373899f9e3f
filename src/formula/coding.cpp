#include "base/messages.hpp"
#include "formula/calls.hpp"
#include "formula/column_uses.hpp"
#include "formula/dot.hpp"
#include "formula/expansion.hpp"
#include "formula/factors.hpp"
#include "formula/frame_parts.hpp"
#include "formula/groups.hpp"
#include "formula/levels.hpp"
#include "formula/numbers.hpp"
#include "formula/row_questions.hpp"
#include "formula/term/latent_term.hpp"
#include "formula/term_columns.hpp"

#include <lrvb/formula/design.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <unordered_set>

namespace lrvb {

namespace {

using detail::CodedTerm;
using detail::ColumnUse;
using detail::Expansion;
using detail::Expression;
using detail::FrameNumbers;
using detail::FrameParts;
using detail::Learnt;
using detail::PartValues;
using detail::RandomGroup;
using detail::repeated;
using detail::shown;
using detail::TermPart;
using detail::TermParts;

constexpr double kMostColumns = 50'000.0;
constexpr double kMostNumbers = 2147483648.0;  // of a design: 16 GB

[[noreturn]] void refuse_data(const DataFrame& frame, const std::string& sentence) {
    throw std::runtime_error(fmt::format("{}: {}", frame.name, sentence));
}

/// Products of numbers may be too large for any.
void require_finite(const DataFrame& frame, const Matrix& columns, const std::vector<std::string>& names, Index first) {
    for (Index j = first; j < columns.cols(); ++j) {
        if (columns.col(j).allFinite()) continue;
        Index row = 0;
        while (std::isfinite(columns(row, j))) ++row;
        throw std::runtime_error(fmt::format("{}: {} is too large for a number: change the units of its columns",
                                             frame.row_name(row), shown(names[static_cast<std::size_t>(j)])));
    }
}

void require_one_name_each(const std::vector<std::string>& names) {
    if (const std::optional<std::string> name = repeated(names)) {
        throw std::invalid_argument(
            fmt::format("two columns of the regression are called {}: rename one of them", shown(*name)));
    }
}

}  // namespace

struct FormulaCoding::Implementation {
    /// A random term: its intercept, if it has one, comes before the columns of these.
    struct CodedRandom {
        std::vector<CodedTerm> terms;
        std::size_t group = 0;
        std::size_t random = 0;  // of which of `random` it is a block
        Index first = 0;         // where its effects begin there
        Index count = 0;
    };

    Formula formula;
    std::vector<std::string> dot;
    std::vector<std::string> alone;  // columns that are factors where they stand alone
    std::vector<Factor> factors;
    std::vector<Learnt> learnt;
    std::vector<RandomGroup> groups;
    std::vector<Latent> latent;

    // What follows from these.
    Expansion expansion;
    std::vector<CodedTerm> fixed;
    std::vector<CodedRandom> coded_random;
    std::string response;
    std::vector<std::string> names;
    std::vector<Random> random;

    const detail::FormulaSyntax& syntax() const { return formula.syntax(); }

    void expand() {
        detail::ColumnRoles roles;
        const std::unordered_set<std::string> known(alone.begin(), alone.end());
        roles.is_factor = [&](const std::string& column) { return known.contains(column); };
        roles.dot = dot;
        expansion = detail::expanded(syntax(), roles);
        const auto parts = detail::response_parts(syntax());
        response = parts.size() == 1 && parts[0]->kind == Expression::Kind::column ? parts[0]->text
                                                                                   : detail::written(syntax().response);
        if (!expansion.intercept && expansion.terms.empty() && expansion.random.empty() && expansion.latent.empty()) {
            throw FormulaError("nothing is left to explain the response: give it an intercept or a term", syntax().text,
                               syntax().right.begin);
        }
    }

    /// The places of the parts that are left in terms.
    std::vector<std::size_t> used_parts() const {
        std::vector<bool> is_used(expansion.parts.size(), false);
        const auto use = [&](const std::vector<TermParts>& terms) {
            for (const TermParts& term : terms) {
                for (const std::size_t part : term) is_used[part] = true;
            }
        };
        use(expansion.terms);
        for (const detail::RandomPart& part : expansion.random) use(part.terms);
        std::vector<std::size_t> result;
        for (std::size_t i = 0; i < is_used.size(); ++i) {
            if (is_used[i]) result.push_back(i);
        }
        return result;
    }

    const Factor* find_factor(const std::string& column) const {
        for (const Factor& factor : factors) {
            if (factor.column == column) return &factor;
        }
        return nullptr;
    }

    /// Of factors, which are known.
    detail::PartLevels levels() const {
        return
            [this](const TermPart& part) -> const std::vector<std::string>& { return find_factor(part.name)->levels; };
    }

    std::size_t group_of(const std::vector<std::string>& columns) const {
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (groups[i].columns == columns) return i;
        }
        return groups.size();
    }

    /// Once factors and groups are known.
    void code() {
        const detail::PartLevels part_levels = levels();
        const auto require_few = [&](const std::vector<CodedTerm>& terms, std::size_t place) {
            const double count = detail::column_count(expansion.parts, terms, part_levels);
            if (count <= kMostColumns) return;
            throw FormulaError(fmt::format("the terms make {:.0f} columns, more than {:.0f}: leave out interactions of "
                                           "factors with many levels, or make random terms of them",
                                           count, kMostColumns),
                               syntax().text, place);
        };
        fixed = detail::coded_terms(expansion.parts, expansion.terms, expansion.intercept);
        require_few(fixed, syntax().right.begin);
        names = detail::column_names(expansion.parts, fixed, part_levels);
        require_one_name_each(names);
        std::vector<std::string> effects;  // of all random terms, by group
        for (const detail::RandomPart& part : expansion.random) {
            CodedRandom& coded = coded_random.emplace_back();
            coded.group = group_of(part.columns);
            coded.terms = detail::coded_terms(expansion.parts, part.terms, part.intercept);
            require_few(coded.terms, part.place);
            const auto same = std::find_if(random.begin(), random.end(),
                                           [&](const Random& known) { return known.columns == part.columns; });
            coded.random = static_cast<std::size_t>(same - random.begin());
            if (same == random.end())
                random.push_back({part.name(), part.columns, groups[coded.group].levels, {}, {}, -1});
            Random& term = random[coded.random];
            coded.first = static_cast<Index>(term.effects.size());
            if (part.intercept) {
                term.intercept = coded.first;
                term.effects.emplace_back("intercept");
            }
            for (std::string& name : detail::column_names(expansion.parts, coded.terms, part_levels)) {
                term.effects.push_back(std::move(name));
            }
            coded.count = static_cast<Index>(term.effects.size()) - coded.first;
            term.blocks.push_back(coded.count);
        }
        for (const Random& term : random) {
            for (const std::string& effect : term.effects) effects.push_back(fmt::format("{},{}", term.name, effect));
        }
        if (const std::optional<std::string> name = repeated(effects)) {
            throw std::invalid_argument(
                fmt::format("two random effects are called {}: rename one of the columns", shown(*name)));
        }
    }

    void learn(const DataFrame& frame, const FormulaOptions& options, const AskRows& ask) {
        FrameNumbers numbers(frame, syntax(), learnt, true);
        const std::vector<ColumnUse> uses = detail::column_uses(syntax());
        const detail::Expansion before = [&] {
            detail::ColumnRoles roles;
            roles.is_factor = [](const std::string&) { return false; };
            roles.dot = detail::dot_columns(syntax(), frame.column_names(), options.weights);
            return detail::expanded(syntax(), roles);
        }();
        const std::vector<std::string> needed = detail::needed_columns(syntax(), before, true);
        for (const ColumnUse& use : uses) {
            if (std::find(needed.begin(), needed.end(), use.name) != needed.end()) numbers.column(use.name, use.place);
        }
        dot = detail::dot_columns(syntax(), frame.column_names(), options.weights);
        alone = detail::factors_alone(frame, uses, dot, options);
        expand();
        learn_factors(numbers, options);
        for (const detail::RandomPart& part : expansion.random) {
            if (group_of(part.columns) == groups.size()) groups.push_back(detail::learnt_group(numbers, part, ask));
        }
        learn_numbers(frame, ask);
        learn_latent(numbers);
        code();
    }

    /// The frame has all different values of each column.
    void learn_latent(FrameNumbers& numbers) {
        for (const detail::LatentPart& part : expansion.latent) {
            const Vector all = numbers.of_column(part.column, part.place);
            std::vector<double> values(all.begin(), all.end());
            std::sort(values.begin(), values.end());
            values.erase(std::unique(values.begin(), values.end()), values.end());
            const Vector nodes = Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
            try {
                latent.push_back({part.name, part.column,
                                  detail::find_latent_term(part.word)->learn(nodes, part.name, part.column)});
            } catch (const std::runtime_error& error) {
                refuse_data(numbers.frame(), error.what());
            }
        }
    }

    void learn_factors(const FrameNumbers& numbers, const FormulaOptions& options) {
        for (const std::size_t place : used_parts()) {
            const TermPart& part = expansion.parts[place];
            if (part.kind != TermPart::Kind::factor || find_factor(part.name) != nullptr) continue;
            const FrameColumn& column = numbers.column(part.name, part.place);
            factors.push_back({part.name, detail::in_order(detail::levels_of(column))});
        }
        detail::require_factors(numbers.frame(), factors);
        detail::put_baselines_first(numbers.frame(), options.baselines, factors);
    }

    /// Of all calls that learn, those that others are of first.
    void learn_numbers(const DataFrame& frame, const AskRows& ask) {
        for (const std::size_t place : used_parts()) {
            const TermPart& part = expansion.parts[place];
            if (part.expression != nullptr) learn_numbers(*part.expression, frame, ask);
        }
        for (const Expression* offset : expansion.offsets) learn_numbers(*offset, frame, ask);
        for (const Expression* part : detail::response_parts(syntax())) learn_numbers(*part, frame, ask);
    }

    void learn_numbers(const Expression& expression, const DataFrame& frame, const AskRows& ask) {
        for (const Expression& part : expression.parts) learn_numbers(part, frame, ask);
        if (expression.kind != Expression::Kind::call) return;
        const bool is_polynomial = expression.text == "poly" && !detail::polynomial_call(syntax(), expression).raw;
        if (!is_polynomial && expression.text != "scale") return;
        const std::string name = detail::written(expression);
        for (const Learnt& entry : learnt) {
            if (entry.name == name) return;
        }
        learnt.push_back({name, detail::ask_numbers(ask, frame, syntax(), learnt, expression)});
    }

    FormulaDesign design(const DataFrame& frame, bool with_response) const {
        FrameNumbers numbers(frame, syntax(), learnt, with_response);
        FormulaDesign result;
        result.source = frame.name;
        result.response = response;
        result.intercept = expansion.intercept;
        result.names = names;
        if (with_response) {
            const std::vector<const Expression*> parts = detail::response_parts(syntax());
            result.y = numbers.of(*parts[0]);
            if (parts.size() == 2) result.trials = result.y + numbers.of(*parts[1]);
        }
        for (const Expression* offset : expansion.offsets) {
            if (result.offset.size() == 0) result.offset = Vector::Zero(frame.rows);
            result.offset += numbers.of(*offset);
        }
        const detail::PartLevels part_levels = levels();
        FrameParts parts(numbers, expansion.parts, part_levels);
        const std::function<const PartValues&(std::size_t)> values = [&](std::size_t place) -> const PartValues& {
            return parts(place);
        };
        result.columns = Matrix(frame.rows, width(frame, names.size()));
        detail::fill_columns(expansion.parts, fixed, part_levels, values, result.columns);
        require_finite(frame, result.columns, names, 0);
        for (const Random& own : random) {
            RandomTerm& term = result.random.emplace_back();
            term.name = own.name;
            term.levels = own.levels;
            term.effects = own.effects;
            term.blocks = own.blocks;
            term.intercept = own.intercept;
            term.level = detail::group_codes(numbers, groups[group_of(own.columns)]);
            term.values = Matrix::Ones(frame.rows, width(frame, term.effects.size()));
        }
        for (std::size_t i = 0; i < coded_random.size(); ++i) {
            const CodedRandom& coded = coded_random[i];
            const Index intercept = expansion.random[i].intercept ? 1 : 0;
            detail::fill_columns(
                expansion.parts, coded.terms, part_levels, values,
                result.random[coded.random].values.middleCols(coded.first + intercept, coded.count - intercept));
        }
        for (const RandomTerm& term : result.random) require_finite(frame, term.values, term.effects, 0);
        for (std::size_t i = 0; i < latent.size(); ++i) {
            const Latent& own = latent[i];
            static_cast<void>(width(frame, static_cast<std::size_t>(own.term->size())));
            const Vector x = numbers.of_column(own.column, expansion.latent[i].place);
            result.latent.push_back({own.name, own.term->rows(x), own.term->beyond(x)});
            const LatentColumns& made = result.latent.back();
            for (Index n = 0; n < frame.rows; ++n) {
                if (made.columns.row(n).allFinite() && std::isfinite(made.beyond[n])) continue;
                throw std::runtime_error(fmt::format("{}: {} is {}, too far from the values of the fit: correct it",
                                                     frame.row_name(n), shown(own.column), x[n]));
            }
        }
        return result;
    }

    static Index width(const DataFrame& frame, std::size_t columns) {
        const double numbers = static_cast<double>(columns) * static_cast<double>(frame.rows);
        if (numbers > kMostNumbers) {
            refuse_data(frame, fmt::format("the formula makes {} columns of {} rows, which would take {:.0f} GB: leave "
                                           "out factors with many levels, or make random terms of them",
                                           columns, frame.rows, numbers * 8.0 / 1e9));
        }
        return static_cast<Index>(columns);
    }

    FrameOptions reading(bool with_response, Missing missing) const {
        FrameOptions options;
        options.missing = missing;
        options.columns = detail::needed_columns(syntax(), expansion, with_response);
        std::unordered_set<std::string> text;
        for (const Factor& factor : factors) text.insert(factor.column);
        for (const RandomGroup& group : groups) text.insert(group.columns.begin(), group.columns.end());
        for (const std::string& column : options.columns) {
            (text.contains(column) ? options.text : options.numbers).push_back(column);
        }
        return options;
    }

    Document document() const;
    void read(const Fields& fields);
    void read_groups(const Fields& fields);
    void read_latent(const Fields& fields);
    void require_factors(const Fields& fields) const;
    void require_learnt(const Fields& fields) const;
    void require_learnt(const Fields& fields, const Expression& expression) const;
};

Document FormulaCoding::Implementation::document() const {
    Document result;
    result["formula"] = formula.text();
    result["dot"] = dot;
    result["text"] = alone;
    Document list = Document::list();
    for (const Factor& factor : factors) {
        list.push_back(Document{{"column", factor.column}, {"levels", factor.levels}});
    }
    result["factors"] = std::move(list);
    list = Document::list();
    for (const Learnt& entry : learnt) {
        list.push_back(Document{{"term", entry.name}, {"numbers", entry.numbers}});
    }
    result["learnt"] = std::move(list);
    list = Document::list();
    for (const RandomGroup& group : groups) {
        list.push_back(group.document());
    }
    result["groups"] = std::move(list);
    list = Document::list();
    for (const Latent& own : latent) {
        list.push_back(Document{{"term", own.name}, {"numbers", own.term->numbers()}});
    }
    if (!latent.empty()) result["latent"] = std::move(list);
    return result;
}

void FormulaCoding::Implementation::read(const Fields& fields) {
    try {
        formula = Formula::parse(fields.text("formula"));
        dot = fields.texts("dot");
        alone = fields.texts("text");
        expand();
    } catch (const FormulaError& error) {
        fields.refuse("formula", fmt::format("cannot be understood: {}", error.sentence()));
    }
    fields.each("factors", [&](const Fields& entry) {
        factors.push_back({entry.text("column"), entry.texts("levels")});
        const std::vector<std::string>& levels = factors.back().levels;
        if (levels.size() < 2 || levels.size() > detail::kMostFactorLevels || repeated(levels)) {
            fields.refuse("factors", "hold a factor whose levels are too few, too many, or the same");
        }
    });
    require_factors(fields);
    fields.each("learnt", [&](const Fields& entry) {
        learnt.push_back({entry.text("term"), entry.vector("numbers")});
    });
    require_learnt(fields);
    read_groups(fields);
    read_latent(fields);
    try {
        code();
    } catch (const FormulaError& error) {
        fields.refuse("formula", fmt::format("cannot be understood: {}", error.sentence()));
    } catch (const std::invalid_argument& error) {
        fields.refuse("formula", fmt::format("cannot be understood: {}", error.what()));
    }
}

void FormulaCoding::Implementation::read_groups(const Fields& fields) {
    fields.each("groups", [&](const Fields& entry) { groups.push_back(detail::RandomGroup::read(entry)); });
    for (const detail::RandomPart& part : expansion.random) {
        if (group_of(part.columns) == groups.size()) {
            fields.refuse("groups", fmt::format("lacks that of {}", shown(part.name())));
        }
    }
}

void FormulaCoding::Implementation::read_latent(const Fields& fields) {
    std::size_t next = 0;
    const auto read_term = [&](const Fields& entry) {
        if (next >= expansion.latent.size()) fields.refuse("latent", "has more terms than the formula");
        const detail::LatentPart& part = expansion.latent[next++];
        if (entry.text("term") != part.name) fields.refuse("latent", "are not the terms of the formula");
        auto term = detail::find_latent_term(part.word)->read(entry.vector("numbers"));
        if (!term) fields.refuse("latent", fmt::format("holds numbers of {} that cannot be", shown(part.name)));
        latent.push_back({part.name, part.column, std::move(term)});
    };
    if (fields.has("latent")) fields.each("latent", read_term);
    if (next < expansion.latent.size()) fields.refuse("latent", "lacks a term of the formula");
}

void FormulaCoding::Implementation::require_factors(const Fields& fields) const {
    for (const std::size_t place : used_parts()) {
        const TermPart& part = expansion.parts[place];
        if (part.kind != TermPart::Kind::factor || find_factor(part.name) != nullptr) continue;
        fields.refuse("factors", fmt::format("lacks the levels of {}", shown(part.name)));
    }
}

void FormulaCoding::Implementation::require_learnt(const Fields& fields) const {
    for (const std::size_t place : used_parts()) {
        const TermPart& part = expansion.parts[place];
        if (part.expression != nullptr) require_learnt(fields, *part.expression);
    }
    for (const Expression* offset : expansion.offsets) require_learnt(fields, *offset);
    for (const Expression* part : detail::response_parts(syntax())) require_learnt(fields, *part);
}

void FormulaCoding::Implementation::require_learnt(const Fields& fields, const Expression& expression) const {
    for (const Expression& part : expression.parts) require_learnt(fields, part);
    if (expression.kind != Expression::Kind::call) return;
    const bool is_scale = expression.text == "scale";
    Index size = 2;
    if (expression.text == "poly") {
        const detail::PolynomialCall call = detail::polynomial_call(syntax(), expression);
        if (call.raw) return;
        size = detail::polynomial_numbers(call.degree);
    } else if (!is_scale) {
        return;
    }
    const std::string name = detail::written(expression);
    for (const Learnt& entry : learnt) {
        if (entry.name != name) continue;
        const Index norms = is_scale ? 1 : (size - 1) / 2;
        const bool is_sound =
            entry.numbers.size() == size && entry.numbers[1] > 0.0 && entry.numbers.tail(norms).minCoeff() > 0.0;
        if (!is_sound) fields.refuse("learnt", fmt::format("holds numbers of {} that cannot be", shown(name)));
        return;
    }
    fields.refuse("learnt", fmt::format("lacks the numbers of {}", shown(name)));
}

FormulaCoding::FormulaCoding(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

FormulaCoding::FormulaCoding(Formula formula, const DataFrame& frame, const FormulaOptions& options)
    : FormulaCoding(std::move(formula), frame, options, [&frame](const std::string& asked) {
          return detail::answer_formula(frame, detail::RowBlocks(frame.rows), asked);
      }) {}

FormulaCoding::FormulaCoding(Formula formula, const DataFrame& frame, const FormulaOptions& options, const AskRows& ask)
    : implementation_(std::make_unique<Implementation>()) {
    implementation_->formula = std::move(formula);
    implementation_->learn(frame, options, ask);
}

FormulaCoding::~FormulaCoding() = default;
FormulaCoding::FormulaCoding(FormulaCoding&&) noexcept = default;
FormulaCoding& FormulaCoding::operator=(FormulaCoding&&) noexcept = default;
FormulaCoding::FormulaCoding(const FormulaCoding& other)
    : implementation_(std::make_unique<Implementation>(*other.implementation_)) {}
FormulaCoding& FormulaCoding::operator=(const FormulaCoding& other) {
    if (this != &other) implementation_ = std::make_unique<Implementation>(*other.implementation_);
    return *this;
}

const Formula& FormulaCoding::formula() const {
    return implementation_->formula;
}
const std::string& FormulaCoding::response() const {
    return implementation_->response;
}
bool FormulaCoding::has_trials() const {
    return implementation_->formula.has_trials();
}
bool FormulaCoding::intercept() const {
    return implementation_->expansion.intercept;
}
const std::vector<std::string>& FormulaCoding::names() const {
    return implementation_->names;
}
const std::vector<FormulaCoding::Random>& FormulaCoding::random() const {
    return implementation_->random;
}
const std::vector<FormulaCoding::Latent>& FormulaCoding::latent() const {
    return implementation_->latent;
}
const std::vector<FormulaCoding::Factor>& FormulaCoding::factors() const {
    return implementation_->factors;
}
std::vector<std::string> FormulaCoding::columns() const {
    return detail::needed_columns(implementation_->syntax(), implementation_->expansion, false);
}

FormulaDesign FormulaCoding::design(const DataFrame& frame) const {
    return implementation_->design(frame, true);
}

FormulaDesign FormulaCoding::new_rows(const DataFrame& frame) const {
    return implementation_->design(frame, false);
}

FrameOptions FormulaCoding::reading(bool with_response, Missing missing) const {
    return implementation_->reading(with_response, missing);
}

Document FormulaCoding::document() const {
    return implementation_->document();
}

FormulaCoding FormulaCoding::read(const Fields& fields) {
    auto implementation = std::make_unique<Implementation>();
    implementation->read(fields);
    return FormulaCoding(std::move(implementation));
}

}  // namespace lrvb
