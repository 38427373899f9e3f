#include "kind/model/clusters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace lrvb::detail::text {

namespace {

constexpr Index kMostStates = 1024;

using Node = std::pair<std::size_t, Index>;  // array and element

struct Label {
    std::size_t piece = 0;
    Index row = 0;
    Index count = 0;
};

bool is_label(const Declarations& own, const Piece& piece) {
    const std::string& name = own.distribution_name(piece);
    const bool has_labels =
        name == "dcat" || name == "dbern" || (name == "dbin" && own.usages[own.relation(piece).left.array].selects);
    return piece.left == Piece::Left::unobserved && !piece.is_truncated && has_labels;
}

// Sets of nodes that meet somewhere.
class Meeting {
  public:
    explicit Meeting(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

    std::size_t root(std::size_t one) {
        while (parent_[one] != one) one = parent_[one] = parent_[parent_[one]];
        return one;
    }
    void join(std::size_t one, std::size_t other) { parent_[root(one)] = root(other); }

  private:
    std::vector<std::size_t> parent_;
};

// Whether a node alone has labels that cannot be, or none of a plain label's families.
bool is_special(const Declarations& own, const Label& label) {
    const Piece& piece = own.pieces()[label.piece];
    const std::string& name = own.distribution_name(piece);
    if (name == "dbin") return true;
    const auto is_zero = [&](const Sum& sum) { return sum.is_constant() && sum.constant_at(label.row) == 0.0; };
    if (name == "dcat") {
        return std::ranges::any_of(piece.arguments[0].elements,
                                   [&](const Choice& choice) { return is_zero(choice.alternatives.front()); });
    }
    return false;
}

// Whether some label leaves nothing to chance.
bool has_certainty(const Declarations& own, const Piece& piece) {
    const std::string& name = own.distribution_name(piece);
    if (name != "dbern" && name != "dbin" && name != "dpois" && name != "dcat" && name != "dmulti") return false;
    const auto is_certain = [&](const Sum& sum) {
        if (!sum.is_constant()) return false;
        const NumberColumn numbers = sum.constant();
        return (numbers.array() == 0.0).any() || (name != "dpois" && (numbers.array() == 1.0).any());
    };
    return std::ranges::any_of(piece.arguments[0].elements, [&](const Choice& choice) {
        return std::ranges::any_of(choice.alternatives, is_certain);
    });
}

// Which of a piece's alternatives the labels of a state choose.
std::size_t combination_of(const Terms::Cluster& cluster, const Declarations& own, const Piece& piece, Index row,
                           const std::vector<Index>& state) {
    std::size_t combination = 0;
    std::size_t stride = 1;
    for (const Selector& selector : piece.selectors) {
        if (!own.terms.memberships.contains({selector.array, selector.element(row)})) {
            throw Refused(own.relation(piece).syntax->place,
                          fmt::format("{} chooses here, but is no label that can be counted with the others: leave out "
                                      "its bounds",
                                      own.graph().arrays()[selector.array].element_name(selector.element(row))));
        }
        const std::size_t member = own.terms.member(selector.array, selector.element(row));
        combination += stride * static_cast<std::size_t>(state[member]);
        stride *= static_cast<std::size_t>(cluster.counts[member]);
    }
    return combination;
}

// Whether what was observed in this row cannot be where these labels are.
bool is_contradicted(const Declarations& own, const Piece& piece, Index row, std::size_t combination) {
    const std::string& name = own.distribution_name(piece);
    const double y = own.observed(piece, row);
    const auto constant = [&](std::size_t entry) -> std::optional<double> {
        const Sum& sum = piece.sum(0, entry, combination);
        return sum.is_constant() ? std::optional<double>(sum.constant_at(row)) : std::nullopt;
    };
    if (name == "dcat") {
        const auto label = static_cast<std::size_t>(y) - 1;
        return y >= 1.0 && label < piece.arguments[0].elements.size() && constant(label) == 0.0;
    }
    if (name == "dbern" || name == "dbin") {
        const double trials = name == "dbern" ? 1.0 : own.number(piece, 1, row);
        return (y > 0.0 && constant(0) == 0.0) || (y < trials && constant(0) == 1.0);
    }
    return name == "dpois" && y > 0.0 && constant(0) == 0.0;
}

// log of the probability of each label of a member; none for what cannot be.
std::vector<std::optional<Expression>> logs_of(Declarations& own, const Piece& piece, Index row,
                                               std::size_t combination) {
    const std::string& name = own.distribution_name(piece);
    if (name == "dcat") return own.log_simplex(piece, row, combination);
    const std::vector<std::optional<Expression>> odds = own.log_odds(piece, row, combination);
    if (name == "dbern") return odds;
    const double size = own.number(piece, 1, row);
    std::vector<std::optional<Expression>> logs;
    for (double k = 0.0; k <= size; k += 1.0) {
        const bool can_be = (odds[0] || k == size) && (odds[1] || k == 0.0);
        if (!can_be) {
            logs.emplace_back(std::nullopt);
            continue;
        }
        Expression log = std::lgamma(size + 1.0) - std::lgamma(k + 1.0) - std::lgamma(size - k + 1.0);
        if (k > 0.0) log += k * *odds[1];
        if (k < size) log += (size - k) * *odds[0];
        logs.emplace_back(log);
    }
    return logs;
}

}  // namespace

void find_clusters(Declarations& own) {
    std::map<Node, std::size_t> numbers;
    std::vector<Node> nodes;
    std::vector<Label> labels;
    for (std::size_t p = 0; p < own.pieces().size(); ++p) {
        const Piece& piece = own.pieces()[p];
        if (!is_label(own, piece)) continue;
        const std::size_t array = own.relation(piece).left.array;
        for (Index row = 0; row < piece.size(); ++row) {
            const Index element = own.left_element(piece, row);
            if (own.terms.at(array, element).form == Form::summed_out) continue;
            const Index count = own.evaluator().labels(array, element);
            if (count == 0) continue;
            numbers.emplace(Node(array, element), nodes.size());
            nodes.emplace_back(array, element);
            labels.push_back({p, row, count});
        }
    }
    Meeting meeting(nodes.size());
    std::vector<bool> chooses_certainty(nodes.size(), false);
    for (const Piece& piece : own.pieces()) {
        if (piece.selectors.empty() || numbers.empty()) continue;
        const bool is_certain = piece.left == Piece::Left::observed && has_certainty(own, piece);
        for (Index row = 0; row < piece.size(); ++row) {
            std::optional<std::size_t> first;
            const auto meet = [&](std::size_t array, Index element) {
                const auto found = numbers.find(Node(array, element));
                if (found == numbers.end()) return;
                if (first) meeting.join(*first, found->second);
                first = found->second;
                if (is_certain) chooses_certainty[found->second] = true;
            };
            for (const Selector& selector : piece.selectors) meet(selector.array, selector.element(row));
            if (is_label(own, piece)) meet(own.relation(piece).left.array, own.left_element(piece, row));
        }
    }
    std::map<std::size_t, std::vector<std::size_t>> sets;
    for (std::size_t n = 0; n < nodes.size(); ++n) sets[meeting.root(n)].push_back(n);
    for (const auto& [root, members] : sets) {
        const std::size_t only = members.front();
        const bool is_one = members.size() == 1;
        if (is_one && !chooses_certainty[only] && !is_special(own, labels[only])) continue;
        if (is_one && !own.usages[nodes[only].first].is_used()) continue;
        Index states = 1;
        for (const std::size_t n : members) states = std::min<Index>(states * labels[n].count, kMostStates + 1);
        if (states > kMostStates) continue;
        Terms::Cluster cluster;
        for (const std::size_t n : members) {
            own.terms.at(nodes[n].first, nodes[n].second).form = Form::clustered;
            own.terms.memberships[nodes[n]] = {own.terms.clusters.size(), cluster.counts.size()};
            cluster.counts.push_back(labels[n].count);
            cluster.pieces.emplace_back(labels[n].piece, labels[n].row);
        }
        cluster.waiting = members.size();
        own.terms.clusters.push_back(std::move(cluster));
    }
}

void declare_cluster(Declarations& own, std::size_t number) {
    Terms::Cluster& cluster = own.terms.clusters[number];
    std::vector<std::pair<std::size_t, Index>> witnesses;  // observed rows that its members choose
    for (std::size_t p = 0; p < own.pieces().size(); ++p) {
        const Piece& piece = own.pieces()[p];
        if (piece.left != Piece::Left::observed || piece.selectors.empty()) continue;
        for (Index row = 0; row < piece.size(); ++row) {
            const auto found =
                own.terms.memberships.find({piece.selectors.front().array, piece.selectors.front().element(row)});
            if (found != own.terms.memberships.end() && found->second.first == number) witnesses.emplace_back(p, row);
        }
    }
    std::vector<Expression> logs;
    std::vector<Index> state(cluster.counts.size(), 0);
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::optional<Expression>>> known;
    const auto log_of = [&]() -> std::optional<Expression> {
        Expression log = 0.0;
        for (std::size_t m = 0; m < state.size(); ++m) {
            const auto& [p, row] = cluster.pieces[m];
            const Piece& piece = own.pieces()[p];
            const std::size_t combination = combination_of(cluster, own, piece, row, state);
            auto found = known.find({m, combination});
            if (found == known.end()) {
                found = known.emplace(std::make_pair(m, combination), logs_of(own, piece, row, combination)).first;
            }
            const std::optional<Expression>& own_log = found->second[static_cast<std::size_t>(state[m])];
            if (!own_log) return std::nullopt;
            log += *own_log;
        }
        for (const auto& [p, row] : witnesses) {
            const Piece& piece = own.pieces()[p];
            if (is_contradicted(own, piece, row, combination_of(cluster, own, piece, row, state))) {
                return std::nullopt;
            }
        }
        return log;
    };
    for (bool is_more = true; is_more;) {
        if (std::optional<Expression> log = log_of()) {
            cluster.states.push_back(state);
            logs.push_back(std::move(*log));
        }
        is_more = false;
        for (std::size_t m = 0; m < state.size() && !is_more; ++m) {
            is_more = ++state[m] < cluster.counts[m];
            if (!is_more) state[m] = 0;
        }
    }
    const auto& [p, row] = cluster.pieces.front();
    const Piece& piece = own.pieces()[p];
    const std::string node = own.node_name(piece, row);
    if (cluster.states.empty()) {
        throw Refused(own.relation(piece).syntax->left.place,
                      fmt::format("no label of {} can be, given what was observed", node));
    }
    if (cluster.states.size() == 1) {  // what was observed leaves one
        own.builder.add_term(logs.front());
        cluster.is_certain = true;
        return;
    }
    const std::string& array = own.left_array(piece).name;
    const std::string group = array + ".cluster";
    own.hidden.push_back(group);
    const Variable<family::Categorical> variable =
        own.builder.add(group + node.substr(array.size()), labels_by_logs(std::move(logs)));
    own.terms.set_tag(variable.model());
    cluster.variable = static_cast<std::int32_t>(variable.index());
}

AnyDistribution Declarations::clustered(const Piece& piece, Index row, std::size_t which) {
    const Terms::Cluster& cluster = terms.clusters[which];
    if (cluster.variable < 0 && !cluster.is_certain)
        throw Refused(relation(piece).syntax->place, "");  // what it is was refused before
    const std::string& name = distribution_name(piece);
    const auto component = [&](const std::vector<Index>& state) -> AnyDistribution {
        const std::size_t combination = combination_of(cluster, *this, piece, row, state);
        if (name == "dcat" || name == "dmulti") return possible_labels(piece, row, combination);
        const bool counts = name == "dbern" || name == "dbin" || name == "dpois";
        if (counts && piece.sum(0, 0, combination).is_constant()) {
            // What is certain adds nothing: states that contradict it are none of the cluster's.
            const double known = piece.sum(0, 0, combination).constant_at(row);
            const bool certain = known == 0.0 || (name != "dpois" && known == 1.0);
            if (certain && name == "dbern") return flat(family::Bernoulli{});
            if (certain && name == "dpois")
                return Distribution<likelihood::Poisson>(likelihood::Poisson{}, flat_node(1));
            if (certain) {
                const auto trials = static_cast<Index>(number(piece, 1, row));
                return Distribution<likelihood::Binomial>(likelihood::Binomial{trials}, flat_node(1));
            }
        }
        return plain(piece, row, combination);
    };
    if (cluster.is_certain) return component(cluster.states.front());
    return std::visit(
        [&]<class F>(const Distribution<F>&) -> AnyDistribution {
            std::vector<Distribution<F>> alike;
            for (const std::vector<Index>& state : cluster.states) {
                alike.push_back(std::get<Distribution<F>>(component(state)));
            }
            const Variable<family::Categorical> variable(
                cluster.variable, terms.tag(), family::Categorical(static_cast<Index>(cluster.states.size())));
            return mixture(variable, alike);
        },
        component(cluster.states.front()));
}

}  // namespace lrvb::detail::text
