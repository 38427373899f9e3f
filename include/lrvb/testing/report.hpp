#pragma once

#include <cmath>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a battery found. The batteries of `lrvb/testing/` do not depend on a test framework: they return a `Report`.
///
///     const lrvb::testing::Report report = lrvb::testing::check_family(MyFamily{}, natural);
///     ASSERT_TRUE(report.passed()) << report.text();  // GoogleTest; any other framework likewise
namespace lrvb::testing {

class Report {
  public:
    /// `subject` is what was checked ("Gamma"): every failure begins with it.
    explicit Report(std::string subject) : subject_(std::move(subject)) {}

    bool passed() const { return failures_.empty(); }

    /// One sentence each: the subject, the check, the entry, the two numbers.
    const std::vector<std::string>& failures() const { return failures_; }

    /// The failures, one a line; "Gamma: passed" without any.
    std::string text() const {
        if (passed()) return subject_ + ": passed";
        std::string lines;
        for (const std::string& failure : failures_) lines += failure + '\n';
        return lines;
    }

    void fail(std::string_view check, std::string_view what) {
        failures_.push_back(subject_ + ": " + std::string(check) + ": " + std::string(what));
    }

    /// Fails unless |actual − expected| ≤ tolerance; so does a NaN in any of the three.
    void expect_near(std::string_view check, std::string_view entry, double actual, double expected, double tolerance) {
        if (std::abs(actual - expected) <= tolerance) return;
        std::ostringstream sentence;
        sentence << std::setprecision(17) << entry << " is " << actual << ", but must be " << expected << " within "
                 << std::setprecision(3) << tolerance;
        fail(check, sentence.str());
    }

  private:
    std::string subject_;
    std::vector<std::string> failures_;
};

}  // namespace lrvb::testing
