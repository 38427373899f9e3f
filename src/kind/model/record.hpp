#pragma once

#include "kind/model/compiler.hpp"
#include "kind/model/variables.hpp"

#include <lrvb/kind/kind.hpp>

#include <memory>
#include <string>
#include <vector>

namespace lrvb::detail {

/// What a fit file keeps of a model in BUGS: its text, and what is reported of it.
class TextModelRecord final : public ModelRecord {
  public:
    std::string file;  // of the model
    std::string text;
    bool factorised = false;
    std::vector<std::string> monitor;
    std::vector<std::string> hidden;
    std::vector<PriorNumber> numbers;
    std::vector<DerivedNode> derived;
    Index nodes = 0;  // unobserved ones

    static std::shared_ptr<const TextModelRecord> read(const Fields& fields);

    std::string_view kind() const override { return "model"; }
    Document document() const override;
    std::vector<std::string> files() const override { return {file}; }
    std::string headline() const override;
    std::string title(const DataRecord& data) const override;
    std::string description() const override;
    std::string prior_name() const override { return "explicit"; }
    std::vector<PriorNumber> prior(const DataRecord& data) const override;
    std::vector<VariableMeaning> meanings(const FitFile& fit) const override;
    SparseMatrix statistics(const FitFile& fit) const override;
    void require_agreement(const FitFile& fit, const Fields& file) const override;
    void predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                 TableSink& sink) const override;

    CompileOptions options(int threads) const { return {factorised, monitor, {}, threads}; }

  protected:
    std::unique_ptr<FittedModel> with_data(FitFile fit, const Dataset& data, int threads) const override;
};

}  // namespace lrvb::detail
