#include "kind/model/kind.hpp"

#include "kind/model/fitted.hpp"

#include <lrvb/bugs/syntax.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace lrvb::detail {

namespace {

constexpr Index kRestarts = 5;
constexpr Index kManyRows = 100000;  // which have fewer starts
constexpr Index kManyJoined = 200;   // nodes, or rows under a link, likewise: a step takes their third power
constexpr Index kFewRestarts = 2;

void require_nodes(const bugs::Graph& graph, const std::vector<std::string>& monitor) {
    for (const std::string& name : monitor) {
        if (graph.find(std::string_view(name).substr(0, name.find('['))) != nullptr) continue;
        throw UsageError(fmt::format("--monitor: the model has no node '{}': name one that stands in its text", name));
    }
}

}  // namespace

std::optional<std::vector<OptionInfo>> TextModelKind::options() const {
    std::vector<OptionInfo> options;
    options.push_back(
        OptionInfo{"MODEL", "The model: a text in the language of BUGS, as JAGS reads it", OptionInfo::Type::file}
            .require());
    options.push_back(
        {"--monitor", "Nodes to show, instead of those of small arrays", OptionInfo::Type::list, false, {}, "NODES"});
    options.push_back(OptionInfo::flag(
        "--factorised", "Give every normal node a factor of its own, instead of one to all that are jointly normal"));
    options.push_back(OptionInfo::whole("--restarts", 1, 10000,
                                        "Starts, of which the best wins (default 5; 2 of more than 100,000 rows, or "
                                        "200 joined nodes or rows under a link)"));
    return options;
}

std::optional<OptionInfo> TextModelKind::several_files() const {
    return OptionInfo{"DATA", "The data: JSON, R's dump format or CSV, several files together; - for standard input",
                      OptionInfo::Type::files};
}

std::unique_ptr<FittedModel> TextModelKind::fit(const FitRequest& request) const {
    const Settings& settings = request.settings;
    const std::string given = settings.text("MODEL");
    if (given.empty()) throw UsageError("there is no model: give the file that holds its text");
    const bool is_text = given.find('{') != std::string::npos;  // which every model has, and no file's name should
    TextModel model(is_text ? text_model(given, "") : bugs::read_model(given), request.data);
    auto record = std::make_shared<TextModelRecord>();
    if (!is_text) record->file = given;
    record->text = model.graph->source().text();
    record->factorised = settings.flag("factorised");
    record->monitor = settings.list("monitor");
    require_nodes(*model.graph, record->monitor);
    CompiledModel compiled_model = compiled(*model.graph, record->options(request.threads));
    if (request.on_rows) request.on_rows(compiled_model.row_count());
    FitOptions options = request.options;
    const Index coefficients = compiled_model.joint ? compiled_model.joint->coefficient_count() : 0;
    const bool is_large =
        compiled_model.row_count() > kManyRows || std::max(coefficients, compiled_model.linked_rows) > kManyJoined;
    const bool has_predictors = compiled_model.linked_rows > 0;
    const Index restarts = is_large ? kFewRestarts : kRestarts;
    options.restarts = static_cast<int>(settings.whole("restarts", restarts));
    Optimum optimum = lrvb::fit(compiled_model.model(), options);

    record->hidden = compiled_model.hidden;
    record->numbers = compiled_model.prior;
    record->derived = compiled_model.derived;
    record->nodes = compiled_model.model().layout().variable_count();
    FitFile file;
    file.model = record;
    file.data = model.data;
    file.data.rows = compiled_model.row_count();
    file.data.total_weight = static_cast<double>(file.data.rows);
    if (const std::vector<std::string>& unused = model.graph->unused_data(); !unused.empty()) {
        file.notes.push_back(fmt::format("{}: in the data, but not used by the model", fmt::join(unused, ", ")));
    }
    for (const bugs::Diagnostic& note : model.graph->notes()) {
        file.notes.push_back(fmt::format("{}:{}:{}: {}", note.file, note.line, note.column, note.sentence));
    }
    for (const std::string& note : compiled_model.notes) file.notes.push_back(note);
    file.options = {options.seed, options.restarts, options.tolerance, options.max_iterations};
    file.outcome = record_outcome(optimum, 0);
    file.parameters = record_parameters(compiled_model.model().layout(), optimum.state);
    const std::string reason = optimum.message;
    try {
        return fitted_text_model(std::move(file), std::move(model), std::move(compiled_model), std::move(optimum),
                                 request.threads);
    } catch (const std::domain_error&) {  // nothing can be said of where it ended
        throw std::runtime_error(fmt::format(
            "{}: the fit ran away{}: neither the data nor the priors hold some of the nodes; give those that "
            "are precisions, or that no data inform, stronger priors{}",
            is_text ? "model" : given, reason.empty() ? "" : " (" + reason + ")",
            has_predictors ? ", and centre covariates that are far from zero" : ""));
    }
}

std::shared_ptr<const ModelRecord> TextModelKind::read(const Fields& fields) const {
    return TextModelRecord::read(fields);
}

}  // namespace lrvb::detail
