#pragma once

#include <lrvb/base/communicator.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/row_team.hpp>
#include <lrvb/export.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A team of processes that read files together. Rank 0 asks, for whatever program runs there; all others serve:
///
///     const auto crew = std::make_shared<RowCrew>(communicator, questions, version);
///     if (communicator.rank() > 0) return crew->serve();
///     DataOptions options;
///     options.crew = crew;                       // Dataset("part-*.npy", options): each rank reads its share
///     …
///     crew->end(code);                           // what serve() returns everywhere else
///
/// Files are shared out by their bytes, in the order of rows: NumPy files by rows, CSV files by lines, as long as no
/// quoted text goes over a line's end, and packed files each as a whole. All ranks see the files by the same paths.
/// Then neighbours hand rows over so that each share begins at a multiple of kShareRows: where rows are fewer than
/// that, rank 0 has them all.
///
/// What goes wrong at any rank is an answer too, and the first of these, in the order of rows, is thrown at rank 0.
namespace lrvb {

class LRVB_EXPORT RowCrew final : public RowTeam, public std::enable_shared_from_this<RowCrew> {
  public:
    /// `communicator` lives as long. All ranks must have the same questions.
    RowCrew(Communicator& communicator, std::vector<RowQuestion> questions, std::string version);
    ~RowCrew() override;
    RowCrew(const RowCrew&) = delete;
    RowCrew& operator=(const RowCrew&) = delete;

    /// At rank 0. Refuses, by std::runtime_error, ranks of another version.
    void require_same_version();
    std::string ask(const std::string& question, const std::string& asked) override;
    /// Dataset::rows of these files.
    DataRows open(const std::string& path, const RowSelection& selection, const DataOptions& options);
    /// Dataset::frame_rows of these files.
    FrameRows open_frame(const std::string& path, const FrameOptions& options);
    /// Ends all others with this exit code.
    void end(int code);

    /// At all other ranks: answers until it is told to end; the exit code.
    int serve();
    /// One step of it, in two halves, for ranks that are simulated: what is asked is heard from lower ranks, and
    /// answered to lower ones. False: it was told to end.
    bool hear();
    void answer();
    /// Called at rank 0 between what is asked and what it answers itself.
    void set_others(std::function<void()> others);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lrvb
