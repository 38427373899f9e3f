#include "kind/model/compiler.hpp"

#include "kind/declared/record.hpp"
#include "kind/model/clusters.hpp"
#include "kind/model/declarations.hpp"
#include "kind/model/derive.hpp"
#include "kind/model/labels.hpp"

#include <lrvb/sample/model_density.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace lrvb::detail {

namespace {

// In multiplications.
constexpr double kWorkOfLabels = 20.0;      // of an evaluation: they are summed out by gradients, and then drawn
constexpr double kWorkOfAWord = 3.0;        // of a derived node
constexpr double kWorkOfAStatistic = 20.0;  // whose values are kept and compared

bool joins_something(const MultilinearModel& base, const std::vector<Index>& joined) {
    Index coefficients = 0;
    for (const Index variable : joined) {
        const AnyFamily& family = base.layout()[variable].family;
        const auto* vector = std::get_if<family::MvNormal>(&family);
        coefficients += vector != nullptr ? vector->dimension() : 1;
    }
    return joined.size() > 1 && coefficients > 1;
}

// Where the node stands that a sentence of the library names in quotes.
bugs::Place place_of(const bugs::Graph& graph, const std::string& sentence) {
    const std::size_t open = sentence.find('\'');
    const std::size_t close = open == std::string::npos ? open : sentence.find('\'', open + 1);
    if (close == std::string::npos) return {};
    std::string name = sentence.substr(open + 1, close - open - 1);
    name = name.substr(0, name.find('['));
    for (const std::string_view part : {"", ".precision", ".weight", ".parts", ".cluster", ".scaled", ".total"}) {
        if (!name.ends_with(part)) continue;
        const bugs::Array* array = graph.find(name.substr(0, name.size() - part.size()));
        if (array != nullptr) return array->place;
    }
    return {};
}

}  // namespace

const RowModel& CompiledModel::model() const {
    if (joint) return *joint;
    return *base;
}

double CompiledModel::work_of_a_draw() const {
    const double evaluation = joint ? joint->work() : base->work();
    const Layout& layout = model().layout();
    const bool has_labels = std::any_of(layout.begin(), layout.end(), [](const VariableInfo& variable) {
        return std::holds_alternative<family::Bernoulli>(variable.family) ||
               std::holds_alternative<family::Categorical>(variable.family);
    });
    State free;
    free.clamped.assign(static_cast<std::size_t>(layout.variable_count()), false);
    const double together = density_evaluations(model(), free);
    double words = 0.0;
    for (const DerivedNode& node : derived) {
        words += 1.0 + static_cast<double>(std::count(node.function.begin(), node.function.end(), ' '));
    }
    return evaluation * (together > 1.0 ? together
                         : has_labels   ? kWorkOfLabels
                                        : 1.0) +
           kWorkOfAWord * words + kWorkOfAStatistic * static_cast<double>(layout.size());
}

std::shared_ptr<const RowModel> CompiledModel::without_rows(const std::vector<Index>& dropped) const {
    const Vector weights = Vector::Zero(static_cast<Index>(dropped.size()));
    if (joint) return std::make_shared<const JointModel>(joint->reweighted(dropped, weights));
    return std::make_shared<const MultilinearModel>(base->reweighted(dropped, weights));
}

namespace {

// Data on the left of a ~ whose loops have no rounds tell the fit nothing.
std::vector<std::string> notes_of_idle_data(const bugs::Graph& graph) {
    std::vector<std::string> notes;
    for (const bugs::Array& array : graph.arrays()) {
        const bool is_given =
            std::ranges::all_of(array.states, [](bugs::State state) { return state == bugs::State::data; });
        const bool is_response = std::ranges::any_of(
            graph.syntax().model.relations,
            [&](const bugs::Relation& relation) { return relation.is_stochastic && relation.left.name == array.name; });
        if (!is_given || !is_response || array.states.empty()) continue;
        notes.push_back(
            fmt::format("the data {} are not used: the loops around {} ~ … have no rounds", array.name, array.name));
    }
    return notes;
}

}  // namespace

CompiledModel compiled(const bugs::Graph& graph, const CompileOptions& options) {
    bugs::Diagnostics diagnostics(graph.source());
    const text::Evaluator evaluator(graph);
    std::vector<text::Piece> pieces = text::pieces_of(evaluator, diagnostics);
    diagnostics.require_none();
    const text::Centring centring(evaluator, pieces);
    text::Declarations declarations(evaluator, pieces, centring, options);
    declarations.find_intervals(diagnostics);
    const std::vector<text::LabelledPlate> labelled = text::labelled_plates(declarations);
    text::find_clusters(declarations);
    text::declare_nodes(declarations, diagnostics);
    text::observe_nodes(declarations, diagnostics);
    text::observe_labelled(declarations, labelled, diagnostics);
    diagnostics.require_none();

    CompiledModel result;
    const auto refuse = [&](const std::string& sentence) {
        const bool is_predictor = sentence.starts_with("predictor rows");
        diagnostics.add(is_predictor ? declarations.predictor_place : place_of(graph, sentence), sentence);
        diagnostics.require_none();
    };
    try {
        MultilinearModel built = declarations.builder.build();
        built.set_threads(options.threads);
        result.base = std::make_shared<const MultilinearModel>(std::move(built));
        const bool has_predictors = !declarations.predictors.empty();
        if (has_predictors && !labelled.empty()) {
            diagnostics.add(declarations.predictor_place,
                            "rows under a link and labels of rows in one model are not supported: fit them apart");
            diagnostics.require_none();
        }
        // What is summed out is not quadratic in normal nodes.
        if (labelled.empty() && (!options.factorised || has_predictors)) {
            const std::vector<Index> joined = joinable(*result.base, declarations.predictors);
            if (has_predictors || joins_something(*result.base, joined)) {
                result.joint = std::make_shared<const JointModel>(*result.base, joined, declarations.predictors);
            }
        }
    } catch (const std::invalid_argument& error) {
        refuse(error.what());
    }
    for (const PredictorRows& rows : declarations.predictors) result.linked_rows += rows.y.size();
    result.rows = std::move(declarations.observed_rows);
    result.prior = std::move(declarations.prior);
    result.hidden = std::move(declarations.hidden);
    // From the builder's statistics to those of the model that is fitted, and to those of the posterior.
    const DeclaredVariables variables(result.model().layout());
    std::vector<Index> reported(static_cast<std::size_t>(result.model().layout().size()), -1);
    for (std::size_t s = 0; s < variables.stacked().size(); ++s) {
        reported[static_cast<std::size_t>(variables.stacked()[s])] = static_cast<Index>(s);
    }
    const auto place = [&](Index statistic) {
        const Index own = result.joint ? result.joint->position(statistic) : statistic;
        return own < 0 ? Index{-1} : reported[static_cast<std::size_t>(own)];
    };
    result.derived = text::derived_nodes(declarations, result.base->layout(), place, options.monitor);
    result.notes = std::move(declarations.notes);
    for (std::string& note : notes_of_idle_data(graph)) result.notes.push_back(std::move(note));
    return result;
}

}  // namespace lrvb::detail
