#include "base/messages.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/query/influence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
        if (settings_.has("by")) return run_by(settings_.text("by"));
        if (output_.empty()) {  // then no others need to come here
            for (const RowInfluence::Case& one : influence_.most_influential(settings_.whole("top", 20))) top_.add(one);
            show();
            return kSuccess;
        }
        LineFile file(output_);
        file.add(csv_line(header()));
        influence_.each([&](const RowInfluence::Case& one) {
            file.add(csv_line(fields(one, exact)));
            top_.add(one);
        });
        file.commit();
        if (output_ != "-") show();
        return kSuccess;
    }

  private:
    static std::string checked_output(const Settings& settings) {
        std::string output = settings.text("output");
        prepare_output(output);
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
        std::vector<std::string> result{fitted_->row_label(one.row)};
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

    // What dropping all rows with the same value of a column would do.
    int run_by(const std::string& column) {
        const std::vector<RowInfluence::Group> groups = rows_by(*fitted_, data_of(settings_), column);
        const std::vector<RowInfluence::GroupCase> cases = influence_.of_groups(groups);
        std::vector<std::string> names{column, "rows", "distance"};
        for (const Index at : influence_.variables()) {
            names.push_back(fitted_->posterior().variables[static_cast<std::size_t>(at)].name);
        }
        if (!output_.empty()) {
            LineFile file(output_);
            file.add(csv_line(names));
            for (const RowInfluence::GroupCase& one : cases) file.add(csv_line(group_fields(one, exact)));
            file.commit();
        }
        if (output_ != "-") show_groups(groups, cases, std::move(names));
        return kSuccess;
    }

    template <class Shown>
    static std::vector<std::string> group_fields(const RowInfluence::GroupCase& one, Shown shown) {
        std::vector<std::string> result{one.name, fmt::format("{}", one.rows), shown(one.distance)};
        for (const double value : one.shifts) result.push_back(shown(value));
        return result;
    }

    void show_groups(const std::vector<RowInfluence::Group>& groups, const std::vector<RowInfluence::GroupCase>& cases,
                     std::vector<std::string> names) const {
        const bool refit = settings_.flag("refit");
        const auto shown = [](double value) { return decimals(value + 0.0, 3); };
        std::vector<std::size_t> order(cases.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return cases[a].distance > cases[b].distance; });
        order.resize(std::min(order.size(), static_cast<std::size_t>(settings_.whole("top", 20))));
        if (refit) names.insert(names.begin() + 2, "");
        const std::string column = names.front();
        std::vector<std::vector<std::string>> table{std::move(names)};
        const auto add = [&](const RowInfluence::GroupCase& one, const std::string& what) {
            table.push_back(group_fields(one, shown));
            if (refit) table.back().insert(table.back().begin() + 2, what);
        };
        for (const std::size_t at : order) {
            add(cases[at], "predicted");
            if (!refit) continue;
            try {
                add(influence_.refitted(groups[at]), "refitted");
            } catch (const std::runtime_error&) {  // without these rows there is no model
                table.push_back(group_fields(cases[at], [](double) { return std::string("impossible"); }));
                table.back().insert(table.back().begin() + 2, "refitted");
            }
        }
        say(fmt::format(
            "What dropping all rows of a {} would do to each mean, in posterior sds: the {} most influential "
            "of {}\n\n{}",
            detail::printable(column), order.size(), cases.size(), aligned(table)));
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
         OptionInfo{"--by", "Drop all rows with the same value in this column together, such as a subject's"},
         OptionInfo::flag("--refit", "Confirm these rows by fits without them"),
         output_option("Write all rows to this file (CSV); - for standard output"), threads_option(), memory_option()},
        [](const Settings& settings) { return InfluenceCommand(settings).run(); }};
}

}  // namespace lrvb::cli
