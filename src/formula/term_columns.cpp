#include "formula/term_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::detail {

namespace {

bool is_factor(const TermPart& part) {
    return part.kind == TermPart::Kind::factor;
}

/// Whether a term before holds what this one is without a factor: the same numbers, and those factors at least.
bool spans(const std::vector<TermPart>& parts, const TermParts& before, const TermParts& rest) {
    if (!std::includes(before.begin(), before.end(), rest.begin(), rest.end())) return false;
    return std::all_of(before.begin(), before.end(), [&](std::size_t part) {
        return is_factor(parts[part]) || std::binary_search(rest.begin(), rest.end(), part);
    });
}

/// The columns that a part of a term has.
std::size_t width_of(const TermPart& part, bool is_full, const PartLevels& levels) {
    if (part.kind == TermPart::Kind::number) return 1;
    if (part.kind == TermPart::Kind::polynomial) return static_cast<std::size_t>(part.degree);
    return levels(part).size() - (is_full ? 0 : 1);
}

std::string label_of(const TermPart& part, bool is_full, std::size_t at, const PartLevels& levels) {
    if (part.kind == TermPart::Kind::number) return part.name;
    if (part.kind == TermPart::Kind::polynomial) return fmt::format("{}[{}]", part.name, at + 1);
    return fmt::format("{}={}", part.name, levels(part)[at + (is_full ? 0 : 1)]);
}

std::vector<std::size_t> widths_of(const std::vector<TermPart>& parts, const CodedTerm& term,
                                   const PartLevels& levels) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < term.parts.size(); ++i) {
        widths.push_back(width_of(parts[term.parts[i]], term.is_full[i], levels));
    }
    return widths;
}

/// The columns of a term: a row has one of its cells, or none, times products of its numbers.
class TermFiller {
  public:
    TermFiller(const std::vector<TermPart>& parts, const CodedTerm& term, const PartLevels& levels,
               const std::function<const PartValues&(std::size_t)>& values) {
        Index stride = 1;
        offsets_ = {0};
        const std::vector<std::size_t> widths = widths_of(parts, term, levels);
        for (std::size_t i = 0; i < term.parts.size(); ++i) {
            const auto width = static_cast<Index>(widths[i]);
            const PartValues& value = values(term.parts[i]);
            if (is_factor(parts[term.parts[i]])) {
                factors_.push_back({&value.codes, stride, term.is_full[i] ? 0 : 1});
            } else {
                multiply(value.numbers, stride);
            }
            stride *= width;
        }
        width_ = stride;
    }

    Index width() const { return width_; }

    void fill(Eigen::Ref<Matrix> columns) const {
        if (factors_.empty()) {
            for (std::size_t c = 0; c < offsets_.size(); ++c) {
                columns.col(offsets_[c]) = products_.col(static_cast<Index>(c));
            }
            return;
        }
        columns.setZero();
        for (Index n = 0; n < columns.rows(); ++n) {
            const Index cell = cell_of(n);
            if (cell < 0) continue;
            for (std::size_t c = 0; c < offsets_.size(); ++c) {
                columns(n, cell + offsets_[c]) = products_.size() > 0 ? products_(n, static_cast<Index>(c)) : 1.0;
            }
        }
    }

  private:
    struct Factor {
        const std::vector<int>* codes;
        Index stride;
        int first;  // the level that its first column is of
    };

    /// −1 for a baseline.
    Index cell_of(Index row) const {
        Index cell = 0;
        for (const Factor& factor : factors_) {
            const int place = (*factor.codes)[static_cast<std::size_t>(row)] - factor.first;
            if (place < 0) return -1;
            cell += place * factor.stride;
        }
        return cell;
    }

    void multiply(const Matrix& numbers, Index stride) {
        const auto before = static_cast<Index>(offsets_.size());
        std::vector<Index> offsets;
        Matrix products(numbers.rows(), before * numbers.cols());
        for (Index k = 0; k < numbers.cols(); ++k) {
            for (Index c = 0; c < before; ++c) {
                offsets.push_back(offsets_[static_cast<std::size_t>(c)] + k * stride);
                if (products_.size() > 0) {
                    products.col(k * before + c) = products_.col(c).cwiseProduct(numbers.col(k));
                } else {
                    products.col(k * before + c) = numbers.col(k);
                }
            }
        }
        offsets_ = std::move(offsets);
        products_ = std::move(products);
    }

    std::vector<Factor> factors_;
    std::vector<Index> offsets_;  // of the products' columns within a term's
    Matrix products_;             // none where there are factors alone
    Index width_ = 1;
};

}  // namespace

std::vector<CodedTerm> coded_terms(const std::vector<TermPart>& parts, const std::vector<TermParts>& terms,
                                   bool intercept) {
    std::vector<CodedTerm> result;
    bool has_constant = intercept;  // whether columns add up to ones
    for (std::size_t t = 0; t < terms.size(); ++t) {
        CodedTerm& term = result.emplace_back(CodedTerm{terms[t], std::vector<bool>(terms[t].size(), false)});
        const bool all_factors =
            std::all_of(term.parts.begin(), term.parts.end(), [&](std::size_t part) { return is_factor(parts[part]); });
        for (std::size_t i = 0; i < term.parts.size(); ++i) {
            if (!is_factor(parts[term.parts[i]])) continue;
            TermParts rest = term.parts;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            const bool is_spanned =
                rest.empty() || std::any_of(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(t),
                                            [&](const TermParts& before) { return spans(parts, before, rest); });
            term.is_full[i] = !is_spanned || (all_factors && !has_constant);
            if (all_factors) has_constant = true;
        }
    }
    return result;
}

std::vector<std::string> column_names(const std::vector<TermPart>& parts, const std::vector<CodedTerm>& terms,
                                      const PartLevels& levels) {
    std::vector<std::string> names;
    for (const CodedTerm& term : terms) {
        const std::vector<std::size_t> widths = widths_of(parts, term, levels);
        std::vector<std::size_t> at(widths.size(), 0);
        if (std::find(widths.begin(), widths.end(), 0U) != widths.end()) continue;
        while (true) {
            std::string name;
            for (std::size_t i = 0; i < at.size(); ++i) {
                if (i > 0) name += ':';
                name += label_of(parts[term.parts[i]], term.is_full[i], at[i], levels);
            }
            names.push_back(std::move(name));
            std::size_t moved = 0;  // the first changes fastest
            while (moved < at.size() && ++at[moved] == widths[moved]) at[moved++] = 0;
            if (moved == at.size()) break;
        }
    }
    return names;
}

double column_count(const std::vector<TermPart>& parts, const std::vector<CodedTerm>& terms, const PartLevels& levels) {
    double count = 0.0;
    for (const CodedTerm& term : terms) {
        double width = 1.0;
        for (const std::size_t part : widths_of(parts, term, levels)) width *= static_cast<double>(part);
        count += width;
    }
    return count;
}

void fill_columns(const std::vector<TermPart>& parts, const std::vector<CodedTerm>& terms, const PartLevels& levels,
                  const std::function<const PartValues&(std::size_t)>& values, Eigen::Ref<Matrix> columns) {
    Index next = 0;
    for (const CodedTerm& term : terms) {
        const TermFiller filler(parts, term, levels, values);
        filler.fill(columns.middleCols(next, filler.width()));
        next += filler.width();
    }
}

}  // namespace lrvb::detail
