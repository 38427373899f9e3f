#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/fit_command.hpp"
#include "cli/output.hpp"
#include "cli/restored.hpp"
#include "data/files.hpp"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
        : options_(options), restored_(restore(options.fit, options.data, threads_of(options.threads))) {
        const Posterior& posterior = restored_->file().posterior;
        for (const Index at : posterior.select(asked())) {
            const double sd = posterior.summary({at}, 0.9).front().sd;
            if (!(sd > 0.0)) continue;  // what is held does not move
            chosen_.push_back(at);
            names_.push_back(posterior.variables[static_cast<std::size_t>(at)].name);
            sds_.push_back(sd);
        }
        if (chosen_.empty()) throw std::runtime_error(options.fit + ": all of these variables were held fixed");
        centring_ = restored_->centring(chosen_);
        const SparseMatrix weights = restored_->functionals(chosen_).resolve(restored_->model().layout()).weights;
        const Matrix centred = Matrix(weights) * centring_.transpose();
        root_ = root_of_inverse(restored_->response().covariance(Functionals(SparseMatrix(centred.sparseView()))));
    }

    int run() {
        require_other_file(options_.output, {options_.fit, options_.data});
        std::optional<detail::AtomicFile> file;
        std::string text;
        if (!options_.output.empty()) {
            file.emplace(options_.output);
            text = csv_line(header());
        }
        restored_->response().case_weights(restored_->functionals(chosen_), [&](const RowAnswers& rows) {
            for (Index i = 0; i < rows.answers.rows(); ++i) {
                const Vector answers = rows.answers.row(i);
                Case one = case_of(rows.first + i, rows.inputs.row(i), -rows.weights[i] * answers);
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
    // Where nothing is asked for, one name for each parameter: with all of them, each would be counted several times.
    std::vector<std::string> asked() const {
        if (!options_.variables.empty()) return split(options_.variables);
        std::vector<std::string> names;
        for (const char* name : {"intercept", "beta", "pi", "mu", "log_tau", "Lambda"}) {
            for (const PosteriorVariable& variable : restored_->file().posterior.variables) {
                if (variable.name.substr(0, variable.name.find('[')) != name) continue;
                names.emplace_back(name);
                break;
            }
        }
        return names;
    }

    // R with R Rᵀ the inverse of the covariance, where it has one; directions without variance (weights add up to one)
    // have no distance.
    static Matrix root_of_inverse(const Matrix& covariance) {
        const Vector inverse = covariance.diagonal().cwiseSqrt().cwiseInverse();
        const Matrix correlation = inverse.asDiagonal() * covariance * inverse.asDiagonal();
        const Eigen::SelfAdjointEigenSolver<Matrix> solver(correlation);
        Vector scales = Vector::Zero(inverse.size());
        for (Index i = 0; i < inverse.size(); ++i) {
            const double value = solver.eigenvalues()[i];
            if (value > 1e-10) scales[i] = 1.0 / std::sqrt(value);
        }
        return inverse.asDiagonal() * solver.eigenvectors() * scales.asDiagonal();
    }

    Case case_of(Index row, const Vector& inputs, const Vector& change) const {
        Case one{row, inputs, 0.0, change};
        for (Index v = 0; v < change.size(); ++v) one.shifts[v] /= sds_[static_cast<std::size_t>(v)];
        one.distance = (root_.transpose() * (centring_ * change)).norm();
        return one;
    }

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
        result.insert(result.end(), names_.begin(), names_.end());
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
        Vector change(static_cast<Index>(chosen_.size()));
        for (std::size_t v = 0; v < chosen_.size(); ++v) {
            const auto at = static_cast<std::size_t>(chosen_[v]);
            change[static_cast<Index>(v)] = after.variables[at].mean - before.variables[at].mean;
        }
        return case_of(one.row, one.inputs, change);
    }

    const Options& options_;
    std::unique_ptr<Restored> restored_;
    std::vector<Index> chosen_;
    std::vector<std::string> names_;
    std::vector<double> sds_;
    Matrix centring_;
    Matrix root_;
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
