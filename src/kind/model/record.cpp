#include "kind/model/record.hpp"

#include "kind/model/fitted.hpp"
#include "kind/model/node_function.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace lrvb::detail {

namespace {

constexpr std::pair<PriorNumber::Role, std::string_view> kRoles[] = {{PriorNumber::Role::location, "location"},
                                                                     {PriorNumber::Role::positive, "positive"}};

}  // namespace

std::shared_ptr<const TextModelRecord> TextModelRecord::read(const Fields& fields) {
    auto record = std::make_shared<TextModelRecord>();
    record->file = fields.text("file");
    record->text = fields.text("text");
    try {
        static_cast<void>(text_model(record->text, ""));
    } catch (const bugs::ModelError& error) {
        const bugs::Diagnostic& first = error.diagnostics().front();
        fields.refuse("text", fmt::format("is no model of BUGS: line {}: {}", first.line, first.sentence));
    } catch (const std::runtime_error& error) {
        fields.refuse("text", error.what());
    }
    record->factorised = fields.flag("factorised");
    record->monitor = fields.texts("monitor");
    record->hidden = fields.texts("hidden");
    record->nodes = fields.count("unobserved");
    fields.each("numbers", [&](const Fields& one) {
        PriorNumber number;
        number.name = number.group = one.text("name");
        number.value = one.number("value");
        number.unit = one.number("unit");
        const std::string role = one.text("role");
        bool known = false;
        for (const auto& [own, word] : kRoles) {
            if (word != role) continue;
            number.role = own;
            known = true;
        }
        if (!known) one.refuse("role", "must be location or positive");
        record->numbers.push_back(std::move(number));
    });
    fields.each("derived", [&](const Fields& one) {
        DerivedNode node{one.text("node"), one.texts("indices"), one.text("function")};
        try {
            static_cast<void>(NodeFunction(node.function));
        } catch (const std::invalid_argument& error) {
            one.refuse("function", error.what());
        }
        record->derived.push_back(std::move(node));
    });
    return record;
}

Document TextModelRecord::document() const {
    Document json;
    json["file"] = file;
    json["text"] = text;
    json["factorised"] = factorised;
    json["monitor"] = monitor;
    json["hidden"] = hidden;
    json["unobserved"] = nodes;
    Document prior_numbers = Document::list();
    for (const PriorNumber& number : numbers) {
        Document one;
        one["name"] = number.name;
        one["value"] = number.value;
        for (const auto& [own, word] : kRoles) {
            if (own == number.role) one["role"] = word;
        }
        one["unit"] = number.unit;
        prior_numbers.push_back(std::move(one));
    }
    json["numbers"] = std::move(prior_numbers);
    Document functions = Document::list();
    for (const DerivedNode& node : derived) {
        functions.push_back(Document{{"node", node.group}, {"indices", node.indices}, {"function", node.function}});
    }
    json["derived"] = std::move(functions);
    return json;
}

std::string TextModelRecord::headline() const {
    return fmt::format("{} unobserved node{}", nodes, nodes == 1 ? "" : "s");
}

std::string TextModelRecord::title(const DataRecord& data) const {
    const std::string own = file.empty() ? "A model" : std::filesystem::path(file).filename().string();
    return data.name.empty() ? own : fmt::format("{} of {}", own, data.name);
}

std::string TextModelRecord::description() const {
    return file.empty() ? "A model" : fmt::format("The model {}", std::filesystem::path(file).filename().string());
}

std::vector<PriorNumber> TextModelRecord::prior(const DataRecord&) const {
    return numbers;
}

std::vector<VariableMeaning> TextModelRecord::meanings(const FitFile& fit) const {
    const Layout layout = fit.parameter_layout();
    return ModelVariables(layout, derived, hidden, monitor).meanings();
}

SparseMatrix TextModelRecord::statistics(const FitFile& fit) const {
    const Layout layout = fit.parameter_layout();
    return ModelVariables(layout, derived, hidden, monitor).weights();
}

void TextModelRecord::require_agreement(const FitFile& fit, const Fields& own_file) const {
    const Layout layout = fit.parameter_layout();
    const auto count = static_cast<Index>(DeclaredVariables(layout).stacked().size());
    for (const DerivedNode& node : derived) {
        const NodeFunction function(node.function);
        if (function.statistics().empty() || function.statistics().back() < count) continue;
        own_file.refuse("model", fmt::format("has a function of statistic {}, but there are {}",
                                             function.statistics().back(), count));
    }
}

void TextModelRecord::predict(const FitFile&, const Dataset&, const PredictOptions&, TableSink&) const {
    throw std::runtime_error(
        "a model in BUGS predicts what its text says: give the rows to predict in the data with NA in the place of the "
        "node, and fit");
}

std::unique_ptr<FittedModel> TextModelRecord::with_data(FitFile fit, const Dataset& data, int threads) const {
    return restored_text_model(std::move(fit), data, threads);
}

}  // namespace lrvb::detail
