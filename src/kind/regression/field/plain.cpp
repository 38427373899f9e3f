#include "kind/regression/field/plain.hpp"

#include <algorithm>

namespace lrvb::detail {

std::optional<std::vector<RegressionTerm>> plain_terms(const FieldRecord& record) {
    const FormulaCoding& coding = *record.coding;
    if (!record.shape.likelihood->is_normal() || !coding.random().empty()) return std::nullopt;
    std::vector<RegressionTerm> terms;
    for (const std::string& column : coding.columns()) {
        RegressionTerm& term = terms.emplace_back();
        term.column = column;
        const auto factor = std::find_if(coding.factors().begin(), coding.factors().end(),
                                         [&](const FormulaCoding::Factor& one) { return one.column == column; });
        if (factor != coding.factors().end()) term.levels = factor->levels;
    }
    // Where two of the names would be the same, it is not plain.
    try {
        if (design_names(terms) != record.shape.slopes) return std::nullopt;
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
    return terms;
}

RegressionDesign plain_design(std::vector<RegressionTerm> terms, const FieldData& data) {
    RegressionDesign design;
    design.response = data.response;
    design.terms = std::move(terms);
    design.intercept = data.intercept;
    design.names = data.names;
    design.columns = data.columns;
    design.y = data.y;
    if (!data.precision_weights) design.weights = data.weights;
    return design;
}

RegressionPosterior plain_coefficients(const FieldRecord& record, const Posterior& posterior, const Vector& means) {
    const FieldVariables variables = record.variables();
    const auto slopes = static_cast<Index>(record.shape.slopes.size());
    const bool intercept = record.shape.intercept;
    std::vector<Index> places;  // among the statistics: alpha, which is the intercept at the centre, and the slopes
    if (intercept) places.push_back(0);
    for (Index j = 0; j < slopes; ++j) places.push_back(variables.first_slope() + j);
    RegressionPosterior result;
    result.intercept = intercept;
    result.centre = intercept ? *record.numbers.centre : Vector(Vector::Zero(slopes));
    result.mean = means(places);
    if (posterior.has_response()) result.covariance = covariance_of_statistics(posterior, places);
    const double sigma = variables.sigma(means.segment(variables.first_psi(), variables.psi_count()));
    result.noise_variance = sigma * sigma;
    return result;
}

}  // namespace lrvb::detail
