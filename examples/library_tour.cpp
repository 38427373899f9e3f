// What the program can do, in C++: a fit from its file, with its data again, checked, and asked which rows and which
// numbers of the prior hold it up.

#include <lrvb/check/check.hpp>
#include <lrvb/query/influence.hpp>
#include <lrvb/query/sensitivity.hpp>
#ifdef LRVB_WITH_REPORT
#include <lrvb/report/report.hpp>

#include <fstream>
#endif

#include <fmt/format.h>

int main(int count, char** arguments) {
    if (count != 3) {
        fmt::print(stderr, "usage: library_tour FIT DATA\n");
        return 2;
    }
    try {
        const lrvb::FitFile file = lrvb::read_fit(arguments[1]);
        const std::vector<lrvb::Index> chosen = file.posterior.select({"mu", "sigma"});
        for (const lrvb::Posterior::Row& row : file.posterior.summary(chosen, 0.9)) {
            fmt::print("{}  {:.4f}  sd {:.4f}  90% from {:.4f} to {:.4f}\n", row.name, row.mean, row.sd, row.lower,
                       row.upper);
        }

        const auto fitted = lrvb::restore(file, arguments[2]);
        const lrvb::Check check = lrvb::check(*fitted);
        fmt::print("{}: {}\n", to_string(check.verdict), check.message);

        const lrvb::RowInfluence influence(*fitted, {"mu"});
        const lrvb::RowInfluence::Case row = influence.most_influential(1).front();
        fmt::print("without row {} the means of mu move by {:.3f}; refitted, by {:.3f}\n", fitted->file_row(row.row),
                   row.distance, influence.refitted(row).distance);

        const lrvb::PriorEffect prior = lrvb::prior_effects(*fitted, chosen).front();
        fmt::print("1% more of the prior's {} moves {} by {:.4f} sds, and its sd by {:.4f}%\n", prior.prior.name,
                   prior.variable, prior.sds_per_percent, prior.sd_percent);
#ifdef LRVB_WITH_REPORT
        std::ofstream("report.html") << lrvb::report_page(file, fitted.get());
#endif
    } catch (const std::exception& error) {
        fmt::print(stderr, "library_tour: {}\n", error.what());
        return 1;
    }
    return 0;
}
