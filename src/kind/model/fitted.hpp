#pragma once

#include "kind/model/compiler.hpp"
#include "kind/model/record.hpp"

#include <lrvb/bugs/graph.hpp>
#include <lrvb/kind/fitted_model.hpp>

#include <memory>
#include <string>

namespace lrvb::detail {

/// A model in BUGS with its data.
struct TextModel {
    std::shared_ptr<const bugs::Graph> graph;
    DataRecord data;

    /// Reads the data, and puts them together with the text. Throws bugs::ModelError, and std::runtime_error for data
    /// that cannot be read.
    TextModel(bugs::Syntax syntax, const Dataset& dataset);
};

/// The text of a model; messages call it by its file, or "model" where it has none. Throws bugs::ModelError.
bugs::Syntax text_model(const std::string& text, const std::string& file);

std::unique_ptr<FittedModel> fitted_text_model(FitFile file, TextModel model, CompiledModel compiled, Optimum optimum,
                                               int threads);
std::unique_ptr<FittedModel> restored_text_model(FitFile file, const Dataset& data, int threads);

}  // namespace lrvb::detail
