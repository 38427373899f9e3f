#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/query/influence.hpp>

#include <fmt/format.h>

namespace lrvb::cli {

namespace {

class InfluenceCommand {
  public:
    explicit InfluenceCommand(const Settings& settings)
        : settings_(settings),
          output_(checked_output(settings)),
          fitted_(restored(settings)),
          influence_(*fitted_, settings.list("variables")),
          top_(settings.whole("top", 20)) {
        if (influence_.variables().empty()) {
            throw std::runtime_error(fmt::format("{}: all of these variables were held fixed", settings.text("FIT")));
        }
    }

    int run() {
        std::optional<LineFile> file;
        if (!output_.empty()) {
            file.emplace(output_);
            file->add(csv_line(header()));
        }
        influence_.each([&](const RowInfluence::Case& one) {
            if (file) file->add(csv_line(fields(one, exact)));
            top_.add(one);
        });
        if (file) file->commit();
        if (output_ != "-") show();
        return kSuccess;
    }

  private:
    static std::string checked_output(const Settings& settings) {
        std::string output = settings.text("output");
        require_other_file(output, {settings.text("FIT"), settings.text("DATA")});
        return output;
    }

    std::vector<std::string> header() const {
        std::vector<std::string> result{"row"};
        for (const std::string& input : fitted_->inputs()) result.push_back(input);
        for (const std::string& column : fitted_->shown_columns()) result.push_back(column);
        result.emplace_back("distance");
        for (const Index at : influence_.variables()) {
            result.push_back(fitted_->posterior().variables[static_cast<std::size_t>(at)].name);
        }
        return result;
    }

    template <class Shown>
    std::vector<std::string> fields(const RowInfluence::Case& one, Shown shown) const {
        std::vector<std::string> result{fmt::format("{}", fitted_->file_row(one.row))};
        for (const double value : one.inputs) result.push_back(exact(value));
        const Vector still = fitted_->shown_values({one.row}).row(0);
        for (const double value : still) result.push_back(exact(value));
        result.push_back(shown(one.distance));
        for (const double value : one.shifts) result.push_back(shown(value));
        return result;
    }

    void show() const {
        const bool refit = settings_.flag("refit");
        const auto shown = [](double value) { return decimals(value + 0.0, 3); };
        std::vector<std::vector<std::string>> table{header()};
        if (refit) table.front().insert(table.front().begin() + 1, "");
        for (const RowInfluence::Case& one : top_.kept()) {
            table.push_back(fields(one, shown));
            if (!refit) continue;
            table.back().insert(table.back().begin() + 1, "predicted");
            std::vector<std::string> refitted = refitted_fields(one, shown);
            refitted.insert(refitted.begin() + 1, "refitted");
            table.push_back(std::move(refitted));
        }
        say(fmt::format(
            "What dropping a row would do to each mean, in posterior sds: the {} most influential of {} rows\n\n{}",
            top_.kept().size(), fitted_->file().data.rows, aligned(table)));
    }

    // Without some rows there is no model: a level that only this row has. Then there is nothing to compare with.
    template <class Shown>
    std::vector<std::string> refitted_fields(const RowInfluence::Case& one, Shown shown) const {
        try {
            return fields(influence_.refitted(one), shown);
        } catch (const std::runtime_error&) {
            return fields(one, [](double) { return std::string("impossible"); });
        }
    }

    const Settings& settings_;
    std::string output_;
    std::unique_ptr<FittedModel> fitted_;
    RowInfluence influence_;
    MostInfluential top_;
};

}  // namespace

Command influence_command() {
    return {
        "influence",
        "Which rows are influential: what dropping each would do to the means",
        {fit_argument(), fitted_data(),
         OptionInfo{"--variables",
                    "Variables, separated by commas; mu stands for every mu[…] (default: one for each parameter)"},
         OptionInfo::whole("--top", 1, 1e9, "Rows to show (default 20)"),
         OptionInfo::flag("--refit", "Confirm these rows by fits without them"),
         output_option("Write all rows to this file (CSV); - for standard output"), threads_option(), memory_option()},
        [](const Settings& settings) { return InfluenceCommand(settings).run(); }};
}

}  // namespace lrvb::cli
