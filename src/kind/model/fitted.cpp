#include "kind/model/fitted.hpp"

#include <lrvb/kind/picture.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::detail {

namespace {

bugs::Data data_of(const Dataset& dataset) {
    bugs::Data data = bugs::Data::read(dataset.paths(), dataset.na());
    if (const std::vector<DataArray>* arrays = dataset.arrays()) {
        for (const DataArray& array : *arrays) data.add(array);
    } else if (const DataFrame* table = dataset.table()) {
        data.add_frame(*table);
    }
    return data;
}

class FittedTextModel final : public FittedModel {
  public:
    FittedTextModel(FitFile fit_file, TextModel text, CompiledModel compiled_model, Optimum optimum, int threads)
        : FittedModel(std::move(fit_file), {}, threads),
          record_(std::static_pointer_cast<const TextModelRecord>(file().model)),
          text_(std::move(text)),
          compiled_(std::move(compiled_model)) {
        set_optimum(std::move(optimum));
        set_posterior(posterior_at(compiled_.model(), this->optimum()));
        set_other_optima([this](const Optimum& other) { return posterior_at(compiled_.model(), other); });
    }
    FittedTextModel(FitFile fit_file, TextModel text, int threads)
        : FittedModel(std::move(fit_file), {}, threads),
          record_(std::static_pointer_cast<const TextModelRecord>(file().model)),
          text_(std::move(text)),
          compiled_(compiled(*text_.graph, record_->options(threads))) {
        require_fitted_data(file(), text_.data.name, text_.data.checksum, compiled_.row_count());
        restore_optimum();
        if (file().correction) set_uncorrected(posterior_at(compiled_.model(), optimum()));
    }

    const Model& model() const override { return compiled_.model(); }
    Functionals statistics() const override {
        return ModelVariables(model().layout(), record_->derived, record_->hidden, record_->monitor).stacked();
    }

    Posterior refit(const RefitChange& change) const override {
        CompiledModel changed = compiled_;
        if (change.prior) {
            CompileOptions options = record_->options(threads());
            options.numbers.insert(*change.prior);
            changed = compiled(*text_.graph, options);
        }
        if (change.without_rows.empty()) return posterior_at(changed.model(), refitted(changed.model()));
        const std::shared_ptr<const RowModel> less = changed.without_rows(change.without_rows);
        return posterior_at(*less, refitted(*less));
    }

    bool has_rows() const override { return !compiled_.rows.empty(); }
    std::string row_name(Index row) const override {
        const ObservedNode& node = compiled_.rows[static_cast<std::size_t>(row)];
        return text_.graph->arrays()[node.array].element_name(node.element);
    }
    double work_of_a_draw() const override { return compiled_.work_of_a_draw(); }

    /// A label whose sd is more than an indicator's can be: what it moves is not moved as far as first derivatives say.
    std::vector<std::string> warnings() const override {
        constexpr double kMost = 0.55;  // half of one, and a little
        const std::vector<PosteriorVariable>& variables = posterior().variables;
        std::vector<Index> labels;
        for (std::size_t v = 0; v < variables.size(); ++v) {
            const VariableMeaning& meaning = variables[v].meaning;
            if (meaning.role == Role::weight && !meaning.is_parameter && !meaning.is_shown)
                labels.push_back(static_cast<Index>(v));
        }
        if (labels.empty() || !posterior().has_response()) return {};
        const Vector sds = posterior().sds(labels);
        Index worst = 0;
        if (!(sds.maxCoeff(&worst) > kMost)) return {};
        return {fmt::format(
            "the sd of {} is {:.2f}, more than what is 0 or 1 can have: linear response does not hold where labels are "
            "so uncertain; compare with the exact posterior by 'lrvb check'",
            variables[static_cast<std::size_t>(labels[static_cast<std::size_t>(worst)])].name, sds[worst])};
    }

  private:
    Posterior posterior_at(const Model& model, const Optimum& optimum) const {
        const ModelVariables variables(model.layout(), record_->derived, record_->hidden, record_->monitor);
        return variables.posterior(compiled_, model, optimum);
    }

    std::shared_ptr<const TextModelRecord> record_;
    TextModel text_;
    CompiledModel compiled_;
};

}  // namespace

bugs::Syntax text_model(const std::string& text, const std::string& file) {
    return bugs::parse_model(text, file.empty() ? "model" : file);
}

TextModel::TextModel(bugs::Syntax syntax, const Dataset& dataset) {
    graph = std::make_shared<const bugs::Graph>(std::move(syntax), data_of(dataset));
    data.name = dataset.name();
    if (dataset.paths().size() > 1) data.files = dataset.paths();
    std::vector<const bugs::DataArray*> used;
    for (const bugs::DataArray& array : graph->data().arrays()) {
        if (graph->find(array.name) != nullptr) used.push_back(&array);
    }
    std::ranges::sort(used, {}, [](const bugs::DataArray* array) { return array->name; });
    Checksum checksum;
    for (const bugs::DataArray* array : used) {
        data.columns.push_back(array->name);
        Vector header(static_cast<Index>(array->dims.size() + 1));
        header[0] = static_cast<double>(array->dims.size());
        for (std::size_t d = 0; d < array->dims.size(); ++d) {
            header[static_cast<Index>(d) + 1] = static_cast<double>(array->dims[d]);
        }
        checksum.add(header);
        checksum.add(array->values.data(), array->size());
    }
    data.checksum = checksum.text();
}

std::unique_ptr<FittedModel> fitted_text_model(FitFile file, TextModel model, CompiledModel compiled_model,
                                               Optimum optimum, int threads) {
    return std::make_unique<FittedTextModel>(std::move(file), std::move(model), std::move(compiled_model),
                                             std::move(optimum), threads);
}

std::unique_ptr<FittedModel> restored_text_model(FitFile file, const Dataset& data, int threads) {
    const auto record = std::static_pointer_cast<const TextModelRecord>(file.model);
    return std::make_unique<FittedTextModel>(std::move(file), TextModel(text_model(record->text, record->file), data),
                                             threads);
}

}  // namespace lrvb::detail
