#include "model/labelled/symmetry.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace lrvb::detail {

namespace {

constexpr Index kNobody = -1;
constexpr Index kSeveral = -2;

/// Of every statistic, the label whose coefficients depend on it, and the label whose weight it is.
struct Owners {
    std::vector<Index> owner;
    std::vector<Index> part;
};

Owners owners(const LabelledTerms& terms) {
    const auto count = static_cast<std::size_t>(terms.statistics());
    Owners result{std::vector<Index>(count, kNobody), std::vector<Index>(count, kNobody)};
    const SparseMatrix pattern =
        terms.coupling().expand(terms.extended(Vector::Zero(terms.statistics())), Order::hessian).hessian;
    const auto join = [](Index& known, Index label) {
        if (label == kNobody) return;
        known = known == kNobody || known == label ? label : kSeveral;
    };
    for (std::size_t p = 0; p < terms.parts().size(); ++p) {
        const LabelledRows& part = *terms.parts()[p];
        const Index begin = terms.first_count(p);
        for (Index s = 0; s < terms.statistics(); ++s) {
            for (SparseMatrix::InnerIterator entry(pattern, s); entry; ++entry) {
                const Index at = entry.row() - begin;
                if (at < 0 || at >= part.size()) continue;
                join(result.owner[static_cast<std::size_t>(s)], part.owner(at));
                join(result.part[static_cast<std::size_t>(s)], part.part(at));
            }
        }
    }
    return result;
}

// Of weights, the label that each part is of: all labels, once each.
std::optional<std::vector<Index>> labels_of_weights(const VariableInfo& variable, const std::vector<Index>& part,
                                                    Index labels) {
    const bool is_weights = std::holds_alternative<family::Dirichlet>(variable.family) ||
                            std::holds_alternative<family::Beta>(variable.family);
    if (!is_weights || variable.size != labels) return std::nullopt;
    const auto begin = part.begin() + variable.offset;
    std::vector<Index> result(begin, begin + labels);
    std::vector<Index> sorted = result;
    std::ranges::sort(sorted);
    for (Index k = 0; k < labels; ++k) {
        if (sorted[static_cast<std::size_t>(k)] != k) return std::nullopt;
    }
    return result;
}

// The one label that has a variable to itself, or kNobody.
Index label_of(const VariableInfo& variable, const std::vector<Index>& owner) {
    Index result = kNobody;
    for (Index s = 0; s < variable.size; ++s) {
        const Index label = owner[static_cast<std::size_t>(variable.offset + s)];
        if (label == kNobody) continue;
        if (label == kSeveral || (result != kNobody && result != label)) return kNobody;
        result = label;
    }
    return result;
}

bool are_alike(const Layout& layout, const std::vector<std::vector<Index>>& blocks) {
    const std::vector<Index>& model = blocks.front();
    return std::ranges::all_of(blocks, [&](const std::vector<Index>& block) {
        return std::ranges::equal(block, model, [&](Index a, Index b) { return layout[a].family == layout[b].family; });
    });
}

}  // namespace

Exchangeable exchangeable_labels(const Layout& layout, const MultilinearForm& form, const LabelledTerms& terms) {
    const Index labels = terms.parts().front()->labels();
    const auto fits = [&](const auto& part) { return part->labels() == labels && part->all_occur(); };
    if (labels < 2 || !std::ranges::all_of(terms.parts(), fits)) return {};
    const Owners known = owners(terms);
    std::optional<std::vector<Index>> order;  // labels in the order of the parts of weights
    std::vector<std::vector<Index>> own(static_cast<std::size_t>(labels));
    std::vector<Index> all_weights;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        const VariableInfo& variable = layout[j];
        if (const auto parts = labels_of_weights(variable, known.part, labels)) {
            if (order && *order != *parts) return {};  // more than can be told
            order = parts;
            all_weights.push_back(j);
        }
        const Index label = label_of(variable, known.owner);
        if (label != kNobody) own[static_cast<std::size_t>(label)].push_back(j);
    }
    if (!order) {
        order.emplace(static_cast<std::size_t>(labels));
        std::iota(order->begin(), order->end(), Index{0});
    }
    Exchangeable result;
    for (const Index label : *order) result.blocks.push_back(own[static_cast<std::size_t>(label)]);
    if (!are_alike(layout, result.blocks)) return {};
    if (all_weights.size() == 1 && !terms.has_chains()) {
        result.weights = all_weights.front();
    } else {
        result.further = all_weights;
    }

    // All exchanges are made of those with the first.
    const Index last = static_cast<Index>(terms.parts().size()) - 1;
    const Index all = terms.first_count(static_cast<std::size_t>(last)) + terms.parts().back()->size();
    for (std::size_t other = 1; other < result.blocks.size(); ++other) {
        std::vector<Index> image(static_cast<std::size_t>(layout.variable_count()));
        std::iota(image.begin(), image.end(), Index{0});
        for (std::size_t i = 0; i < result.blocks.front().size(); ++i) {
            std::swap(image[static_cast<std::size_t>(result.blocks.front()[i])],
                      image[static_cast<std::size_t>(result.blocks[other][i])]);
        }
        std::vector<std::uint32_t> moved(static_cast<std::size_t>(all));
        for (Index j = 0; j < layout.variable_count(); ++j) {
            const bool has_parts = std::ranges::find(all_weights, j) != all_weights.end();
            const Index to = layout[image[static_cast<std::size_t>(j)]].offset;
            for (Index s = 0; s < layout[j].size; ++s) {
                const auto second = static_cast<Index>(other);
                const Index at = !has_parts ? s : s == 0 ? second : s == second ? 0 : s;
                moved[static_cast<std::size_t>(layout[j].offset + s)] = static_cast<std::uint32_t>(to + at);
            }
        }
        for (std::size_t p = 0; p < terms.parts().size(); ++p) {
            const std::vector<Index> counts = terms.parts()[p]->exchanged(order->front(), (*order)[other]);
            for (std::size_t g = 0; g < counts.size(); ++g) {
                moved[static_cast<std::size_t>(terms.first_count(p)) + g] =
                    static_cast<std::uint32_t>(terms.first_count(p) + counts[g]);
            }
        }
        if (!terms.coupling().is_invariant(moved)) return {};
        moved.resize(static_cast<std::size_t>(terms.statistics()));
        if (!form.is_invariant(moved)) return {};
    }
    return result;
}

}  // namespace lrvb::detail
