// Fits of models declared in C++, for `make snapshot`: writes their fit files into a folder, and prints what the
// library says of their rows and of their exact posteriors, as JSON.
//
//     snapshot_models FOLDER THREADS

#include "crossed_model.hpp"
#include "grouped_model.hpp"
#include "joint_models.hpp"
#include "labelled_models.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/query/influence.hpp>

#include <cstdio>
#include <numeric>
#include <string>

namespace {

using namespace lrvb;

constexpr bool kNamedRows = true;

class Snapshot {
  public:
    Snapshot(std::string folder, int threads) : folder_(std::move(folder)), threads_(threads) {}

    template <class M>
    void add(const std::string& name, M declared, bool has_rows, bool is_checked) {
        const auto model = std::make_shared<const M>(std::move(declared));
        FitOptions options;
        options.tolerance = 1e-10;
        const auto fitted = fitted_model(model, fit(*model, options));
        write_fit(folder_ + "/" + name + ".json", fitted->file());
        Document& answer = answers_[name];
        answer = Document::object();
        answer["tables"] = has_rows ? rows(*fitted) : Document::object();
        if (is_checked) answer["check"] = checked(*fitted);
    }

    std::string json() const { return answers_.json(); }

  private:
    /// Tables as the program writes them: the row, and a column for each variable and input.
    static Document rows(const FittedModel& fitted) {
        const RowInfluence influence(fitted);
        std::vector<std::string> names;
        for (const Index i : influence.variables()) {
            names.push_back(fitted.posterior().variables[static_cast<std::size_t>(i)].name);
        }
        std::string shifts = header(names);
        influence.each([&](const RowInfluence::Case& one) { append(shifts, one.row, one.shifts); });

        std::string leverages;
        fitted.response().leverage(influence.functionals(), [&](const RowAnswers& some) {
            if (leverages.empty()) {
                const Index inputs = some.answers.cols() / static_cast<Index>(names.size());
                std::vector<std::string> columns;
                for (const std::string& variable : names) {
                    for (Index p = 0; p < inputs; ++p) columns.push_back(fmt::format("{} by {}", variable, p + 1));
                }
                leverages = header(columns);
            }
            for (Index n = 0; n < some.answers.rows(); ++n) append(leverages, some.first + n, some.answers.row(n));
        });
        return Document::object({{"influence", shifts}, {"leverage", leverages}});
    }

    static std::string header(const std::vector<std::string>& names) {
        std::string text = "row";
        for (const std::string& name : names) text += fmt::format(",\"{}\"", name);
        return text + "\n";
    }

    static void append(std::string& text, Index row, const Vector& values) {
        text += std::to_string(row + 1);
        for (const double value : values) text += fmt::format(",{}", value);
        text += "\n";
    }

    Document checked(const FittedModel& fitted) const {
        CheckOptions options;
        options.method = CheckMethod::importance;
        options.draws = 2000;
        options.threads = threads_;
        const Check result = check(fitted, options);
        std::vector<Index> all(result.variables.size());
        std::iota(all.begin(), all.end(), Index{0});
        return result.document(all);
    }

    std::string folder_;
    int threads_;
    Document answers_ = Document::object();
};

/// 40 rows of two levels, ten in turn.
Matrix chain_rows() {
    Random random(5);
    Matrix y(40, 1);
    for (Index t = 0; t < y.rows(); ++t) y(t, 0) = (t / 10 % 2 == 0 ? 0.0 : 3.0) + random.normal();
    return y;
}

MultilinearModel chain(const Matrix& y) {
    ModelBuilder builder;
    const auto first = builder.add("first", dirichlet({1.0, 1.0}));
    const auto from_low = builder.add("P[1]", dirichlet({4.0, 1.0}));
    const auto from_high = builder.add("P[2]", dirichlet({1.0, 3.0}));
    const auto low = builder.add("mu[1]", normal(-1.0, 0.2));
    const auto high = builder.add("mu[2]", normal(3.5, 0.2));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_chain(first, {from_low, from_high}, {column(y, {normal(low, tau), normal(high, tau)})}, {40},
                          builder.rows("rows", y.rows()));
    return builder.build();
}

Vector two_normals(Index rows) {
    Random random(8);
    Vector x(rows);
    for (Index n = 0; n < rows; ++n) x[n] = (n % 3 == 0 ? -2.5 : 2.0) + random.normal();
    return x;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: snapshot_models FOLDER THREADS\n");
        return 2;
    }
    Snapshot snapshot(arguments[1], std::stoi(arguments[2]));
    const Vector x = two_normals(120);
    const test::OneWay one_way(3);
    snapshot.add("declared_mixture", test::normal_mixture(x, 2), kNamedRows, true);
    snapshot.add("declared_chosen_weights", test::chosen_weights(x), kNamedRows, true);
    snapshot.add("declared_latent_classes", test::latent_classes(test::latent_class_rows(150, 4, 6), 2), !kNamedRows,
                 false);
    snapshot.add("declared_counts", test::counts_of_all_kinds(test::rows_of_all_kinds(60, 4)), kNamedRows, false);
    const Matrix lines = test::regression_rows(90, 2);
    snapshot.add("declared_lines", test::regressions(lines.col(0), lines.rightCols(2)), kNamedRows, false);
    snapshot.add("declared_chain", chain(chain_rows()), kNamedRows, false);
    snapshot.add("declared_one_way", one_way.base(), kNamedRows, true);
    snapshot.add("declared_one_way_joined", JointModel(one_way.base()), kNamedRows, true);
    snapshot.add("declared_scales", JointModel(test::one_way_with_scales(one_way, Vector{{1.0, 2.0}})), kNamedRows,
                 true);
    snapshot.add("declared_crossed", test::crossed_model(8, 6), !kNamedRows, false);
    snapshot.add("declared_crossed_joined", JointModel(test::crossed_base(7)), kNamedRows, false);
    snapshot.add("declared_wishart_joined", JointModel(test::wishart_base(9)), kNamedRows, true);
    snapshot.add("declared_student_joined", JointModel(test::student_base(11)), kNamedRows, false);
    const bench::GroupedData grouped = bench::simulate_groups(50, 6, 2024);
    snapshot.add("declared_groups", bench::grouped_model(grouped).model, !kNamedRows, false);
    snapshot.add("declared_large", bench::grouped_model(bench::simulate_groups(3000, 4, 7)).model, !kNamedRows, false);
    std::printf("%s\n", snapshot.json().c_str());
    return 0;
}
