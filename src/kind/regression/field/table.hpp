#pragma once

#include "kind/regression/columns.hpp"
#include "kind/regression/field/record.hpp"
#include "kind/regression/table.hpp"
#include "model/field/share.hpp"

#include <lrvb/data/row_team.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The rows of a regression by formula, which are here or with others (<lrvb/data/row_team.hpp>). Whatever a fit must
/// know of them is asked, here too, and sums over them are taken in the one order of BlockTree: so that it is the same
/// to the last bit, whoever has the rows.
namespace lrvb::detail {

/// What those who have rows of a regression answer.
std::vector<RowQuestion> field_questions();

/// Some of the rows, from the table to the model's data.
class TableShare {
  public:
    TableShare(DataFrame frame, RowBlocks blocks) : frame_(std::move(frame)), blocks_(std::move(blocks)) {}

    std::string answer(std::string_view asked);
    static std::string merge(const std::string& left, const std::string& right);

    void make_design(const FormulaCoding& coding);

    DataFrame& frame() { return frame_; }
    const FormulaDesign& design() const { return design_; }
    const std::shared_ptr<const FieldData>& data() const { return data_; }
    const RowBlocks& blocks() const { return blocks_; }

  private:
    std::string leave_out_weightless(bool keeps_levels);
    void take_shares();
    std::string make_data(std::string_view asked);
    std::string checksum() const;
    std::string response_sums(double about, bool squared) const;

    DataFrame frame_;
    RowBlocks blocks_;
    Vector weights_;
    WeightMeaning meaning_ = WeightMeaning::count;
    FormulaDesign design_;
    std::shared_ptr<const FieldData> data_;
    std::optional<FieldShare> field_;
};

/// The ends of the response, of each column, of each random effect and of the offset, in this order.
struct DesignEnds {
    Vector low;
    Vector high;
    std::vector<double> responses;  // different ones, ascending, 21 at most

    double size(Index place) const { return std::max(std::abs(low[place]), std::abs(high[place])); }
};

/// Whether values of each factor's effects differ within any group.
using EffectsVary = std::vector<std::vector<char>>;

class FieldTable {
  public:
    /// Normal rows may be with others; all others are looked at again at every step, and are read here.
    FieldTable(const Dataset& data, const FrameOptions& options, const Likelihood& likelihood);

    bool is_here() const { return team_ == nullptr; }
    /// The columns, and how many rows there are. Where these are with others, a column has its different values alone,
    /// in the order in which they come.
    const DataFrame& frame() const { return is_here() ? here_->frame() : outline_; }
    /// Where the rows are here.
    TableShare& here() { return *here_; }
    /// Of the columns of `frame`; of numbers that group, which `every` names, all values.
    const TableFacts& facts() const { return facts_; }
    void find_facts(const std::vector<std::string>& every);

    /// The weights, which are then no column of the table. Throws std::runtime_error for what is no weight. Numbers of
    /// trials make counts of the response's shares.
    void take_weights(Index place, WeightMeaning meaning);
    /// Whether any row has one.
    bool has_weight() const { return largest_weight_ > 0.0; }
    /// Rows of weight zero are as if they were not there. How many there were.
    Index leave_out_weightless();
    /// DataFrame::file_rows of all rows that are left.
    std::vector<Index> file_rows() const;

    AskRows ask_formula() const;
    /// Makes the columns of the formula.
    DesignEnds make_design(const FormulaCoding& coding);
    AskRows ask_columns() const;
    /// Makes the data of the model, of these columns.
    EffectsVary make_data(const FormulaCoding& coding, const std::vector<Index>& kept,
                          const std::shared_ptr<const Likelihood>& likelihood);
    /// Without rows where these are with others.
    const std::shared_ptr<const FieldData>& data() const { return data_; }
    std::shared_ptr<const FieldRows> rows() const;
    FieldMoments moments() const;
    std::string checksum() const;
    /// Of the response.
    double mean() const;
    double sd() const;

  private:
    std::string ask(char question, const std::string& asked) const;

    std::shared_ptr<RowTeam> team_;
    std::unique_ptr<TableShare> here_;
    DataFrame outline_;
    TableFacts facts_;
    double largest_weight_ = 1.0;
    WeightMeaning meaning_ = WeightMeaning::count;
    Index left_out_ = 0;  // rows without weight
    std::shared_ptr<const FieldData> data_;
};

}  // namespace lrvb::detail
