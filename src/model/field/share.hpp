#pragma once

#include "base/block_sums.hpp"
#include "model/field/structure.hpp"

#include <memory>
#include <string>
#include <string_view>

/// What a field asks of its rows, here or with others (FieldRows): their sizes, which levels meet, and, once the
/// structure is known, AᵀWA and the residuals. All sums are taken in the one order of BlockTree.
namespace lrvb::detail {

/// Some of the rows, and what answers for them.
class FieldShare {
  public:
    FieldShare(std::shared_ptr<const FieldData> data, RowBlocks blocks);

    std::string answer(std::string_view asked);
    /// Of answers for rows and those that follow them.
    static std::string merge(const std::string& left, const std::string& right);

    /// What is folded into; who answers a team is told it by a question.
    void set_structure(std::shared_ptr<const FieldStructure> structure) { structure_ = std::move(structure); }

  private:
    Vector weights() const;

    std::shared_ptr<const FieldData> data_;
    RowBlocks blocks_;
    std::shared_ptr<const FieldStructure> structure_;
};

/// All rows, in memory.
class RowsHere final : public FieldRows {
  public:
    explicit RowsHere(const std::shared_ptr<const FieldData>& data) : RowsHere(data, RowBlocks(data->y.size())) {}
    RowsHere(const std::shared_ptr<const FieldData>& data, RowBlocks blocks)
        : data_(data), share_(data, std::move(blocks)) {}

    std::shared_ptr<const FieldData> outline() const override { return data_; }
    std::string ask(const std::string& asked) const override { return share_.answer(asked); }
    void set_structure(std::shared_ptr<const FieldStructure> structure) const {
        share_.set_structure(std::move(structure));
    }

  private:
    std::shared_ptr<const FieldData> data_;
    mutable FieldShare share_;
};

FieldScales scales_of(const FieldRows& rows);
FieldScales scales_of(const FieldData& data);

/// Of rows that are with others: the structure, which they are told.
std::shared_ptr<const FieldStructure> ask_structure(const FieldRows& rows,
                                                    const std::shared_ptr<const FieldDesign>& design);

FieldBlocks ask_fold(const FieldRows& rows, const FieldStructure& structure);

/// With r = y − A origin: rᵀWr and AᵀWr.
struct FieldResiduals {
    double squared = 0.0;
    Vector forces;
};
FieldResiduals ask_residuals(const FieldRows& rows, const Vector& origin);

}  // namespace lrvb::detail
