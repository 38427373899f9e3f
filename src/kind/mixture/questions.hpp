#pragma once

#include "kind/mixture/pass.hpp"
#include "kind/mixture/pass_sums.hpp"

#include <lrvb/data/row_team.hpp>
#include <lrvb/model/row_model.hpp>

#include <string>
#include <vector>

/// What a mixture asks those who have its rows (<lrvb/data/row_team.hpp>).
namespace lrvb::detail {

std::vector<RowQuestion> mixture_questions();

/// The bytes that ask for a pass, and what answers them.
std::string sums_question(const RowFormat& format, const MixtureScores& scores, const Matrix& pair_origins,
                          const PassOptions& options);
MixtureSums share_sums(RowShare& share, const RowFormat& format, const MixtureScores& scores,
                       const Matrix& pair_origins, const PassOptions& options);

/// The same of `log_sums`.
std::string log_sums_question(const RowFormat& format, const std::vector<MixtureScores>& scores, int threads);
BlockTree<PassBlock> block_log_sums(RowSource& source, Index first_row, Index rows, const RowFormat& format,
                                    const std::vector<MixtureScores>& scores, int threads);

/// What a tally keeps of rows that others have, with what `ask_mixture_rows` says of them.
std::string ask_tally(RowTeam& team, const RowFormat& format, const MixtureScores& scores,
                      const std::vector<Matrix>& polynomials, RowChange change, int threads, const RowTally& tally,
                      const std::string& asked);

}  // namespace lrvb::detail
