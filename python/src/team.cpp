#include "team.hpp"

#include "calls.hpp"
#include "data.hpp"

#include <lrvb/data/row_team.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/mixture/sums.hpp>
#include <lrvb/query/row_tallies.hpp>

#include <fmt/format.h>

#include <memory>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <utility>

namespace lrvb::python {

namespace {

using Doubles = py::array_t<double, py::array::c_style>;

// Those who have the rows, as a function of Python: ask(question, asked) → answer.
class PythonTeam final : public RowTeam {
  public:
    explicit PythonTeam(const py::function& ask) : ask_(kept(ask)) {}

    std::string ask(const std::string& question, const std::string& asked) override {
        interruption_point();
        const py::gil_scoped_acquire gil;
        const auto& function = *static_cast<const py::object*>(ask_.get());
        return py::cast<std::string>(function(question, py::bytes(asked)));
    }

  private:
    std::shared_ptr<const void> ask_;
};

const RowQuestion& question_of(const std::string& name) {
    static const std::vector<RowQuestion> questions = [] {
        std::vector<RowQuestion> all = row_questions();
        for (RowQuestion& question : data_questions()) all.push_back(std::move(question));
        return all;
    }();
    for (const RowQuestion& question : questions) {
        if (question.name == name) return question;
    }
    throw std::invalid_argument(fmt::format("nobody knows the question {}: is it another version that asks?", name));
}

RowShare share_of(const Doubles& rows, Index first, const std::string& name, const std::vector<std::string>& columns) {
    if (rows.ndim() != 2 || rows.shape(0) < 1 || rows.shape(1) < 1) {
        throw std::invalid_argument("rows must be an array of two dimensions that is not empty");
    }
    // What messages call them; nothing is copied but what they are read through.
    std::vector<double> numbers(rows.data(), rows.data() + rows.size());
    std::vector<std::string> names = columns;
    for (auto at = static_cast<Index>(names.size()); at < rows.shape(1); ++at)
        names.push_back(fmt::format("{}", at + 1));
    return {std::make_shared<TableSource>(std::move(numbers), name, names), first, rows.shape(0)};
}

py::bytes answer(const std::string& question, const Doubles& rows, Index first, const std::string& asked,
                 const std::string& name, const std::vector<std::string>& columns) {
    RowShare share = share_of(rows, first, name, columns);
    std::string result;
    {
        const Unlocked unlocked;
        result = question_of(question).answer(share, asked);
    }
    return {result};
}

py::bytes merge(const std::string& question, const std::string& left, const std::string& right) {
    std::string result;
    {
        const Unlocked unlocked;
        result = question_of(question).merge(left, right);
    }
    return {result};
}

}  // namespace

void bind_team(py::module_& module) {
    register_query_tallies();
    module.attr("SHARE_ROWS") = kShareRows;
    module.def("answer_question", &answer, py::arg("question"), py::arg("rows"), py::arg("first"), py::arg("asked"),
               py::arg("name") = "rows", py::arg("columns") = std::vector<std::string>());
    module.def("merge_answers", &merge);
    module.def("team_data", [](const py::function& ask, const std::string& name,
                               const std::vector<std::string>& columns, Index rows) {
        return Data::from_source(std::make_shared<TeamRows>(std::make_shared<PythonTeam>(ask), name, columns, rows));
    });
    py::class_<MixtureSums>(
        module, "MixtureSums",
        "What a pass of a mixture sums over a chunk of rows, as a value that adds up: for engines of one's own.\n\n"
        "``sums + next`` are those of both chunks, the rows of `next` following; ``bytes(sums)`` and pickles are for\n"
        "messages between processes of one version. ``lrvb._dask`` is such an engine.\n\n"
        "Examples\n--------\n"
        ">>> import lrvb\n"
        ">>> sums = lrvb.MixtureSums()\n"
        ">>> lrvb.MixtureSums(bytes(sums)) == sums\n"
        "True\n")
        .def(py::init<>())
        .def(py::init([](const py::bytes& bytes) { return MixtureSums::from_bytes(static_cast<std::string>(bytes)); }))
        .def("__add__", [](const MixtureSums& left, const MixtureSums& right) { return left + right; })
        .def("__bytes__", [](const MixtureSums& self) { return py::bytes(self.bytes()); })
        .def("__eq__", [](const MixtureSums& left, const MixtureSums& right) { return left.bytes() == right.bytes(); })
        .def_property_readonly("first_block", &MixtureSums::first_block)
        .def_property_readonly("end_block", &MixtureSums::end_block)
        .def_property_readonly("log_sum", &MixtureSums::log_sum)
        .def(
            py::pickle([](const MixtureSums& self) { return py::bytes(self.bytes()); },
                       [](const py::bytes& bytes) { return MixtureSums::from_bytes(static_cast<std::string>(bytes)); }))
        .def_static("of", [](const Doubles& rows, Index first, const std::string& asked) {
            RowShare share = share_of(rows, first, "rows", {});
            const Unlocked unlocked;
            return mixture_sums(share, asked);
        });
}

}  // namespace lrvb::python
