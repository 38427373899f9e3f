#include "cli/output.hpp"

#include "base/messages.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace lrvb::cli {

namespace {

// The width of text in columns of a terminal: bytes that begin a UTF-8 character.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// 0.05 is q5, 0.025 is q2.5.
std::string quantile_name(double probability) {
    return fmt::format("q{:.10g}", 100.0 * probability);
}

std::string ratio(double sd, double mean_field_sd) {
    if (!std::isfinite(sd)) return "NA";
    if (sd == 0.0 && mean_field_sd == 0.0) return "fixed";
    constexpr double kMost = 1e4;
    return sd < kMost * mean_field_sd ? decimals(sd / mean_field_sd, 2) : "> 1e4";
}

// Of a large model, what is not shown unless it is asked for.
std::string left_out(const Posterior& posterior, std::size_t shown) {
    if (shown == posterior.variables.size()) return {};
    std::vector<std::pair<std::string, std::size_t>> groups;
    for (const PosteriorVariable& variable : posterior.variables) {
        if (!variable.meaning.is_local || variable.meaning.is_auxiliary) continue;
        const auto known = std::find_if(groups.begin(), groups.end(),
                                        [&](const auto& group) { return group.first == variable.meaning.group; });
        if (known != groups.end()) {
            ++known->second;
        } else {
            groups.emplace_back(variable.meaning.group, 1);
        }
    }
    if (groups.empty()) return {};
    std::string text;
    for (const auto& [group, count] : groups)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", detail::on_one_line(group), count);
    return fmt::format("\nnot shown: {}; --variables shows them\n", text);
}

// What a spreadsheet takes for a formula. Numbers with a sign are none.
bool would_be_run(const std::string& field) {
    if (field.empty() || std::string_view("=+-@").find(field.front()) == std::string_view::npos) return false;
    double number = 0.0;
    const char* const begin = field.data() + (field.front() == '+' ? 1 : 0);
    const char* const end = field.data() + field.size();
    const auto [next, error] = fast_float::from_chars(begin, end, number);
    return error != std::errc() || next != end;
}

std::string in_quotes(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        result += c;
        if (c == '"') result += c;
    }
    return result += '"';
}

// A field that is ours, or a name.
std::string csv_field(const std::string& text) {
    const std::string field = detail::on_one_line(text);
    if (would_be_run(field)) return in_quotes("'" + field);
    return field.find_first_of(",\";") == std::string::npos ? field : in_quotes(field);
}

// This optimum beside the others: their bounds, their shares, and the chosen variables.
std::string optima_text(const FitFile& fit, const std::vector<Posterior::Row>& rows) {
    const std::vector<OtherOptimum>& others = fit.other_optima;
    if (others.empty()) return {};
    std::vector<std::vector<std::string>> table{{"optimum", "this one"}};
    table.push_back({"bound", decimals(fit.outcome.bound, 4)});
    table.push_back({"share", share_text(own_share(others))});
    for (const Posterior::Row& row : rows) table.push_back({row.name, rounded(row.centre(), row.sd)});
    for (std::size_t i = 0; i < others.size(); ++i) {
        table[0].push_back(fmt::format("{}", i + 2));
        table[1].push_back(decimals(others[i].bound, 4));
        table[2].push_back(share_text(others[i].share));
        for (std::size_t v = 0; v < rows.size(); ++v) {
            const OtherOptimum::Value* there = others[i].find(rows[v].name);
            table[v + 3].push_back(there == nullptr ? "" : rounded(there->mean, there->sd));
        }
    }
    return "\noptima that share the posterior, by their bounds, and the means at each:\n" + aligned(table);
}

bool is_heavy(const Posterior::Row& row) {
    return row.moments != TailMoments::mean_and_sd;
}

// What the rows say of the model's sds, below a table.
std::string robust_text(const std::vector<RobustSd>& sds) {
    std::string text;
    for (const std::string& warning : robust_warnings(sds)) text += fmt::format("\nwarning: {}\n", warning);
    if (!text.empty()) return text;
    return "\nagainst the rows: ok: no sd_robust is far from its sd, the error of sd_robust allowed for\n";
}

std::string correction_text(const Posterior& posterior, const CorrectionRecord& correction) {
    if (!correction.how.empty()) return detail::on_one_line(correction.how);
    // Before 1.5, those of a normal.
    const bool has_quantiles =
        std::any_of(posterior.variables.begin(), posterior.variables.end(),
                    [](const PosteriorVariable& variable) { return variable.quantiles.size() > 0; });
    std::string text =
        fmt::format("{} corrected by {} draws from the exact posterior ({}, effective sample size {:.0f})",
                    has_quantiles ? "means, covariances and quantiles" : "means and covariances", correction.draws,
                    detail::on_one_line(correction.method), correction.ess);
    if (correction.mean_error && correction.sd_error) {
        text += fmt::format(", with Monte Carlo errors of at most {:.2g} sds in a mean and {:.2g}% in an sd",
                            *correction.mean_error, 100.0 * *correction.sd_error);
    }
    return text;
}

}  // namespace

void say(const std::string& text) {
    const std::string safe = detail::on_lines(text);
    std::fwrite(safe.data(), 1, safe.size(), stdout);  // what cannot be written is seen when it is flushed
}

void complain(const std::string& sentence) {
    const std::string line = "lrvb: " + detail::on_one_line(sentence) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void complain(const std::string& sentence, const std::string& picture) {
    complain(sentence);
    const std::string lines = detail::on_lines(picture) + "\n";
    std::fwrite(lines.data(), 1, lines.size(), stderr);
}

std::string aligned(std::vector<std::vector<std::string>> rows) {
    // A name from a file may hold line ends: a table has one line a row.
    for (std::vector<std::string>& row : rows) {
        for (std::string& cell : row) cell = detail::on_one_line(cell);
    }
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows) {
        widths.resize(std::max(widths.size(), row.size()), 0);
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string padding(widths[c] - width_of(row[c]), ' ');
            if (c == 0) {
                text += row[c];
                if (row.size() > 1) text += padding;
            } else {
                text += "  ";
                text += padding;
                text += row[c];
            }
        }
        text += '\n';
    }
    return text;
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) line += ',';
        line += csv_field(fields[i]);
    }
    return line += '\n';
}

std::string carried_field(const TextField& field) {
    const std::string& text = field.text;
    const bool is_plain = text.find_first_of(",\";\t\r\n") == std::string::npos;
    const bool keeps_ends = text.empty() || (text.front() != ' ' && text.back() != ' ');
    return field.quoted || !is_plain || !keeps_ends ? in_quotes(text) : text;
}

std::string shown_field(const TextField& field) {
    return carried_field({detail::on_one_line(field.text), field.quoted});
}

std::string exact(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "NA";
}

std::string rounded(double value, double sd) {
    if (std::isnan(value)) return "NA";
    if (std::isinf(value)) return value > 0.0 ? "Inf" : "-Inf";
    constexpr int kDigits = 17;  // of a double
    const auto power = [](double size) { return static_cast<int>(std::floor(std::log10(size))); };
    // An sd beyond the last digit of a double says nothing of how many are to be shown.
    const bool has_sd = std::isfinite(sd) && sd > 1e-17 * std::abs(value);
    if (value == 0.0 && !has_sd) return "0";
    if (!has_sd && std::abs(value) >= 1e3) return fmt::format("{:.12g}", value);  // held: known as it is
    const int of_sd = power(has_sd ? sd : std::abs(value));
    const int of_value = value == 0.0 ? of_sd : power(std::abs(value));
    const int places = std::clamp(2 - of_sd, 0, std::max(0, kDigits - 1 - of_value));
    const bool is_plain = places <= 8 && std::abs(value) < 1e7;
    const int digits = std::clamp(2 + of_value - of_sd, 2, kDigits - 1);
    std::string scientific = fmt::format("{:.{}e}", value, digits);
    if (!is_plain && (of_value >= kDigits || places > 40)) return scientific;
    std::string fixed = fmt::format("{:.{}f}", value, places);
    if (fixed.starts_with('-') && fixed.find_first_not_of("-0.") == std::string::npos) fixed.erase(0, 1);
    return is_plain || fixed.size() <= scientific.size() ? fixed : scientific;
}

std::string decimals(double value, int count) {
    if (std::isnan(value)) return "NA";
    return std::abs(value) < 1e15 ? fmt::format("{:.{}f}", value, count) : fmt::format("{:.{}e}", value, count);
}

void LineFile::add(const std::string& text) {
    constexpr std::size_t kPiece = std::size_t{1} << 16;
    text_ += text;
    if (text_.size() < kPiece) return;
    file_.write(text_.data(), text_.size());
    text_.clear();
}

void LineFile::commit() {
    file_.write(text_.data(), text_.size());
    file_.commit();
}

std::unique_ptr<FittedModel> restored(const Settings& settings) {
    return restored(read_fit(settings.text("FIT")), settings);
}

std::unique_ptr<FittedModel> restored(FitFile fit, const Settings& settings) {
    try {
        return restore(std::move(fit), data_of(settings), threads_of(settings));
    } catch (const NotAnOptimum& error) {
        throw std::runtime_error(fmt::format("{}: {}", settings.text("FIT"), error.what()));
    }
}

std::string headline(const FitFile& fit) {
    std::string text;
    if (fit.data.rows > 0) text += fmt::format("{} row{}, ", fit.data.rows, fit.data.rows == 1 ? "" : "s");
    if (const std::string own = fit.model->headline(); !own.empty()) text += detail::on_one_line(own) + ", ";
    if (fit.outcome.passes > 0) {
        text += fmt::format("{} pass{}, ", fit.outcome.passes, fit.outcome.passes == 1 ? "" : "es");
    }
    text += fmt::format("bound {}, ", decimals(fit.outcome.bound, 4));
    if (!fit.converged()) return text + fmt::format("NOT converged ({})", to_string(fit.outcome.termination));
    return text + fmt::format("converged (last step {:.1e} posterior sds)", fit.outcome.step);
}

std::string rest_text(const Posterior& posterior, std::size_t shown, std::size_t selected, const std::string& command) {
    std::string text;
    if (shown < selected) {
        text = fmt::format(
            "\nthe {} of {} variables that matter most; '{} --all' shows all, --variables those that it names\n", shown,
            selected, command);
    }
    return text + left_out(posterior, selected);
}

std::string summary_text(const FitFile& fit, const SummaryOptions& options) {
    const std::vector<Index> selected = fit.posterior.select(options.variables);
    const bool is_cut = options.format == Format::table && options.variables.empty() && !options.all;
    const std::vector<Index> chosen = is_cut ? foremost_variables(fit, selected, kMostVariables) : selected;
    // Of the selected ones; the chosen are in the same order.
    std::vector<RobustSd> robust;
    for (std::size_t i = 0, next = 0; options.robust && i < selected.size() && next < chosen.size(); ++i) {
        if (selected[i] != chosen[next]) continue;
        robust.push_back((*options.robust)[i]);
        ++next;
    }
    const std::vector<Posterior::Row> rows = fit.posterior.summary(chosen, options.level);
    const bool has_heavy = std::ranges::any_of(rows, is_heavy);
    const std::string lower = quantile_name(0.5 * (1.0 - options.level));
    const std::string upper = quantile_name(0.5 * (1.0 + options.level));
    if (options.format == Format::json) {
        Document variables = Document::list();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Posterior::Row& row = rows[i];
            Document entry;
            entry["name"] = row.name;
            entry["mean"] = row.mean;
            entry["sd"] = row.sd;
            if (row.moments != TailMoments::mean_and_sd) {
                entry["median"] = row.median;
                entry["reason"] =
                    row.moments == TailMoments::mean ? "heavy tail: no sd" : "heavy tail: no mean and no sd";
            }
            entry["sd_mfvb"] = row.mean_field_sd;
            entry[lower] = row.lower;
            entry[upper] = row.upper;
            if (fit.check) {
                const CheckedVariable& checked = fit.check->variables[static_cast<std::size_t>(chosen[i])];
                entry["mean_exact"] = checked.shown_mean_exact();
                entry["sd_exact"] = checked.shown_sd_exact();
                entry["verdict"] = checked.verdict;
            }
            if (fit.correction && fit.correction->response_sd.size() > 0) {
                entry["mean_lrvb"] = fit.correction->response_mean[chosen[i]];
                entry["sd_lrvb"] = fit.correction->response_sd[chosen[i]];
            }
            if (options.robust) {
                entry["sd_robust"] = robust[i].sd_robust;
                entry["sd_robust_se"] = robust[i].sd_robust_se;
            }
            variables.push_back(std::move(entry));
        }
        Document json;
        json["variables"] = std::move(variables);
        json["elbo"] = fit.outcome.bound;
        json["converged"] = fit.converged();
        json["step"] = fit.outcome.step;
        json["passes"] = fit.outcome.passes;
        json["n"] = fit.data.rows;
        json["warnings"] = fit.warnings;
        if (!fit.notes.empty()) json["notes"] = fit.notes;
        if (!fit.other_optima.empty()) {
            json["other_optima"] = other_optima_document(fit.other_optima, fit.posterior, chosen);
        }
        if (options.robust) json["robust_warnings"] = robust_warnings(*options.robust);
        return json.json(2) + "\n";
    }
    if (options.format == Format::csv) {
        std::vector<std::string> header{"variable", "mean", "sd", "sd_mfvb", lower, upper, "ratio"};
        if (fit.check) header.insert(header.end(), {"mean_exact", "sd_exact", "verdict"});
        const bool beside = fit.correction && fit.correction->response_sd.size() > 0;
        if (beside) header.insert(header.end(), {"mean_lrvb", "sd_lrvb"});
        if (options.robust) header.insert(header.end(), {"sd_robust", "sd_robust_se"});
        if (has_heavy) header.emplace_back("median");
        std::string text = csv_line(header);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Posterior::Row& row = rows[i];
            std::vector<std::string> fields{row.name,
                                            row.moments == TailMoments::none ? "" : exact(row.mean),
                                            is_heavy(row) ? "" : exact(row.sd),
                                            exact(row.mean_field_sd),
                                            exact(row.lower),
                                            exact(row.upper),
                                            is_heavy(row) ? "" : exact(row.sd / row.mean_field_sd)};
            if (fit.check) {
                const CheckedVariable& checked = fit.check->variables[static_cast<std::size_t>(chosen[i])];
                fields.insert(
                    fields.end(),
                    {checked.moments() == TailMoments::none ? "" : exact(checked.mean_exact),
                     checked.moments() != TailMoments::mean_and_sd ? "" : exact(checked.sd_exact), checked.verdict});
            }
            if (beside) {
                fields.push_back(exact(fit.correction->response_mean[chosen[i]]));
                fields.push_back(exact(fit.correction->response_sd[chosen[i]]));
            }
            if (options.robust) {
                fields.push_back(exact(robust[i].sd_robust));
                fields.push_back(exact(robust[i].sd_robust_se));
            }
            if (has_heavy) fields.push_back(exact(row.median));
            text += csv_line(fields);
        }
        return text;
    }
    std::vector<std::vector<std::string>> table{{"variable", "mean", "sd", "sd_mfvb", "ratio", lower, upper}};
    if (has_heavy) table.front().insert(table.front().end() - 1, "median");
    if (fit.check) table.front().insert(table.front().begin() + 3, "sd_exact");
    if (fit.check) table.front().emplace_back("verdict");
    // What the linear response said stays beside what took its place.
    const bool is_beside = fit.correction && fit.correction->response_sd.size() > 0;
    if (is_beside) table.front().insert(table.front().begin() + 3, "sd_lrvb");
    if (options.robust) table.front().insert(table.front().begin() + 3, "sd_robust");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Posterior::Row& row = rows[i];
        const double sd = is_heavy(row) ? row.width(options.level) : std::isfinite(row.sd) ? row.sd : row.mean_field_sd;
        // An sd that is nearly nothing does not make the others longer.
        const auto beside = [&](double value, double width) { return rounded(value, std::max(sd, 1e-3 * width)); };
        const auto other_sd = [&](double value) { return beside(value, std::abs(value)); };
        const double width = row.upper - row.lower;
        table.push_back({row.name, row.moments == TailMoments::none ? kHeavyTail : rounded(row.mean, sd),
                         is_heavy(row) ? kHeavyTail : rounded(row.sd, sd), other_sd(row.mean_field_sd),
                         ratio(row.sd, row.mean_field_sd), beside(row.lower, width), beside(row.upper, width)});
        if (has_heavy) table.back().insert(table.back().end() - 1, beside(row.median, width));
        if (fit.check) {
            const CheckedVariable& checked = fit.check->variables[static_cast<std::size_t>(chosen[i])];
            table.back().insert(table.back().begin() + 3, checked.moments() == TailMoments::mean_and_sd
                                                              ? other_sd(checked.sd_exact)
                                                              : kHeavyTail);
            table.back().push_back(checked.verdict);
        }
        if (is_beside) {
            table.back().insert(table.back().begin() + 3, other_sd(fit.correction->response_sd[chosen[i]]));
        }
        if (options.robust) {
            table.back().insert(table.back().begin() + 3, other_sd(robust[i].sd_robust));
        }
    }
    std::string text = headline(fit) + "\n";
    if (fit.correction) text += correction_text(fit.posterior, *fit.correction) + "\n";
    for (const std::string& note : fit.notes) text += detail::on_one_line(note) + "\n";
    for (const std::string& warning : fit.warnings) {
        text += "warning: " + detail::on_one_line(warning) + "\n";
    }
    text += "\n" + aligned(table);
    if (options.variables.empty()) text += rest_text(fit.posterior, chosen.size(), selected.size(), "lrvb summary FIT");
    text += optima_text(fit, rows);
    if (fit.check) {
        text += fmt::format("\nagainst the exact posterior: {}: {}\n", to_string(fit.check->verdict),
                            detail::on_one_line(fit.check->message));
    }
    if (options.robust) text += robust_text(*options.robust);
    return text;
}

}  // namespace lrvb::cli
