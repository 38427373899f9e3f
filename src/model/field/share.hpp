#pragma once

#include "base/block_sums.hpp"
#include "model/field/row_answers.hpp"
#include "model/field/structure.hpp"

#include <memory>
#include <string>
#include <string_view>

/// What a field asks of its rows, here or with others (FieldRows): their sizes, which levels meet, and, once the
/// structure is known, AᵀWA and the residuals. All sums are taken in the one order of BlockTree. Then what each row
/// does (AskedRows), and, for what needs all of them in one process, the rows themselves.
namespace lrvb::detail {

/// Some of the rows, and what answers for them.
class FieldShare {
  public:
    FieldShare(std::shared_ptr<const FieldData> data, RowBlocks blocks);

    std::string answer(std::string_view asked);
    /// Of answers for rows and those that follow them.
    static std::string merge(const std::string& left, const std::string& right);

    const RowBlocks& blocks() const { return blocks_; }
    /// What is folded into; who answers a team is told it by a question.
    void set_structure(std::shared_ptr<const FieldStructure> structure) { structure_ = std::move(structure); }

  private:
    Vector weights() const;
    bool has_block(Index block) const { return block >= blocks_.first && block < blocks_.first + blocks_.count(); }
    void take_asked(ByteReader& reader);

    std::shared_ptr<const FieldData> data_;
    RowBlocks blocks_;
    std::shared_ptr<const FieldStructure> structure_;
    std::shared_ptr<const PrecisionPlan> plan_;        // of it, once a row is asked
    std::unique_ptr<const NormalRowAnswers> answers_;  // to what was asked last
    Index first_row_ = 0;                              // what the first row is called then
};

/// All rows, in memory.
class RowsHere final : public FieldRows {
  public:
    explicit RowsHere(const std::shared_ptr<const FieldData>& data) : RowsHere(data, RowBlocks(data->y.size())) {}
    RowsHere(const std::shared_ptr<const FieldData>& data, RowBlocks blocks)
        : data_(data), share_(data, std::move(blocks)) {}

    std::shared_ptr<const FieldData> outline() const override { return data_; }
    std::string ask(const std::string& asked) const override { return share_.answer(asked); }
    const RowBlocks& blocks() const { return share_.blocks(); }
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

/// Rows with others, and what each of them does: one super-block after the other comes here, or what a tally keeps of
/// all. They have the structure.
class AskedRows {
  public:
    AskedRows(const FieldRows& rows, const RowsAsked& asked);

    void visit(const RowVisitor& visit) const;
    std::string tally(const RowTally& tally, const std::string& wanted) const;

  private:
    const FieldRows& rows_;
    Index blocks_;
};

/// All rows, brought here one super-block after the other.
FieldData bring_rows(const FieldRows& rows);

}  // namespace lrvb::detail
