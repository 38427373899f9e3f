#include "base/files.hpp"
#include "base/messages.hpp"
#include "kind/records.hpp"

#include <lrvb/kind/fit_file.hpp>

namespace lrvb {

namespace {

constexpr std::string_view kFormat = "lrvb fit";

using detail::Fields;
using detail::Json;

Json to_json(const FitFile& fit) {
    Json json;
    json["format"] = kFormat;
    json["version"] = {{"major", FitFile::kMajorVersion}, {"minor", FitFile::kMinorVersion}};
    json["program"] = fit.program;
    json["model"] = std::visit([](const auto& record) { return detail::to_json(record); }, fit.model);
    json["data"] = detail::to_json(fit.data);
    json["options"] = detail::to_json(fit.options);
    json["outcome"] = detail::to_json(fit.outcome);
    json["warnings"] = fit.warnings;
    json["parameters"] = Json::array();
    for (const ParameterRecord& parameter : fit.parameters) json["parameters"].push_back(detail::to_json(parameter));
    json["posterior"] = detail::to_json(fit.posterior);
    if (fit.check) json["check"] = detail::to_json(*fit.check);
    if (fit.correction) json["correction"] = detail::to_json(*fit.correction);
    return json;
}

// One line for every key at the top: readable with `head`, and no larger for it.
std::string to_text(const Json& json) {
    std::string text = "{";
    const char* separator = "\n";
    for (const auto& [key, value] : json.items()) {
        text += separator;
        text += Json(key).dump();
        text += ": ";
        text += value.dump(-1, ' ', false, Json::error_handler_t::replace);
        separator = ",\n";
    }
    return text += "\n}\n";
}

void require_version(const Fields& fields, const std::string& name) {
    if (!fields.has("format") || fields.text("format") != kFormat) {
        fields.refuse("format", fmt::format("is not '{}'", kFormat));
    }
    const int major = fields.fields("version").small("major");
    if (major == FitFile::kMajorVersion) return;
    throw std::runtime_error(
        fmt::format("{} is a fit file of version {}, but this program reads version {}: fit again, or use the program "
                    "that wrote it",
                    name, major, FitFile::kMajorVersion));
}

void require_parameters_of(const MixtureRecord& record, const Fields& fields) {
    const auto count = static_cast<Index>(fields.list("parameters").size());
    const Index columns = record.centre.size();
    const bool full = record.covariance == MixtureCovariance::full && columns > 1;
    // The number of components is compared before anything is made of that size.
    const Index of_component = full ? 2 : 2 * columns;
    const Index weights = record.components > 1 ? 1 : 0;
    if ((count - weights) % of_component == 0 && (count - weights) / of_component == record.components) return;
    fields.refuse("parameters", fmt::format("are not those of {} components", record.components));
}

}  // namespace

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
        std::visit(
            [&](const auto& family) {
                record.family = std::string(family.name);
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

void write_fit(const std::string& path, const FitFile& fit) {
    detail::write_text(path, to_text(to_json(fit)));
}

FitFile parse_fit(const std::string& text, const std::string& name) {
    detail::ParsedJson json;
    try {
        json = detail::ParsedJson::parse(text);
    } catch (const detail::ParsedJson::exception&) {
        throw std::runtime_error(fmt::format(
            "{} is no fit file of lrvb, or it is damaged: it is not JSON; make it again with 'lrvb fit'", name));
    }
    const Fields fields(json, name);
    require_version(fields, name);
    FitFile fit;
    fit.program = fields.text("program");
    const Fields model = fields.fields("model");
    const std::string type = model.text("type");
    if (type == "mixture") {
        const MixtureRecord record = detail::mixture_record(model);
        require_parameters_of(record, fields);
        fit.model = record;
    } else if (type == "regression") {
        fit.model = detail::regression_record(model);
    } else {
        fields.refuse("model.type", "is none that is known");
    }
    fit.data = detail::data_record(fields.fields("data"));
    fit.options = detail::options_record(fields.fields("options"));
    fit.outcome = detail::outcome_record(fields.fields("outcome"));
    fit.warnings = fields.texts("warnings");
    fields.each("parameters", [&](const Fields& entry) { fit.parameters.push_back(detail::parameter_record(entry)); });
    fit.posterior = detail::posterior_record(fields.fields("posterior"));
    if (fields.has("check")) {
        fit.check = detail::check_record(fields.fields("check"), static_cast<Index>(fit.posterior.variables.size()));
    }
    if (fields.has("correction")) fit.correction = detail::correction_record(fields.fields("correction"));
    return fit;
}

FitFile read_fit(const std::string& path) {
    detail::ByteStream stream(path);
    return parse_fit(detail::read_all(stream), stream.name());
}

}  // namespace lrvb
