#include "comparison.hpp"
#include "data.hpp"
#include "declared.hpp"
#include "fit.hpp"
#include "queries.hpp"
#include "team.hpp"

#include <lrvb/bugs/diagnostics.hpp>
#include <lrvb/formula/formula.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/linalg/factor_too_large.hpp>

#include <cmath>
#include <cstring>
#include <exception>
#include <pybind11/eigen.h>
#include <pybind11/stl.h>
#include <stdexcept>

/// lrvb._core: what the Python package is made of. It says what the library says; the package above it says it in
/// Python's words.
namespace lrvb::python {

namespace {

// The classes that the package defines for them, by name, and its words.
[[noreturn]] void raise(const char* name, const char* text) {
    const py::module_ errors = py::module_::import("lrvb._errors");
    const auto length = static_cast<py::ssize_t>(std::strlen(text));
    auto said = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(text, length, "replace"));
    if (!said) throw py::error_already_set();
    // What is wrong with a text is shown with that text, in which dashes are no options.
    if (std::strcmp(name, "ModelError") != 0) said = errors.attr("in_python")(said);
    PyErr_SetObject(errors.attr(name).ptr(), said.ptr());
    throw py::error_already_set();
}

void translate(std::exception_ptr thrown) {
    const auto set = [](const char* name, const std::exception& error) {
        try {
            raise(name, error.what());
        } catch (py::error_already_set& set_error) {
            set_error.restore();
        }
    };
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const py::builtin_exception& error) {  // one of Python's own
        error.set_error();
    } catch (const NotAnOptimum& error) {
        set("NotConverged", error);
    } catch (const FactorTooLarge& error) {
        set("TooLarge", error);
    } catch (const UsageError& error) {
        set("UsageError", error);
    } catch (const bugs::ModelError& error) {
        set("ModelError", error);
    } catch (const std::runtime_error& error) {
        set("DataError", error);
    } catch (const std::invalid_argument& error) {
        set("UsageError", error);
    } catch (const std::length_error& error) {
        set("UsageError", error);
    }
}

void bind_drawing(py::module_& module) {
    py::class_<DrawingPanel::Bars>(module, "Bars")
        .def_readonly("start", &DrawingPanel::Bars::start)
        .def_readonly("step", &DrawingPanel::Bars::step)
        .def_readonly("heights", &DrawingPanel::Bars::heights);
    py::class_<DrawingPanel>(module, "Panel")
        .def_readonly("across", &DrawingPanel::across)
        .def_readonly("up", &DrawingPanel::up)
        .def_readonly("places", &DrawingPanel::places)
        .def_readonly("up_from_zero", &DrawingPanel::up_from_zero)
        .def_property_readonly("bars", [](const DrawingPanel& panel) { return panel.bars; })
        .def_property_readonly("cells",
                               [](const DrawingPanel& panel) {
                                   Matrix cells(static_cast<Index>(panel.cells.size()), 6);
                                   for (std::size_t i = 0; i < panel.cells.size(); ++i) {
                                       const DrawingPanel::Cell& cell = panel.cells[i];
                                       cells.row(static_cast<Index>(i)) << cell.left, cell.right, cell.low, cell.high,
                                           cell.share, static_cast<double>(cell.part);
                                   }
                                   return cells;
                               })
        .def_property_readonly("points",
                               [](const DrawingPanel& panel) {
                                   Matrix points(static_cast<Index>(panel.points.size()), 3);
                                   for (std::size_t i = 0; i < panel.points.size(); ++i) {
                                       const DrawingPanel::Point& point = panel.points[i];
                                       points.row(static_cast<Index>(i)) << point.x, point.y,
                                           static_cast<double>(point.part);
                                   }
                                   return points;
                               })
        .def_property_readonly("bands",
                               [](const DrawingPanel& panel) {
                                   std::vector<std::tuple<Vector, Vector, Vector>> bands;
                                   for (const auto& band : panel.bands) bands.emplace_back(band.x, band.low, band.high);
                                   return bands;
                               })
        .def_property_readonly("curves",
                               [](const DrawingPanel& panel) {
                                   std::vector<std::tuple<Vector, Vector, Index>> curves;
                                   for (const auto& curve : panel.curves)
                                       curves.emplace_back(curve.x, curve.y, curve.part);
                                   return curves;
                               })
        .def_property_readonly("intervals",
                               [](const DrawingPanel& panel) {
                                   Matrix intervals(static_cast<Index>(panel.intervals.size()), 4);
                                   for (std::size_t i = 0; i < panel.intervals.size(); ++i) {
                                       const DrawingPanel::Interval& one = panel.intervals[i];
                                       intervals.row(static_cast<Index>(i)) << one.at, one.mean, one.lower, one.upper;
                                   }
                                   return intervals;
                               })
        .def_property_readonly("centres", [](const DrawingPanel& panel) {
            std::vector<std::tuple<double, double, std::string, Index>> centres;
            for (const auto& centre : panel.centres) centres.emplace_back(centre.x, centre.y, centre.text, centre.part);
            return centres;
        });
    py::class_<Drawing>(module, "Drawing")
        .def_readonly("caption", &Drawing::caption)
        .def_readonly("panels", &Drawing::panels)
        .def_readonly("left_out", &Drawing::left_out);
}

void bind_check(py::module_& module) {
    py::class_<CheckedVariable>(module, "CheckedVariable")
        .def_readonly("name", &CheckedVariable::name)
        .def_readonly("mean_lrvb", &CheckedVariable::mean_lrvb)
        .def_readonly("sd_lrvb", &CheckedVariable::sd_lrvb)
        .def_property_readonly("mean_exact", &CheckedVariable::shown_mean_exact)
        .def_property_readonly("sd_exact", &CheckedVariable::shown_sd_exact)
        .def_property_readonly("shift", &CheckedVariable::shown_shift)
        .def_property_readonly("ratio", &CheckedVariable::shown_ratio)
        .def_readonly("shift_se", &CheckedVariable::shift_se)
        .def_readonly("ratio_se", &CheckedVariable::ratio_se)
        .def_readonly("verdict", &CheckedVariable::verdict);
    py::class_<CheckResult, std::shared_ptr<CheckResult>>(module, "CheckResult")
        .def_property_readonly("method", [](const CheckResult& self) { return std::string(to_string(self.method)); })
        .def_readonly("draws", &CheckResult::draws)
        .def_readonly("seed", &CheckResult::seed)
        .def_readonly("variables", &CheckResult::variables)
        .def_property_readonly("verdict", [](const CheckResult& self) { return std::string(to_string(self.verdict)); })
        .def_readonly("trust", &CheckResult::trust)
        .def_readonly("message", &CheckResult::message)
        .def_readonly("ess", &CheckResult::ess)
        .def_readonly("k_hat", &CheckResult::k_hat)
        .def_readonly("r_hat", &CheckResult::r_hat);
    py::class_<Check, CheckResult, std::shared_ptr<Check>>(module, "Check")
        .def_readonly("reliable", &Check::reliable)
        .def_readonly("chains", &Check::chains)
        .def_property_readonly("is_integrated", [](const Check& self) { return self.integrated.has_value(); })
        .def_property_readonly("count", [](const Check& self) { return self.values.cols(); })
        .def("draws_of", &draws_of, Guard())
        .def("log_density_of", [](const Check& self, Index count) {
            const std::vector<Index> draws = draw_positions(self, count);
            Vector result(count);
            for (Index i = 0; i < count; ++i) result[i] = self.log_density[draws[static_cast<std::size_t>(i)]];
            return result;
        });
    py::class_<Loo>(module, "Loo")
        .def_property_readonly("method",
                               [](const Loo& self) { return self.method == LooMethod::draws ? "draws" : "response"; })
        .def_readonly("elpd", &Loo::elpd)
        .def_readonly("lpd", &Loo::lpd)
        .def_readonly("weights", &Loo::weights)
        .def_readonly("k_hat", &Loo::k_hat)
        .def_readonly("reach", &Loo::reach)
        .def_readonly("elpd_loo", &Loo::elpd_loo)
        .def_readonly("elpd_se", &Loo::elpd_se)
        .def_readonly("p_loo", &Loo::p_loo)
        .def_readonly("p_loo_se", &Loo::p_loo_se)
        .def_readonly("parameters", &Loo::parameters)
        .def_property_readonly("doubtful_rows", &Loo::doubtful_rows)
        .def("trust", &Loo::trust);
}

void bind_fit(py::module_& module) {
    py::class_<Request>(module, "Request")
        .def(py::init<>())
        .def_readwrite("kind", &Request::kind)
        .def_readwrite("settings", &Request::settings)
        .def_readwrite("seed", &Request::seed)
        .def_readwrite("tolerance", &Request::tolerance)
        .def_readwrite("max_iterations", &Request::max_iterations)
        .def_readwrite("check", &Request::check)
        .def_readwrite("seconds", &Request::seconds)
        .def_readwrite("threads", &Request::threads)
        .def_readwrite("progress", &Request::progress);
    py::class_<Fit, std::shared_ptr<Fit>> fit(module, "Fit");
    const auto file = [](auto part) { return [part](const Fit& self) { return part(self.file()); }; };
    fit.def_property_readonly("kind", file([](const FitFile& f) { return std::string(f.model->kind()); }))
        .def_property_readonly("headline", file([](const FitFile& f) { return f.model->headline(); }))
        .def_property_readonly("title", file([](const FitFile& f) { return f.model->title(f.data); }))
        .def_property_readonly("description", file([](const FitFile& f) { return f.model->description(); }))
        .def_property_readonly("prediction_note", file([](const FitFile& f) { return f.model->prediction_note(); }))
        .def_property_readonly("converged", file([](const FitFile& f) { return f.converged(); }))
        .def_property_readonly("termination",
                               file([](const FitFile& f) { return std::string(to_string(f.outcome.termination)); }))
        .def_property_readonly("message", file([](const FitFile& f) { return f.outcome.message; }))
        .def_property_readonly("bound", file([](const FitFile& f) { return f.outcome.bound; }))
        .def_property_readonly("step", file([](const FitFile& f) { return f.outcome.step; }))
        .def_property_readonly("passes", file([](const FitFile& f) { return f.outcome.passes; }))
        .def_property_readonly("iterations",
                               file([](const FitFile& f) { return f.outcome.sweeps + f.outcome.newton_steps; }))
        .def_property_readonly("seed", file([](const FitFile& f) { return f.options.seed; }))
        .def_property_readonly("warnings", file([](const FitFile& f) { return f.warnings; }))
        .def_property_readonly("notes", file([](const FitFile& f) { return f.notes; }))
        .def_property_readonly("data_name", file([](const FitFile& f) { return f.data.name; }))
        .def_property_readonly("columns", file([](const FitFile& f) { return f.data.columns; }))
        .def_property_readonly("rows", file([](const FitFile& f) { return f.data.rows; }))
        .def_property_readonly("dropped", file([](const FitFile& f) { return f.data.dropped; }))
        .def_property_readonly("is_corrected", file([](const FitFile& f) { return f.correction.has_value(); }))
        .def_property_readonly(
            "correction", file([](const FitFile& f) -> std::optional<std::tuple<std::string, Vector, Vector>> {
                if (!f.correction) return std::nullopt;
                return std::make_tuple(f.correction->method, f.correction->response_mean, f.correction->response_sd);
            }))
        .def_property_readonly("correction_text",
                               file([](const FitFile& f) { return f.correction ? f.correction->how : std::string(); }))
        .def_property_readonly("other_optima",
                               file([](const FitFile& f) { return other_optima_text(f.posterior, f.other_optima); }))
        .def_property_readonly("check_result",
                               file([](const FitFile& f) -> std::optional<CheckResult> { return f.check; }))
        .def_property_readonly("has_data", &Fit::has_data)
        .def(
            "has_rows", [](const Fit& self) { return self.has_data() && self.with_data().has_rows(); }, Guard())
        .def_property_readonly("threads", &Fit::threads)
        .def_property_readonly("data", &Fit::data)
        .def("variables", file([](const FitFile& f) {
                 std::vector<std::tuple<std::string, std::string, std::vector<std::string>, std::vector<std::string>,
                                        std::string, bool, bool, bool>>
                     result;
                 for (const PosteriorVariable& variable : f.posterior.variables) {
                     const VariableMeaning& meaning = variable.meaning;
                     result.emplace_back(variable.name, meaning.group, meaning.indices,
                                         meaning.index_names.empty() ? meaning.indices : meaning.index_names,
                                         std::string(to_string(meaning.role)), meaning.is_parameter, meaning.is_shown,
                                         meaning.is_local);
                 }
                 return result;
             }))
        .def("prior", file([](const FitFile& f) {
                 std::vector<std::pair<std::string, double>> result;
                 for (const PriorNumber& number : f.model->prior(f.data)) {
                     result.emplace_back(number.shown_name(), number.value);
                 }
                 return result;
             }))
        .def("foremost", [](const Fit& self, const std::vector<Index>& chosen,
                            std::size_t most) { return foremost_variables(self.file(), chosen, most); })
        .def(
            "json", [](const Fit& self) { return fit_text(self.file()); }, Guard())
        .def(
            "save",
            [](const Fit& self, const std::string& path) {
                self.require_not_read(path);
                write_fit(path, self.file());
            },
            Guard())
        .def("require_not_read", &Fit::require_not_read)
        .def("attached", py::overload_cast<const Data&, int>(&Fit::attached, py::const_), Guard())
        .def(
            "attached",
            [](const Fit& self, const std::shared_ptr<MultilinearModel>& model, int threads) {
                return self.attached(model, threads);
            },
            Guard())
        .def("corrected", &Fit::corrected, Guard())
        .def("select", &select)
        .def("summary", &summary, Guard())
        .def("covariance", &covariance, Guard())
        .def("sensitivity", &sensitivity, Guard())
        .def("influence", &influence, Guard())
        .def("influence_by", &influence_by, Guard())
        .def("leverage", &leverage, Guard())
        .def("robust", &robust, Guard())
        .def("check", &check_of, Guard())
        .def(
            "is_quick_by_draws",
            [](const Fit& self, Index draws) { return is_quick_by_draws(self.with_data(), draws); }, Guard())
        .def("response_draws", &response_draws, Guard())
        .def("log_likelihoods", &log_likelihoods, Guard())
        .def("row_labels", &row_labels, Guard())
        .def("loo", &loo, Guard())
        .def("model_check", &model_check, Guard())
        .def("predict", &predict, Guard())
        .def("report", &report, Guard())
        .def("plot", &plot, Guard())
        .def("drawing", &drawing, Guard())
        .def("observed", &observed, Guard());
    module.def("fit", &Fit::fitted, Guard());
    module.def(
        "fit_declared",
        [](const std::shared_ptr<MultilinearModel>& model, const Request& request) {
            return Fit::declared(model, request);
        },
        Guard());
    module.def("parse_fit", &Fit::parse, Guard());
    module.def("has_kind", [](const std::string& name) { return find_kind(name) != nullptr; });
    module.def("kind_options", [](const std::string& name) {
        std::vector<std::string> keys;
        const Kind* const kind = find_kind(name);
        if (kind == nullptr) return keys;
        const std::optional<std::vector<OptionInfo>> options = kind->options();
        for (std::size_t i = 0; options && i < options->size(); ++i) keys.push_back((*options)[i].key());
        return keys;
    });
    module.def("formula_columns", [](const std::string& text) {
        const Formula formula = Formula::parse(text);
        return std::make_pair(formula.columns(), formula.has_dot());
    });
}

}  // namespace

PYBIND11_MODULE(_core, module) {
    module.doc() = "What the package lrvb is made of; use that.";
    module.attr("__version__") = LRVB_VERSION;
    py::register_exception_translator([](std::exception_ptr thrown) { translate(std::move(thrown)); });

    py::class_<Data>(module, "Data")
        .def_static("from_path", &Data::from_path)
        .def_static("from_columns", &Data::from_columns)
        .def_static("from_chunks", &Data::from_chunks)
        .def_static("from_paths", &Data::from_paths)
        .def_static("from_parts", &Data::from_parts)
        .def_property_readonly("name", &Data::name)
        .def_property_readonly("column_names", &Data::column_names)
        .def_property_readonly("is_file", &Data::is_file)
        .def_property_readonly("rows", &Data::rows);
    py::class_<NumberTable>(module, "NumberTable")
        .def_readonly("columns", &NumberTable::columns)
        .def_readonly("names", &NumberTable::names)
        .def_readonly("rows", &NumberTable::rows)
        .def_property_readonly("numbers", [](const NumberTable& self) { return self.numbers; });
    py::class_<PriorEffect>(module, "PriorEffect")
        .def_readonly("variable", &PriorEffect::variable)
        .def_property_readonly("prior", [](const PriorEffect& self) { return self.prior.shown_name(); })
        .def_property_readonly("value", [](const PriorEffect& self) { return self.prior.value; })
        .def_readonly("mean_slope", &PriorEffect::mean_slope)
        .def_readonly("sds_per_percent", &PriorEffect::sds_per_percent)
        .def_readonly("sd_slope", &PriorEffect::sd_slope)
        .def_readonly("sd_percent", &PriorEffect::sd_percent);
    py::class_<PredictOptions>(module, "PredictOptions")
        .def(py::init<>())
        .def_readwrite("drop_missing", &PredictOptions::drop_missing)
        .def_readwrite("level", &PredictOptions::level)
        .def_readwrite("link", &PredictOptions::link)
        .def_readwrite("without_groups", &PredictOptions::without_groups);
    py::class_<PlotOptions>(module, "PlotOptions")
        .def(py::init<>())
        .def_readwrite("variables", &PlotOptions::variables)
        .def_readwrite("columns", &PlotOptions::columns)
        .def_readwrite("title", &PlotOptions::title)
        .def_readwrite("width", &PlotOptions::width)
        .def_readwrite("height", &PlotOptions::height)
        .def_readwrite("level", &PlotOptions::level);
    bind_check(module);
    bind_drawing(module);
    bind_declared(module);
    bind_fit(module);
    bind_comparison(module);
    bind_team(module);
}

}  // namespace lrvb::python
