#include "model/field/row_field.hpp"

#include <lrvb/family/random.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <set>

// Rows with Student errors may be fitted in several ways, each with other rows as outliers. Lines through a few rows at
// a time (Fischler & Bolles 1981) are where tops are sought, at several scales; the best top is the reference of the
// field, and others that hold some of the posterior are its rivals.
namespace lrvb::detail {

namespace {

constexpr Index kMostRows = 5000;  // beyond, many rows agree
constexpr int kLines = 60;
constexpr std::size_t kKept = 6;
constexpr double kApart = 1.0;        // sds of a coefficient between tops that are two
constexpr double kLeastShare = 1e-3;  // of a rival
constexpr std::uint64_t kStream = std::uint64_t{1} << 57;

bool are_apart(const FieldInner& one, const FieldInner& other, Index fixed) {
    const Vector variances = one.inverse->diagonal().head(fixed);
    return ((one.mean - other.mean).head(fixed).cwiseAbs2().array() > kApart * kApart * variances.array()).any();
}

}  // namespace

// Fixed effects of lines through some rows, those first on whose scale most rows are near.
std::vector<Vector> RowField::lines(const FieldGiven& given) const {
    const RowMajor& design = problem_->design().fixed();
    const Index rows = design.rows();
    const Index fixed = core_.shape().plain;  // terms begin at zero
    std::vector<std::pair<double, Vector>> found;
    if (fixed == 0 || rows <= fixed) return {};
    Random random(1, kStream);
    for (int line = 0; line < kLines; ++line) {
        std::set<Index> chosen;
        while (static_cast<Index>(chosen.size()) < fixed) {
            chosen.insert(std::min<Index>(rows - 1, static_cast<Index>(random.uniform() * static_cast<double>(rows))));
        }
        Matrix columns(fixed, fixed);
        Vector responses(fixed);
        Index next = 0;
        for (const Index n : chosen) {
            columns.row(next) = design.row(n).head(fixed);
            responses[next++] = problem_->likelihood().guess(n);
        }
        Vector mean = given.mean;
        mean.head(fixed) = columns.completeOrthogonalDecomposition().solve(responses);
        LikelihoodTerms terms;
        problem_->likelihood().terms(problem_->design().predictors(mean, 1), Vector(), given.theta, 1, terms);
        const double value = terms.value.sum();
        if (std::isfinite(value)) found.emplace_back(value, std::move(mean));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    std::vector<Vector> result;
    for (auto& [value, mean] : found) {
        if (result.size() < kKept) result.push_back(std::move(mean));
    }
    return result;
}

void RowField::find_rivals() {
    const std::vector<LikelihoodParameter>& parameters = core_.likelihood().parameters();
    if (core_.likelihood().is_log_concave() || !core_.has_sigma || parameters.size() != 1 ||
        problem_->design().rows() > kMostRows)
        return;
    struct Top {
        FieldInner inner;
        double bound;
    };
    std::vector<Top> tops;
    const Index fixed = core_.shape().plain;
    const std::size_t sigma = core_.sigma_part();
    for (const double log_scale : {0.0, -0.7, -1.4, -2.1}) {
        for (const double value : parameters[0].rival_values) {
            Vector psi = guess();
            psi[core_.part_offset(sigma)] +=
                core_.parts[sigma].prior().sd[0].kind == ScalePrior::Kind::uniform ? 0.5 * log_scale : log_scale;
            psi[core_.parameter_offset(0)] = parameters[0].psi(value);
            const PsiPoint point = core_.psi_point(psi);
            std::vector<FieldInner> begins(1, *reference_);
            try {
                const FieldGiven own = given(point, psi);
                for (const Vector& mean : lines(own)) {
                    FieldInner& begin = begins.emplace_back();
                    begin.mean = mean;
                    LikelihoodTerms terms;
                    problem_->likelihood().terms(problem_->design().predictors(mean, 1), Vector(), own.theta, 1, terms);
                    begin.weights = (-terms.second).cwiseMax(0.0);
                }
            } catch (const std::domain_error&) {
                continue;
            }
            for (const FieldInner& begin : begins) {
                try {
                    const At found = top(psi, &begin, 1e-5);
                    const auto same = std::find_if(tops.begin(), tops.end(), [&](const Top& one) {
                        return !are_apart(found.inner, one.inner, fixed);
                    });
                    if (same == tops.end()) {
                        tops.push_back({found.inner, found.bound});
                    } else if (found.bound > same->bound) {
                        *same = {found.inner, found.bound};
                    }
                } catch (const std::domain_error&) {
                    continue;
                }
            }
        }
    }
    if (tops.empty()) return;
    std::stable_sort(tops.begin(), tops.end(),
                     [](const Top& one, const Top& other) { return one.bound > other.bound; });
    reference_ = std::make_shared<const FieldInner>(tops.front().inner);
    const double best = tops.front().bound;
    for (std::size_t i = 1; i < tops.size(); ++i) {
        const double share = 1.0 / (1.0 + std::exp(best - tops[i].bound));
        if (share < kLeastShare || !are_apart(tops.front().inner, tops[i].inner, fixed)) continue;
        rivals_.push_back({tops[i].inner.mean, share});
    }
}

}  // namespace lrvb::detail
