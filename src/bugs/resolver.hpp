#pragma once

#include "bugs/evaluator.hpp"
#include "bugs/plates.hpp"
#include "bugs/uses.hpp"

#include <lrvb/bugs/graph.hpp>

#include <set>
#include <string>
#include <vector>

namespace lrvb::bugs {

/// What a block means, given what is known before it: names resolved, extents found, everything computed that can be.
/// Relations are taken by strongly connected components of "uses": those that use nothing but earlier ones are computed
/// over whole plates, and only those within a circle of names (x[t] by x[t-1]) row by row.
class Resolver {
  public:
    /// `known` holds the data, and arrays that were declared. What is wrong goes to `problems`.
    /// `infinite` are arrays among the known ones with values that are no finite numbers.
    Resolver(const Block& block, Table known, std::set<std::string> infinite, Diagnostics& problems,
             const GraphOptions& options);

    void run();

    Table table;
    std::vector<GraphRelation> relations;
    std::vector<Step> steps;

  private:
    struct Placed {
        std::shared_ptr<const Plate> plate;
        std::vector<Columns> indices;  // on the left, of an array whose extents are to be found
        std::size_t relation = kNotPlaced;
        bool is_empty = false;  // its loops have no rounds
    };
    static constexpr std::size_t kNotPlaced = static_cast<std::size_t>(-1);

    void find_undefined();
    void say_undefined(const Use& use, const Relation& relation);
    std::vector<std::vector<std::size_t>> dependencies() const;
    bool asks_known_extent(const Use& use) const;

    void place(const std::vector<std::size_t>& component);
    void place(std::size_t which, const std::vector<std::size_t>& component);
    void find_indices(std::size_t which);
    void require_few_nodes(std::size_t which, Index more) const;
    void check_few_nodes(std::size_t which);
    bool infer_from_right(std::size_t which);
    void allocate_if_whole(const std::string& name);
    void allocate(const std::string& name, std::vector<Index> dims, const Place& place);
    void define(std::size_t which);
    void say_defined_twice(std::size_t which, Index element, std::uint32_t row);

    void compute_waiting();
    bool is_ready(const std::vector<std::size_t>& component) const;
    void compute(const std::vector<std::size_t>& component);
    bool check_uses(std::size_t which);
    void check_defined(const Use& use, const GraphRelation& relation);
    void require_finite(const Use& use, const Evaluator& evaluator) const;
    void check_extents(std::size_t which);
    void fold(std::size_t which, const Rows* rows);
    void assign(const GraphRelation& graph, const Rows& rows, const Columns& values);
    void set_state(std::size_t array, Index element, State state);

    void compute_by_rows(const std::vector<std::size_t>& component);
    bool is_never_known(std::size_t which, const std::vector<std::size_t>& component) const;
    void keep_depths(const std::vector<std::size_t>& component, const std::vector<std::size_t>& offsets,
                     const std::vector<std::uint32_t>& depths);
    void say_circle(const std::vector<std::size_t>& component, const std::vector<std::size_t>& offsets,
                    const std::vector<std::pair<std::size_t, std::size_t>>& edges, const std::vector<bool>& is_left);

    void break_relation(std::size_t which);
    const Relation& written_as(std::size_t which) const { return block_.relations[which]; }
    GraphRelation& graph_relation(std::size_t which) { return relations[placed_[which].relation]; }

    const Block& block_;
    Diagnostics& problems_;
    GraphOptions options_;
    std::vector<Uses> uses_;
    std::unordered_map<std::string, std::vector<std::size_t>> definers_;
    std::vector<Placed> placed_;
    std::set<std::string> broken_;    // names of which something is wrong that was said
    std::set<std::string> infinite_;  // arrays with constants that are no finite numbers
    std::vector<std::vector<std::size_t>> waiting_;
    std::vector<Index> known_counts_;  // of the arrays of the table
    Index unknown_count_ = 0;          // nodes that are not known, of all arrays
    std::unique_ptr<Plates> plates_;
};

}  // namespace lrvb::bugs
