#include "base/files.hpp"
#include "base/messages.hpp"
#include "base/output_guard.hpp"
#include "data/parts.hpp"
#include "kind/records.hpp"
#include "kind/soundness.hpp"

#include <lrvb/kind/kind.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace lrvb {

namespace {

constexpr std::string_view kFormat = "lrvb fit";

// One line for every key at the top: readable with `head`, and no larger for it. Each goes to the text before the next
// is made, so that a large fit is never there twice as a document.
class Sections {
  public:
    void add(std::string_view key, const Document& value) {
        text_ += text_.empty() ? "{\n" : ",\n";
        text_ += Document(key).json();
        text_ += ": ";
        text_ += value.json();
    }
    std::string finished() { return std::move(text_) + "\n}\n"; }

  private:
    std::string text_;
};

Document model_document(const ModelRecord& model) {
    Document json{{"type", model.kind()}};
    const Document record = model.document();
    if (const Document::Object* entries = record.object_entries()) {
        for (const auto& [key, value] : *entries) json.append(key, value);
    }
    return json;
}

Document parameters_document(const std::vector<ParameterRecord>& parameters) {
    Document::List list;
    list.reserve(parameters.size());
    for (const ParameterRecord& parameter : parameters) list.push_back(detail::to_document(parameter));
    return Document::list(std::move(list));
}

std::string to_text(const FitFile& fit) {
    Sections sections;
    sections.add("format", kFormat);
    sections.add("version", Document{{"major", FitFile::kMajorVersion}, {"minor", FitFile::kMinorVersion}});
    sections.add("program", fit.program.empty() ? LRVB_VERSION : fit.program);
    sections.add("model", model_document(*fit.model));
    sections.add("data", detail::to_document(fit.data));
    sections.add("options", detail::to_document(fit.options));
    sections.add("outcome", detail::to_document(fit.outcome));
    sections.add("warnings", fit.warnings);
    if (!fit.notes.empty()) sections.add("notes", fit.notes);
    sections.add("parameters", parameters_document(fit.parameters));
    sections.add("posterior", detail::to_document(fit.posterior));
    if (!fit.other_optima.empty()) {
        sections.add("other_optima", other_optima_document(fit.other_optima, fit.posterior, fit.posterior.select({})));
    }
    if (fit.hessian) sections.add("hessian", detail::to_document(*fit.hessian));
    if (fit.check) sections.add("check", detail::to_document(*fit.check));
    if (fit.correction) sections.add("correction", detail::to_document(*fit.correction));
    return sections.finished();
}

void require_version(const Fields& fields, const std::string& name) {
    if (!fields.has("format") || fields.text("format") != kFormat) {
        fields.refuse("format", fmt::format("is not '{}'", kFormat));
    }
    const int major = fields.fields("version").small("major");
    fields.fields("version").small("minor");
    if (major == FitFile::kMajorVersion) return;
    throw std::runtime_error(
        fmt::format("{} is a fit file of version {}, but this program reads version {}: fit again, or use the program "
                    "that wrote it",
                    name, major, FitFile::kMajorVersion));
}

// Files of before 1.4 say the indices of all variables by numbers.
void give_names(FitFile& fit, const std::vector<VariableMeaning>& meanings) {
    std::unordered_map<std::string, std::string> names;
    for (const VariableMeaning& meaning : meanings) {
        if (!meaning.index_names.empty()) names.emplace(meaning.numbered_name(), meaning.name());
    }
    const auto rename = [&](std::string& name) {
        const auto found = names.find(name);
        if (found != names.end()) name = found->second;
    };
    for (std::string& name : fit.posterior.statistics) rename(name);
    for (PosteriorVariable& variable : fit.posterior.variables) rename(variable.name);
    for (OtherOptimum& other : fit.other_optima) {
        for (OtherOptimum::Value& value : other.variables) rename(value.name);
    }
    if (!fit.check) return;
    for (CheckedVariable& variable : fit.check->variables) rename(variable.name);
}

// What the record knows of the variables: by their places where it lists the same ones, otherwise by their names. A
// correction keeps derived variables among the statistics, after those of the model, which are the ones that values at
// a draw are made of.
void give_meaning(FitFile& fit, const Fields& fields) {
    std::vector<VariableMeaning> meanings = fit.model->meanings(fit);
    give_names(fit, meanings);
    std::vector<PosteriorVariable>& variables = fit.posterior.variables;
    Index statistics = 0;
    for (const VariableMeaning& meaning : meanings) {
        for (const auto& [at, factor] : meaning.from_draw.combination) statistics = std::max(statistics, at + 1);
    }
    const auto all = static_cast<Index>(fit.posterior.statistics.size());
    fit.posterior.derived_statistics = fit.correction ? std::max<Index>(0, all - statistics) : 0;

    const auto is_of = [](const PosteriorVariable& variable, const VariableMeaning& meaning) {
        return variable.name == meaning.name();
    };
    if (std::equal(variables.begin(), variables.end(), meanings.begin(), meanings.end(), is_of)) {
        for (std::size_t v = 0; v < variables.size(); ++v) variables[v].meaning = std::move(meanings[v]);
        return;
    }
    std::unordered_set<std::string_view> names;
    for (const PosteriorVariable& variable : variables) {
        if (!names.insert(variable.name).second) {
            fields.refuse("posterior.variables", fmt::format("has {} twice", detail::shown(variable.name)));
        }
    }
    // A later version may have more of them.
    const bool is_newer = fields.fields("version").small("minor") > FitFile::kMinorVersion;
    std::unordered_map<std::string, VariableMeaning> known;
    for (VariableMeaning& meaning : meanings) {
        std::string name = meaning.name();
        known.try_emplace(std::move(name), std::move(meaning));
    }
    for (PosteriorVariable& variable : variables) {
        const auto found = known.find(variable.name);
        if (found != known.end()) {
            variable.meaning = found->second;
        } else if (!is_newer) {
            fields.refuse("posterior.variables",
                          fmt::format("has {}, which is no variable of the model", detail::shown(variable.name)));
        }
    }
}

// Covariances that the file does not keep as matrices.
void answer_from_parameters(FitFile& fit, const Fields& fields) {
    if (fit.posterior.mean_field_covariance && !fields.has("hessian")) return;
    const Layout layout = fit.parameter_layout();
    const State state = fit.state(layout);
    SparseMatrix statistics;
    try {
        statistics = fit.model->statistics(fit);
    } catch (const std::logic_error&) {
        fields.refuse("posterior.covariance_mfvb", "is missing");
    }
    if (statistics.rows() != layout.size() || statistics.cols() != fit.posterior.mean.size()) {
        fields.refuse("posterior.statistics", "are not those of the parameters");
    }
    fit.posterior.mean_field_covariance = mean_field_covariance(layout, state, statistics);
    if (!fields.has("hessian")) return;
    if (fit.posterior.sensitivities.rows() != fit.posterior.mean.size()) {
        fields.refuse("posterior.sensitivities", "is missing");
    }
    fit.hessian = detail::lower_triangle_record(fields.fields("hessian"), layout.size());
    fit.posterior.covariance = response_covariance(FactoredCovariance(layout, state, *fit.hessian), statistics);
    if (!fit.posterior.marginals || fit.posterior.marginals->sd.size() == 0) {
        fields.refuse("posterior.marginals", "has no sds");
    }
    if (!fit.correction) return;
    if (fit.correction->response_sd.size() != fit.posterior.marginals->sd.size()) {
        fields.refuse("correction.response", "has another number of variables than the posterior");
    }
    fit.posterior.covariance = with_exact_sds(fit.posterior, fit.correction->response_sd);
}

// Means before covariances.
int place_of(Role role) {
    switch (role) {
        case Role::location:
        case Role::coefficient:
            return 0;
        case Role::weight:
        case Role::rate:
            return 1;
        case Role::scale:
        case Role::covariance:
            return 2;
        case Role::precision:
        case Role::other:
            return 3;
        case Role::off_diagonal:
        case Role::logarithm:
            break;
    }
    return 4;
}

// What people look at before what follows from it.
int kept_of(const VariableMeaning& meaning) {
    return meaning.is_shown ? 0 : meaning.is_parameter ? 1 : 2;
}

// What is off before what cannot be told, and that before what is right.
int soundness_of(const CheckResult& check, Index variable) {
    const std::string_view verdict = check.variables[static_cast<std::size_t>(variable)].verdict;
    if (verdict == "ok" || verdict == "fixed") return 2;
    return verdict.empty() || verdict == "seems ok" || verdict.starts_with("not ") ? 1 : 0;
}

// So many of the smallest rank, as they stood.
std::vector<Index> foremost(const std::vector<Index>& chosen, std::size_t most,
                            const std::function<std::array<int, 3>(Index)>& rank) {
    if (chosen.size() <= most) return chosen;
    std::vector<Index> result = chosen;
    std::stable_sort(result.begin(), result.end(), [&](Index a, Index b) { return rank(a) < rank(b); });
    result.resize(most);
    const std::unordered_set<Index> kept(result.begin(), result.end());
    result.clear();
    for (const Index at : chosen) {
        if (kept.contains(at)) result.push_back(at);
    }
    return result;
}

Document parsed(std::string_view text, const std::string& name) {
    try {
        return Document::parse(text);
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(fmt::format(
            "{} is no fit file of lrvb, or it is damaged: {}; make it again with 'lrvb fit'", name, error.what()));
    }
}

FitFile fit_of(const Fields& fields, const std::string& name) {
    require_version(fields, name);
    FitFile fit;
    fit.program = fields.text("program");
    const Fields model = fields.fields("model");
    const Kind* kind = find_kind(model.text("type"));
    if (kind == nullptr) {
        throw std::runtime_error(
            fmt::format("{} is a fit of the kind {}, which this program does not know: use the program that wrote it",
                        name, detail::shown(model.text("type"))));
    }
    fit.model = kind->read(model);
    fit.model->require_parameters(fields);
    fit.data = detail::data_record(fields.fields("data"));
    detail::require_sound_columns(fit.data, fields);
    fit.options = detail::options_record(fields.fields("options"));
    fit.outcome = detail::outcome_record(fields.fields("outcome"));
    fit.warnings = fields.texts("warnings");
    if (fields.has("notes")) fit.notes = fields.texts("notes");  // since 1.4
    fields.each("parameters", [&](const Fields& entry) { fit.parameters.push_back(detail::parameter_record(entry)); });
    detail::require_sound_parameters(fit.parameters, fields);
    fit.posterior = detail::posterior_record(fields.fields("posterior"));
    if (fields.has("other_optima")) fit.other_optima = detail::other_optima(fields, fit.posterior);  // since 1.3
    if (fields.has("check")) fit.check = detail::check_result(fields.fields("check"), fit.posterior);
    if (fields.has("correction")) fit.correction = detail::correction_record(fields.fields("correction"));
    answer_from_parameters(fit, fields);
    give_meaning(fit, fields);
    detail::require_sound(fit, fields);
    return fit;
}

FitFile fit_of(const Document& json, const std::string& name) {
    const Fields fields(json, name);
    try {
        return fit_of(fields, name);
    } catch (const std::logic_error& error) {  // what would be a caller's mistake, where a file is the caller
        fields.refuse("its content", fmt::format("is none of a fit ({})", error.what()));
    }
}

}  // namespace

std::vector<Index> foremost_variables(const FitFile& fit, const std::vector<Index>& chosen, std::size_t most) {
    return foremost(chosen, most, [&](Index at) {
        const VariableMeaning& meaning = fit.posterior.variables[static_cast<std::size_t>(at)].meaning;
        return std::array{kept_of(meaning), fit.check ? soundness_of(*fit.check, at) : 0, place_of(meaning.role)};
    });
}

std::vector<Index> foremost_variables(const FitFile& fit, const CheckResult& check, const std::vector<Index>& chosen,
                                      std::size_t most) {
    return foremost(chosen, most, [&](Index at) {
        const VariableMeaning& meaning = fit.posterior.variables[static_cast<std::size_t>(at)].meaning;
        return std::array{soundness_of(check, at), kept_of(meaning), place_of(meaning.role)};
    });
}

State FitFile::state(const Layout& layout) const {
    State result{Vector::Zero(layout.size()), Vector::Zero(layout.size()), {}};
    const auto refuse = [](const std::string& reason) {
        throw std::runtime_error("the parameters of the fit file are not those of its model: " + reason);
    };
    if (static_cast<Index>(parameters.size()) != layout.variable_count()) refuse("their number differs");
    for (Index j = 0; j < layout.variable_count(); ++j) {
        const ParameterRecord& record = parameters[static_cast<std::size_t>(j)];
        const VariableInfo& info = layout[j];
        if (record.name != info.name || record.natural.size() != info.size)
            refuse(detail::printable(record.name) + " is another");
        layout.segment(result.natural, j) = record.natural;
        layout.segment(result.mean, j) = record.mean;
        result.clamped.push_back(record.clamped);
        if (record.clamped) continue;
        const std::string error =
            std::visit([&](const auto& family) { return family.domain_error(record.natural); }, info.family);
        if (!error.empty()) refuse(detail::printable(record.name) + ": " + error);
    }
    return result;
}

std::vector<ParameterRecord> record_parameters(const Layout& layout, const State& state) {
    std::vector<ParameterRecord> records;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        const VariableInfo& info = layout[j];
        ParameterRecord record;
        record.name = info.name;
        record.clamped = state.clamped[static_cast<std::size_t>(j)];
        record.natural = layout.segment(state.natural, j);
        record.mean = layout.segment(state.mean, j);
        record.family = detail::family_text(info.family);
        std::visit(
            [&](const auto& family) {
                if (!record.clamped) record.standard = family.standard(record.natural);
            },
            info.family);
        records.push_back(std::move(record));
    }
    return records;
}

OutcomeRecord record_outcome(const Optimum& optimum, Index passes) {
    return {optimum.termination, optimum.message,     optimum.bound, optimum.step, passes,
            optimum.sweeps,      optimum.newton_steps};
}

Layout FitFile::parameter_layout() const {
    Layout layout;
    for (const ParameterRecord& parameter : parameters) {
        const std::optional<AnyFamily> family = detail::family_of(parameter);
        if (!family) {
            throw std::runtime_error(
                fmt::format("the parameters of the fit file are not those of its model: {} is of "
                            "no family that is known",
                            detail::printable(parameter.name)));
        }
        layout.add(parameter.name, *family);
    }
    return layout;
}

namespace detail {

std::optional<AnyFamily> family_of(const ParameterRecord& record) {
    std::optional<AnyFamily> family = family_of(record.family, record.natural.size());
    // The unit of a Point is behind its value.
    if (family && std::holds_alternative<family::Point>(*family) && record.standard.size() == 2) {
        const double unit = record.standard[1];
        if (!(std::isfinite(unit) && unit > 0.0)) return std::nullopt;
        return family::Point(unit);
    }
    return family;
}

}  // namespace detail

namespace {

// Names as they stand in the fit; a relative one is of the folder where the program runs.
std::vector<std::string> written_names(const FitFile& fit) {
    std::vector<std::string> names = dataset_of(fit.data).paths();
    const std::vector<std::string> of_model = fit.model->files();
    names.insert(names.end(), of_model.begin(), of_model.end());
    return names;
}

}  // namespace

std::vector<std::string> named_files(const FitFile& fit) {
    return detail::with_parts(written_names(fit));
}

void require_not_named(const FitFile& fit, const std::string& output) {
    if (output == "-") return;
    for (const std::string& file : named_files(fit)) {
        if (detail::leads_to_same_file(file, output)) detail::refuse_output(output, {}, file);
    }
}

namespace {

// The same file beside the fit, whose folder the program ran in when the fit was made.
std::string beside(const std::string& fit_path, const std::string& name) {
    const bool is_list = name.starts_with('@');
    const std::filesystem::path path = is_list ? name.substr(1) : name;
    return (is_list ? "@" : "") + (std::filesystem::path(fit_path).parent_path() / path).string();
}

// No output replaces what a fit names, here or beside the fit.
FitFile noted(FitFile fit, const std::string& path) {
    std::vector<std::string> names = written_names(fit);
    if (path.find('/') != std::string::npos) {
        for (const std::string& name : written_names(fit)) names.push_back(beside(path, name));
    }
    for (const std::string& file : detail::with_parts(names)) detail::note_input(file);
    return fit;
}

}  // namespace

void write_fit(const std::string& path, const FitFile& fit) {
    require_not_named(fit, path);
    detail::write_text(path, fit_text(fit));
}

// What the reader would refuse is not written.
std::string fit_text(const FitFile& fit) {
    std::string text = to_text(fit);
    try {
        fit_of(parsed(text, "the fit"), "the fit");
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(
            fmt::format("{}. The fit is not written; change the unit or the origin of the columns", error.what()));
    }
    return text;
}

FitFile parse_fit(const std::string& text, const std::string& name) {
    return noted(fit_of(parsed(text, name), name), name);
}

FitFile read_fit(const std::string& path) {
    detail::ByteStream stream(path);
    // The text, which may be long, is given back before the fit is made.
    const Document json = parsed(detail::read_json(stream), stream.name());
    return noted(fit_of(json, stream.name()), path);
}

}  // namespace lrvb
