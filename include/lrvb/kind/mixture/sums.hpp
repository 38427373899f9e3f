#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace lrvb {

/// What a pass over some rows of a mixture gives, as a value: sums over these rows that value, gradient and Hessian of
/// the bound are made of, a few kilobytes whatever the number of rows. Sums of rows that follow each other add up to
/// the sums of all of them, to the last bit the same in whatever order that is done, and by whomever: rows fall into
/// blocks of kShareRows by their number, and the sums of blocks are added along a binary tree over them. So an engine
/// that has the rows in chunks (each beginning at a multiple of kShareRows) can take the sums of each where it is,
///
///     MixtureSums sums = mixture_sums(share, question);    // where the rows are
///     sums = left + right;                                 // anywhere
///
/// and whoever asked needs no more than their total.
class LRVB_EXPORT MixtureSums {
  public:
    /// Of no rows.
    MixtureSums();
    ~MixtureSums();
    MixtureSums(const MixtureSums& other);
    MixtureSums(MixtureSums&& other) noexcept;
    MixtureSums& operator=(const MixtureSums& other);
    MixtureSums& operator=(MixtureSums&& other) noexcept;

    /// Adds those of the rows that follow. Throws std::invalid_argument for rows that do not.
    MixtureSums& operator+=(const MixtureSums& next);
    friend MixtureSums operator+(MixtureSums left, const MixtureSums& right) { return left += right; }

    bool empty() const;
    /// The blocks of kShareRows rows that these are of: from the first to one past the last.
    Index first_block() const;
    Index end_block() const;
    /// Σ w log Σ_k exp ρ_k over the rows: their part of the bound.
    double log_sum() const;

    /// For messages between processes of one version of the library.
    std::string bytes() const;
    /// Throws std::runtime_error for what are no such bytes.
    static MixtureSums from_bytes(std::string_view bytes);

    class Implementation;
    explicit MixtureSums(std::unique_ptr<Implementation> implementation);
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::unique_ptr<Implementation> implementation_;
};

class RowShare;

/// The sums of a share's rows, for a question that a mixture asks its team (RowTeam::ask, "mixture.sums").
LRVB_EXPORT MixtureSums mixture_sums(RowShare& share, std::string_view question);

}  // namespace lrvb
