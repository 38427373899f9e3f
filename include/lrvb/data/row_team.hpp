#pragma once

#include <lrvb/data/row_source.hpp>
#include <lrvb/export.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Rows that are with others: on other machines, or in other processes. Each of them has a share of neighbouring rows,
/// and is asked questions that have a value for any such share; values of neighbours can be merged, so that what comes
/// back does not grow with the rows, nor with those who have them.
///
/// Shares begin at multiples of kShareRows, so that every sum over rows can be taken in one order, whoever has them.
namespace lrvb {

inline constexpr Index kShareRows = Index{1} << 16;

/// Some of the rows, where they are.
class LRVB_EXPORT RowShare {
  public:
    /// Rows first … first + rows − 1 of all, which are all that the source gives. `file_rows` are those of DataRows.
    RowShare(std::shared_ptr<RowSource> source, Index first, Index rows, std::vector<Index> file_rows = {});

    Index first() const { return first_; }
    Index rows() const { return rows_; }
    /// The row, from 1, that a row of all has where it comes from.
    Index file_row(Index row) const {
        return file_rows_.empty() ? row + 1 : file_rows_[static_cast<std::size_t>(row - first_)];
    }
    const std::vector<Index>& file_rows() const { return file_rows_; }
    /// For a round from the first to the last.
    RowSource& source();
    const std::shared_ptr<RowSource>& shared_source() const { return source_; }
    /// Rows of all, by their number, of this share. Cheap where rows are resident, or follow those of the last call.
    void copy(Index first, Index count, double* to);
    /// What whoever answers keeps of these rows from one question to the next.
    std::shared_ptr<void>& kept() { return kept_; }

  private:
    std::shared_ptr<RowSource> source_;
    Index first_;
    Index rows_;
    std::vector<Index> file_rows_;
    std::shared_ptr<void> kept_;
    Index next_ = -1;  // that the source would give, if it is known
};

/// What can be asked of a share: bytes in, bytes out.
struct RowQuestion {
    std::string name;
    std::function<std::string(RowShare& share, std::string_view asked)> answer;
    /// Of answers for rows and those that follow them; associative.
    std::function<std::string(std::string left, std::string right)> merge;
};

/// "rows", and what a first reading of all of them tells: what Dataset and TeamRows ask.
LRVB_EXPORT std::vector<RowQuestion> data_questions();

class LRVB_EXPORT RowTeam {
  public:
    virtual ~RowTeam() = default;
    /// The answers of all, merged. Throws what the first of them threw, in the order of the rows, as
    /// std::runtime_error (MissingValue where it was one).
    virtual std::string ask(const std::string& question, const std::string& asked) = 0;
};

/// The rows of a team, as a source: rows that are read here come from where they are, some thousands at a time.
class LRVB_EXPORT TeamRows final : public RowSource {
  public:
    TeamRows(std::shared_ptr<RowTeam> team, std::string name, std::vector<std::string> columns, Index rows);

    Index columns() const override { return static_cast<Index>(names_.size()); }
    std::string name() const override { return name_; }
    std::string column_name(Index column) const override { return names_.at(static_cast<std::size_t>(column)); }
    void rewind() override;
    Index read(double* rows, Index capacity) override;
    RowTeam* team() const override { return team_.get(); }

    Index rows() const { return rows_; }
    const std::vector<std::string>& column_names() const { return names_; }

  private:
    std::shared_ptr<RowTeam> team_;
    std::string name_;
    std::vector<std::string> names_;
    Index rows_;
    Index next_ = 0;
    std::vector<double> buffer_;  // rows from buffer_first_ on
    Index buffer_first_ = 0;
};

}  // namespace lrvb
