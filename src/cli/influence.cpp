#include "base/files.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/fit_command.hpp"
#include "cli/output.hpp"
#include "cli/restored.hpp"
#include "cli/row_influence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    std::string fit;
    std::string data;
    std::string variables;
    Index top = 20;
    bool refit = false;
    int threads = 0;
    std::string output;
};

// A row, what it holds, and what dropping it does: shifts in posterior sds, and their distance.
struct Case {
    Index row = 0;
    Vector inputs;
    double distance = 0.0;
    Vector shifts;
};

class InfluenceCommand {
  public:
    explicit InfluenceCommand(const Options& options)
        : options_(options),
          restored_(restore(options.fit, options.data, threads_of(options.threads))),
          influence_(*restored_, split(options.variables)) {
        if (influence_.variables().empty()) {
            throw std::runtime_error(fmt::format("{}: all of these variables were held fixed", options.fit));
        }
    }

    int run() {
        require_other_file(options_.output, {options_.fit, options_.data});
        std::optional<detail::AtomicFile> file;
        std::string text;
        if (!options_.output.empty()) {
            file.emplace(options_.output);
            text = csv_line(header());
        }
        restored_->response().case_weights(influence_.functionals(), [&](const RowAnswers& rows) {
            const Matrix changes = RowInfluence::changes(rows);
            const Matrix shifts = influence_.shifts(changes);
            const Vector distances = influence_.distances(changes);
            for (Index i = 0; i < changes.rows(); ++i) {
                Case one{rows.first + i, rows.inputs.row(i), distances[i], shifts.row(i)};
                if (file) text += csv_line(fields(one, exact));
                keep(std::move(one));
            }
            if (!file) return;
            file->write(text.data(), text.size());
            text.clear();
        });
        if (file) file->commit();
        if (options_.output != "-") show();
        return kSuccess;
    }

  private:
    void keep(Case one) {
        const auto further = [](const Case& a, const Case& b) {
            return a.distance != b.distance ? a.distance > b.distance : a.row < b.row;
        };
        if (static_cast<Index>(top_.size()) == options_.top && !further(one, top_.back())) return;
        top_.insert(std::upper_bound(top_.begin(), top_.end(), one, further), std::move(one));
        if (static_cast<Index>(top_.size()) > options_.top) top_.pop_back();
    }

    std::vector<std::string> header() const {
        std::vector<std::string> result{"row"};
        const std::vector<std::string> inputs = restored_->model().inputs();
        result.insert(result.end(), inputs.begin(), inputs.end());
        result.emplace_back("distance");
        for (const Index at : influence_.variables()) {
            result.push_back(restored_->file().posterior.variables[static_cast<std::size_t>(at)].name);
        }
        return result;
    }

    template <class Shown>
    std::vector<std::string> fields(const Case& one, Shown shown) const {
        std::vector<std::string> result{fmt::format("{}", restored_->file_row(one.row))};
        for (const double value : one.inputs) result.push_back(exact(value));
        result.push_back(shown(one.distance));
        for (const double value : one.shifts) result.push_back(shown(value));
        return result;
    }

    void show() const {
        const auto shown = [](double value) { return fmt::format("{:.3f}", value + 0.0); };
        std::vector<std::vector<std::string>> table{header()};
        if (options_.refit) table.front().insert(table.front().begin() + 1, "");
        for (const Case& one : top_) {
            table.push_back(fields(one, shown));
            if (!options_.refit) continue;
            table.back().insert(table.back().begin() + 1, "predicted");
            std::vector<std::string> refitted = refitted_fields(one, shown);
            refitted.insert(refitted.begin() + 1, "refitted");
            table.push_back(std::move(refitted));
        }
        fmt::print(
            "What dropping a row would do to each mean, in posterior sds: the {} most influential of {} rows\n\n{}",
            top_.size(), restored_->file().data.rows, aligned(table));
    }

    // Without some rows there is no model: a level that only this row has. Then there is nothing to compare with.
    template <class Shown>
    std::vector<std::string> refitted_fields(const Case& one, Shown shown) const {
        try {
            return fields(refit(one), shown);
        } catch (const std::runtime_error&) {
            return fields(one, [](double) { return std::string("impossible"); });
        }
    }

    Case refit(const Case& one) const {
        const Posterior& before = restored_->file().posterior;
        const Posterior after = restored_->refit({one.row, {}});
        const std::vector<Index>& variables = influence_.variables();
        Matrix change(1, static_cast<Index>(variables.size()));
        for (std::size_t v = 0; v < variables.size(); ++v) {
            const auto at = static_cast<std::size_t>(variables[v]);
            change(0, static_cast<Index>(v)) = after.variables[at].mean - before.variables[at].mean;
        }
        return {one.row, one.inputs, influence_.distances(change)[0], influence_.shifts(change).row(0)};
    }

    const Options& options_;
    std::unique_ptr<Restored> restored_;
    RowInfluence influence_;
    std::vector<Case> top_;  // the furthest first
};

}  // namespace

void add_influence(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command =
        program.add_subcommand("influence", "Which rows hold up the answer: what dropping each would do");
    add_fit_argument(*command, options->fit);
    add_fitted_data(*command, options->data);
    command->add_option("--variables", options->variables,
                        "Variables, separated by commas; mu stands for every mu[…] (default: one for each parameter)");
    command->add_option("--top", options->top, "Rows to show (default 20)")
        ->check(CLI::Range(Index{1}, Index{1} << 30).description("1 or more"));
    command->add_flag("--refit", options->refit, "Confirm these rows by fits without them");
    command->add_option("-o,--output", options->output, "Write all rows to this file (CSV); - for standard output");
    add_threads(*command, options->threads);
    command->callback([options, &run] { run = [options] { return InfluenceCommand(*options).run(); }; });
}

}  // namespace lrvb::cli
