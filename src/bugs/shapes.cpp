#include "bugs/shapes.hpp"

#include "base/messages.hpp"
#include "bugs/functions.hpp"
#include "bugs/tree.hpp"

#include <lrvb/bugs/words.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::bugs {

namespace {

using lrvb::detail::shown;

/// Extents of one say nothing: a row of a matrix is a vector.
std::vector<Index> shape_of_array(std::vector<Index> dims) {
    std::erase(dims, Index{1});
    return dims;
}

/// The name that makes an array of a value that is computed number by number; null where there is none.
const Expression* array_within(const Expression& expression, const Evaluator& evaluator) {
    const Expression* found = nullptr;
    const auto enter = [&](const Expression& node) {
        if (found != nullptr) return false;
        if (node.kind == Expression::Kind::variable) {
            evaluator.each_dims(node, [&](const std::vector<Index>& dims) {
                if (size_of(dims) > 1) found = &node;
            });
            return false;
        }
        const FunctionWord* word = node.kind == Expression::Kind::call ? find_function(node.name) : nullptr;
        return word != nullptr && word->is_elementwise;
    };
    walk(expression, enter, [](const Expression&, const Expression*) {});
    return found;
}

class ShapeCheck {
  public:
    ShapeCheck(const Relation& relation, const std::vector<Index>& left, const Evaluator& evaluator)
        : relation_(relation),
          evaluator_(evaluator),
          word_(*find_distribution(relation.right.name)),
          left_(shape_of_array(left)),
          left_size_(size_of(left)) {}

    void check() const {
        check_left();
        for (std::size_t i = 0; i < word_.arguments.size(); ++i) {
            const Expression& argument = relation_.right.parts[i];
            const std::string what = fmt::format("the {} of {}", word_.arguments[i], shown(word_.name));
            const char shape = word_.shapes.empty() ? 'n' : word_.shapes[i];
            evaluator_.each_dims(argument, [&](const std::vector<Index>& dims) {
                if (size_of(dims) == 0) throw EvaluationProblem{argument.place, no_elements(argument, what)};
                if (shape == 'n') require_number(argument, dims, what);
                if (shape == 'v' && word_.is_multivariate) require_vector(argument, dims, what);
                if (shape == 'm') require_matrix(argument, dims, what);
            });
        }
        if (!relation_.truncation) return;
        for (const std::optional<Expression>* bound : {&relation_.truncation->lower, &relation_.truncation->upper}) {
            if (!*bound) continue;
            const std::string what = fmt::format("a bound of {}(,)", relation_.truncation->letter);
            evaluator_.each_dims(**bound, [&](const std::vector<Index>& dims) {
                if (size_of(dims) == 0) throw EvaluationProblem{(*bound)->place, no_elements(**bound, what)};
                require_number(**bound, dims, what);
            });
        }
    }

  private:
    bool has_matrix_on_the_left() const { return word_.name == "dwish" || word_.name == "dscaled.wishart"; }

    void check_left() const {
        if (!word_.is_multivariate) return;
        const bool is_square = left_size_ == 1 || (left_.size() == 2 && left_[0] == left_[1]);
        if (has_matrix_on_the_left() ? is_square : left_.size() <= 1) return;
        throw EvaluationProblem{
            relation_.left.place,
            fmt::format("{} is a distribution of {}, but the left side has {}", shown(word_.name),
                        has_matrix_on_the_left() ? "square matrices" : "vectors", extents_text(left_))};
    }

    void require_number(const Expression& argument, const std::vector<Index>& dims, const std::string& what) const {
        if (size_of(dims) == 1) return;
        const Expression* array = array_within(argument, evaluator_);
        const std::string remedy =
            array == nullptr      ? std::string("take one element of it, by a name: v <- …, then v[i]")
            : array->has_brackets ? fmt::format("give {} single indices", shown(written(*array)))
                                  : fmt::format("give {} an index, as in {}[i]", shown(array->name),
                                                lrvb::detail::printable(array->name));
        throw EvaluationProblem{argument.place,
                                fmt::format("{} is one number, but this has {}: {}", what, extents_text(dims), remedy)};
    }

    Index wanted_size() const { return has_matrix_on_the_left() && !left_.empty() ? left_[0] : left_size_; }

    void require_vector(const Expression& argument, const std::vector<Index>& dims, const std::string& what) const {
        if (shape_of_array(dims).size() <= 1 && size_of(dims) == wanted_size()) return;
        throw EvaluationProblem{argument.place, fmt::format("{} has {}, but must be a vector of {}, as the left side "
                                                            "says",
                                                            what, extents_text(dims), wanted_size())};
    }

    void require_matrix(const Expression& argument, const std::vector<Index>& dims, const std::string& what) const {
        const Index size = wanted_size();
        const std::vector<Index> wanted = shape_of_array({size, size});
        if (shape_of_array(dims) == wanted) return;
        throw EvaluationProblem{argument.place, fmt::format("{} has {}, but must be {} × {}, as the left side says",
                                                            what, extents_text(dims), size, size)};
    }

    const Relation& relation_;
    const Evaluator& evaluator_;
    const DistributionWord& word_;
    std::vector<Index> left_;
    Index left_size_;
};

}  // namespace

void require_shapes(const Relation& relation, const std::vector<Index>& left, const Evaluator& evaluator) {
    ShapeCheck(relation, left, evaluator).check();
}

}  // namespace lrvb::bugs
