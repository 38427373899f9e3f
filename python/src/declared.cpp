#include "declared.hpp"

#include <lrvb/model/builder.hpp>

#include <fmt/format.h>

#include <memory>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/operators.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <utility>
#include <variant>

namespace lrvb::python {

namespace {

using AnyHandle = std::variant<Variable<family::Normal>, Variable<family::MvNormal>, Variable<family::Gamma>,
                               Variable<family::Wishart>, Variable<family::Dirichlet>, Variable<family::Beta>,
                               Variable<family::Bernoulli>, Variable<family::Categorical>>;
using DistributionKind =
    std::variant<Distribution<family::Normal>, Distribution<family::MvNormal>, Distribution<family::Gamma>,
                 Distribution<family::Wishart>, Distribution<family::Dirichlet>, Distribution<family::Beta>,
                 Distribution<family::Bernoulli>, Distribution<family::Categorical>, Distribution<likelihood::Poisson>,
                 Distribution<likelihood::Binomial>, Distribution<likelihood::Multinomial>>;

/// A distribution of any kind.
struct AnyDistribution {
    template <class F>
    AnyDistribution(Distribution<F> one) : kind(std::move(one)) {}

    DistributionKind kind;
};

/// A variable of any family, with its name.
struct Handle {
    std::string name;
    AnyHandle variable;

    std::string family() const {
        return std::visit([](const auto& one) { return std::string(std::decay_t<decltype(one.family())>::name); },
                          variable);
    }
    [[noreturn]] void refuse(const std::string& what) const {
        throw std::invalid_argument(fmt::format("variable '{}' ~ {}: {}", name, family(), what));
    }
    Expression value() const {
        return std::visit(
            [&](const auto& one) -> Expression {
                if constexpr (std::is_convertible_v<decltype(one), Expression>) {
                    return one;
                } else {
                    refuse("is no number: take an entry of it, as in x[0]");
                }
            },
            variable);
    }
    Expression entry(Index i) const {
        return std::visit(
            [&](const auto& one) -> Expression {
                if constexpr (requires { one[i]; }) {
                    return one[i];
                } else {
                    refuse("has no entries that one number counts");
                }
            },
            variable);
    }
    Expression entry(Index i, Index j) const {
        const auto* const matrix = std::get_if<Variable<family::Wishart>>(&variable);
        if (matrix == nullptr) refuse("is no matrix");
        return (*matrix)(i, j);
    }
    Expression logarithm() const {
        if (const auto* const gamma = std::get_if<Variable<family::Gamma>>(&variable)) return log(*gamma);
        if (const auto* const beta = std::get_if<Variable<family::Beta>>(&variable)) return log(*beta);
        if (const auto* const matrix = std::get_if<Variable<family::Wishart>>(&variable)) return log_det(*matrix);
        refuse("has no logarithm among its statistics: those of Gamma, Beta and Wishart variables have");
    }
};

Expression expression_of(const py::handle& object) {
    if (py::isinstance<Expression>(object)) return py::cast<Expression>(object);
    if (py::isinstance<Handle>(object)) return py::cast<const Handle&>(object).value();
    try {
        return py::cast<double>(object);
    } catch (const py::cast_error&) {
        throw py::type_error(
            fmt::format("a parameter is a {}, but must be a number, a variable or an expression of them",
                        py::cast<std::string>(py::str(py::type::of(object).attr("__name__")))));
    }
}

template <class Family>
const Variable<Family>* variable_of(const py::handle& object) {
    if (!py::isinstance<Handle>(object)) return nullptr;
    return std::get_if<Variable<Family>>(&py::cast<const Handle&>(object).variable);
}

std::vector<Expression> expressions_of(const py::handle& object) {
    std::vector<Expression> entries;
    for (const py::handle& entry : py::iter(object)) entries.push_back(expression_of(entry));
    return entries;
}

VectorParameter vector_of(const py::handle& object) {
    if (const auto* const variable = variable_of<family::MvNormal>(object)) return *variable;
    return expressions_of(object);
}

MatrixParameter matrix_of(const py::handle& object) {
    if (const auto* const variable = variable_of<family::Wishart>(object)) return *variable;
    if (py::isinstance<MatrixParameter>(object)) return py::cast<MatrixParameter>(object);
    return py::cast<Matrix>(object);
}

SimplexParameter simplex_of(const py::handle& object) {
    if (const auto* const variable = variable_of<family::Dirichlet>(object)) return *variable;
    return expressions_of(object);
}

// The components of a mixture, which must be of one kind.
AnyDistribution mixture_of(const Handle& choice, const std::vector<AnyDistribution>& components) {
    const auto* const label = std::get_if<Variable<family::Categorical>>(&choice.variable);
    if (label == nullptr) choice.refuse("chooses no component: declare it as categorical");
    if (components.empty()) throw std::invalid_argument("mixture: there are no components: give as many as labels");
    return std::visit(
        [&](const auto& first) -> AnyDistribution {
            using Kind = std::decay_t<decltype(first)>;
            std::vector<Kind> alike;
            for (const AnyDistribution& component : components) {
                const Kind* const one = std::get_if<Kind>(&component.kind);
                if (one == nullptr) detail::refuse_unlike_components();
                alike.push_back(*one);
            }
            return mixture(*label, alike);
        },
        components.front().kind);
}

/// The builder, and what it is told in Python's words.
class Builder {
  public:
    Expression hyperparameter(const std::string& name, double value) { return own_.hyperparameter(name, value); }
    Rows rows(const std::string& name, Index count) { return own_.rows(name, count); }

    Handle add(const std::string& name, const AnyDistribution& distribution, const Row& row) {
        return std::visit(
            [&](const auto& one) -> Handle {
                if constexpr (requires { Handle{name, own_.add(name, one, row)}; }) {
                    return {name, own_.add(name, one, row)};
                } else {
                    throw std::invalid_argument(
                        fmt::format("variable '{}': {} is a distribution of data alone: observe it instead", name,
                                    std::decay_t<decltype(one.family())>::name));
                }
            },
            distribution.kind);
    }

    /// One row: a number, a vector, or, of a normal, an expression.
    void observe(const py::object& value, const AnyDistribution& distribution, const Row& row) {
        if (const auto* const normal = std::get_if<Distribution<family::Normal>>(&distribution.kind)) {
            own_.observe(expression_of(value), *normal, row);
            return;
        }
        if (const auto* const normal = std::get_if<Distribution<family::MvNormal>>(&distribution.kind)) {
            own_.observe(vector_of(value), *normal, row);
            return;
        }
        const Vector numbers = py::isinstance<py::float_>(value) || py::isinstance<py::int_>(value)
                                   ? Vector::Constant(1, py::cast<double>(value))
                                   : py::cast<Vector>(value);
        std::visit(
            [&](const auto& one) {
                using Kind = std::decay_t<decltype(one)>;
                if constexpr (!std::is_same_v<Kind, Distribution<family::Normal>> &&
                              !std::is_same_v<Kind, Distribution<family::MvNormal>>) {
                    own_.observe(numbers, one, row);
                }
            },
            distribution.kind);
    }

    /// Rows that share a distribution.
    void observe_rows(const Matrix& values, const AnyDistribution& distribution, const Rows& rows) {
        std::visit([&](const auto& one) { own_.observe_rows(values, one, rows); }, distribution.kind);
    }

    void observe_linear(const Vector& y, const Matrix& design, const py::object& coefficients,
                        const py::object& precision, const Rows& rows) {
        own_.observe_linear(y, design, vector_of(coefficients), expression_of(precision), rows);
    }
    void observe_counts(const Vector& counts, const Vector& exposures, const py::object& rate, const Rows& rows) {
        own_.observe_counts(counts, exposures, expression_of(rate), rows);
    }
    void add_term(const py::object& term) { own_.add_term(expression_of(term)); }
    std::shared_ptr<const MultilinearModel> build() const {
        return std::make_shared<const MultilinearModel>(own_.build());
    }

  private:
    ModelBuilder own_;
};

template <class Class>
void bind_arithmetic(py::class_<Class>& bound) {
    // What is neither a number nor one of ours, such as an array, is asked to do it itself.
    const auto operation = [](auto combine) {
        return [combine](const py::object& self, const py::object& other) -> py::object {
            const bool is_known = py::isinstance<Expression>(other) || py::isinstance<Handle>(other) ||
                                  py::isinstance<py::float_>(other) || py::isinstance<py::int_>(other);
            if (!is_known) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
            return py::cast(combine(expression_of(self), expression_of(other)));
        };
    };
    const auto add = [](const Expression& a, const Expression& b) { return a + b; };
    const auto times = [](const Expression& a, const Expression& b) { return a * b; };
    bound.def("__add__", operation(add))
        .def("__radd__", operation(add))
        .def("__mul__", operation(times))
        .def("__rmul__", operation(times))
        .def("__sub__", operation([](const Expression& a, const Expression& b) { return a - b; }))
        .def("__rsub__", operation([](const Expression& a, const Expression& b) { return b - a; }))
        .def("__neg__", [](const py::object& self) { return -expression_of(self); });
}

}  // namespace

void bind_declared(py::module_& module) {
    py::class_<Expression> expression(module, "Expression");
    py::class_<Handle> handle(module, "Variable");
    bind_arithmetic(expression);
    bind_arithmetic(handle);
    handle.def_readonly("name", &Handle::name)
        .def_property_readonly("family", &Handle::family)
        .def("log", &Handle::logarithm)
        .def("__getitem__", [](const Handle& self, Index i) { return self.entry(i); })
        .def("__getitem__",
             [](const Handle& self, std::pair<Index, Index> at) { return self.entry(at.first, at.second); })
        // Without this Python would count entries until it runs into an error.
        .def("__iter__",
             [](const Handle& self) -> py::iterator { self.refuse("cannot be counted through: take its entries"); })
        .def("__repr__", [](const Handle& self) { return fmt::format("<{} ~ {}>", self.name, self.family()); });
    py::class_<MatrixParameter>(module, "MatrixParameter");
    module.def("scaled", [](const py::object& scale, const py::object& matrix) {
        return scaled(expression_of(scale), matrix_of(matrix));
    });

    py::class_<AnyDistribution>(module, "Distribution");
    module.def("normal", [](const py::object& mean, const py::object& precision) -> AnyDistribution {
        return normal(expression_of(mean), expression_of(precision));
    });
    module.def("mv_normal", [](const py::object& mean, const py::object& precision) -> AnyDistribution {
        return mv_normal(vector_of(mean), matrix_of(precision));
    });
    module.def("gamma", [](const py::object& shape, const py::object& rate) -> AnyDistribution {
        return gamma(expression_of(shape), expression_of(rate));
    });
    module.def("exponential",
               [](const py::object& rate) -> AnyDistribution { return exponential(expression_of(rate)); });
    module.def("wishart", [](const py::object& dof, const py::object& inverse_scale) -> AnyDistribution {
        return wishart(expression_of(dof), matrix_of(inverse_scale));
    });
    module.def("dirichlet", [](const py::object& alpha) -> AnyDistribution { return dirichlet(vector_of(alpha)); });
    module.def("beta", [](const py::object& a, const py::object& b) -> AnyDistribution {
        return beta(expression_of(a), expression_of(b));
    });
    module.def("bernoulli", [](const py::object& p) -> AnyDistribution { return bernoulli(expression_of(p)); });
    module.def("categorical", [](const py::object& p) -> AnyDistribution { return categorical(simplex_of(p)); });
    module.def("poisson", [](const py::object& rate, double exposure) -> AnyDistribution {
        return poisson(expression_of(rate), exposure);
    });
    module.def("binomial",
               [](Index trials, const py::object& p) -> AnyDistribution { return binomial(trials, expression_of(p)); });
    module.def("multinomial", [](const py::object& p) -> AnyDistribution { return multinomial(simplex_of(p)); });
    module.def("mixture", &mixture_of);

    py::class_<Row>(module, "Row").def(py::init<>());
    py::class_<Rows>(module, "Rows")
        .def(py::init<>())
        .def_property_readonly("name", [](const Rows& rows) { return rows.name(); })
        .def("__len__", [](const Rows& rows) { return rows.count(); })
        .def("__getitem__", [](const Rows& rows, Index i) { return rows[i]; })
        .def("named", [](const Rows& rows, const std::string& input) { return rows.as(input); });
    py::class_<MultilinearModel, std::shared_ptr<MultilinearModel>>(module, "DeclaredModel");
    py::class_<Builder>(module, "Builder")
        .def(py::init<>())
        .def("hyperparameter", &Builder::hyperparameter)
        .def("rows", &Builder::rows)
        .def("add", &Builder::add)
        .def("observe", &Builder::observe)
        .def("observe_rows", &Builder::observe_rows)
        .def("observe_linear", &Builder::observe_linear)
        .def("observe_counts", &Builder::observe_counts)
        .def("add_term", &Builder::add_term)
        .def("build", [](const Builder& self) { return std::const_pointer_cast<MultilinearModel>(self.build()); });
}

}  // namespace lrvb::python
