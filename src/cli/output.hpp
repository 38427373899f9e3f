#pragma once

#include "base/files.hpp"
#include "cli/options.hpp"

#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/query/robust.hpp>

#include <optional>
#include <string>
#include <vector>

/// How results are shown.
namespace lrvb::cli {

/// The one way to standard output for what people read, and for JSON and CSV: nothing that a file or a command line had
/// a part in reaches a terminal but by here, so that no name can move its cursor. Lines end where they do in the text.
void say(const std::string& text);

/// The one way to standard error: "lrvb: ", and the sentence on one line.
void complain(const std::string& sentence);
/// The same, with lines below that show a place.
void complain(const std::string& sentence, const std::string& picture);

/// Right-aligned columns under their titles; the first column is left-aligned.
std::string aligned(std::vector<std::vector<std::string>> rows);

/// One line of a CSV file, fields quoted where they must be. What a terminal would obey is written out, and a field
/// that a spreadsheet would run (=, +, - or @ first, and no number) gets an apostrophe before it, within quotes.
std::string csv_line(const std::vector<std::string>& fields);

/// A field of the data as it is, whatever it holds, in quotes where it must be, or was before.
std::string carried_field(const TextField& field);

/// The same for a terminal: with what it would obey written out.
std::string shown_field(const TextField& field);

/// The double, as short as it can be to be read back as the same; NA for what is not a number.
std::string exact(double value);

/// For people: as many digits as three of the sd (or, without one, of the value) are worth, in the shorter of both
/// notations, and no more than a double has.
std::string rounded(double value, double sd);
/// So many decimals; of numbers beyond 1e15 as many digits instead.
std::string decimals(double value, int count);

/// A file of lines that appears when it is whole: writes in pieces, so that memory does not grow.
class LineFile {
  public:
    explicit LineFile(const std::string& path) : file_(path) {}

    void add(const std::string& text);
    void commit();

    bool is_terminal() const { return file_.is_terminal(); }

  private:
    detail::AtomicFile file_;
    std::string text_;
};

/// FIT with DATA, restored; its refusals name the fit's file.
std::unique_ptr<FittedModel> restored(const Settings& settings);
/// The same, of a FIT that was read already.
std::unique_ptr<FittedModel> restored(FitFile fit, const Settings& settings);

/// What is said above every summary: rows, components, passes, bound, converged or not.
std::string headline(const FitFile& fit);

/// Stands in tables in place of a mean or an sd that draws cannot tell.
inline constexpr const char* kHeavyTail = "heavy tail";

struct SummaryOptions {
    Format format = Format::table;
    std::vector<std::string> variables;
    /// A table of all variables, however many; otherwise, where none are named, of the foremost 40.
    bool all = false;
    double level = 0.9;
    /// Of the same variables, where they were asked for.
    std::optional<std::vector<RobustSd>> robust = {};
};

std::string summary_text(const FitFile& fit, const SummaryOptions& options);

/// Variables of a table for people that names none.
constexpr std::size_t kMostVariables = 40;

/// Below such a table: how many of the selected variables it shows and what it leaves out, with what shows the rest;
/// empty where that is nothing. `command` is what the table can be asked of again.
std::string rest_text(const Posterior& posterior, std::size_t shown, std::size_t selected, const std::string& command);

}  // namespace lrvb::cli
