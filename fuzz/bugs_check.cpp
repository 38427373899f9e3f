#include "checks.hpp"
#include "finding.hpp"
#include "kind/model/compiler.hpp"

#include <lrvb/bugs/graph.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lrvb::fuzz {
namespace {

bool is_plain(std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// What a model is refused with: at least one thing, each with its place, a plain sentence, the line and a mark.
void check_refusal(const bugs::ModelError& error) {
    require(!error.diagnostics().empty(), "a refusal says what is wrong");
    for (const bugs::Diagnostic& diagnostic : error.diagnostics()) {
        require(diagnostic.line > 0 && diagnostic.column > 0, "a refusal has a place");
        require(!diagnostic.sentence.empty() && is_plain(diagnostic.sentence), "a sentence is one line, and plain");
        const std::size_t end = diagnostic.picture.find('\n');
        require(end != std::string::npos && is_plain(std::string_view(diagnostic.picture).substr(0, end)),
                "the text is on one line");
        const std::string mark = diagnostic.picture.substr(end + 1);
        const std::size_t first = mark.find_first_not_of(' ');
        require(first != std::string::npos && mark[first] == '^', "a mark is below it");
        require(mark.find_first_not_of('~', first + 1) == std::string::npos, "nothing but the mark is below it");
    }
}

/// Nothing where it is refused.
template <class Call>
auto unless_refused(Call call) -> std::optional<decltype(call())> {
    try {
        return call();
    } catch (const bugs::ModelError& error) {
        check_refusal(error);
    } catch (const std::runtime_error& error) {
        require(is_plain(error.what()) && *error.what() != '\0', "a refusal is one line");
    }
    return std::nullopt;
}

std::string all_written(const bugs::Syntax& model) {
    std::string text = "model {";
    for (const bugs::Relation& relation : model.model.relations) {
        for (const std::size_t loop : relation.loops) {
            text += " for (" + model.model.loops[loop].index + " in " + written(model.model.loops[loop].range) + ") {";
        }
        text += ' ' + written(relation) + std::string(relation.loops.size(), '}') + ";";
    }
    return text + "}";
}

void check_values(const bugs::Graph& graph, const bugs::Expression& expression, const bugs::GraphRelation& relation) {
    if (graph.is_known(expression, relation)) {
        const bugs::Columns values = graph.values(expression, relation);
        require(values.values.rows() == 1 || values.values.rows() == relation.rows(), "one line, or a line a row");
        return;
    }
    for (const bugs::Expression& part : expression.parts) {
        if (part.kind != bugs::Expression::Kind::empty) check_values(graph, part, relation);
    }
}

void check_graph(const bugs::Graph& graph) {
    const bool model_has_data_block = graph.syntax().data.has_value();
    for (const bugs::Array& array : graph.arrays()) {
        require(array.values.size() == array.states.size(), "every element has a state");
        for (std::size_t i = 0; i < array.states.size(); ++i) {
            // A constant may be no number, such as 0 * log(0).
            const bool is_given = array.states[i] == bugs::State::data || array.states[i] == bugs::State::observed;
            require(!std::isnan(array.values[i]) || !is_given || model_has_data_block, "what is given has a value");
            const bool is_defined = array.relations[i] != bugs::Array::kNone;
            const bool should_be = array.states[i] != bugs::State::undefined && array.states[i] != bugs::State::data;
            require(is_defined == should_be, "what has a relation is no mere data");
        }
    }
    std::vector<std::size_t> rows(graph.relations().size(), 0);
    for (const bugs::Step& step : graph.steps()) {
        rows.at(step.relation) +=
            step.is_all ? static_cast<std::size_t>(graph.relations()[step.relation].rows()) : step.rows.size();
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bugs::GraphRelation& relation = graph.relations()[i];
        require(rows[i] == static_cast<std::size_t>(relation.rows()), "every row is a step");
        unless_refused([&] {
            for (const bugs::Expression& part : relation.syntax->right.parts) check_values(graph, part, relation);
            return 0;
        });
    }
}

}  // namespace

void check_bugs(std::string_view bytes) {
    constexpr std::string_view between = "\n---\n";
    const std::size_t end = bytes.find(between);
    const std::string text(bytes.substr(0, end));
    const std::string_view rest = end == std::string_view::npos ? bytes : bytes.substr(end + between.size());
    constexpr std::size_t most = 100;
    bugs::Data data(most);
    refusal_of([&] {
        if (rest.starts_with('{')) {
            data.add_json(rest, "data");
        } else {
            data.add_dump(rest, "data");
        }
    });
    const std::optional<bugs::Syntax> model = unless_refused([&] { return bugs::parse_model(text, "model"); });
    if (!model) return;
    const std::string once = all_written(*model);
    const std::optional<bugs::Syntax> again = unless_refused([&] { return bugs::parse_model(once, "again"); });
    // Signs and powers may need parentheses that stand too deep.
    if (again) require(all_written(*again) == once, "a model can be read back");
    bugs::GraphOptions options;
    options.most = most;
    const auto graph = unless_refused([&] { return bugs::Graph(*model, data, options); });
    if (!graph) return;
    check_graph(*graph);
    unless_refused([&] {
        static_cast<void>(lrvb::detail::compiled(*graph, {}));
        return 0;
    });
}

}  // namespace lrvb::fuzz
