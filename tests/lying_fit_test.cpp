// Fit files that somebody changed: every field of a fit of every kind is taken away, turned, made huge, made something
// else. What is read must be usable and sane; all else is refused in one sentence with the file and the field.

#include "checks.hpp"
#include "data_files.hpp"
#include "finding.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/kind/declared.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/lrvb.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace lrvb {
namespace {

std::string text_of(const FitFile& fit) {
    const TemporaryDirectory directory;
    write_fit(directory.path("fit.json"), fit);
    std::ifstream stream(directory.path("fit.json"), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string fitted(const std::string& kind, const std::string& data, const Settings& settings) {
    const FitRequest request{std::string(LRVB_DATA_DIR "/") + data, settings, {}, 1, {}};
    return text_of(find_kind(kind)->fit(request)->file());
}

std::unique_ptr<FittedModel> declared() {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(builder.hyperparameter("location", 0.5), 0.04));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(Vector{{4.1, 5.3, 3.9, 6.0, 5.2, 4.7}}, normal(mu, tau));
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    return fitted_model(model, fit(*model));
}

Document first_made(const Document::Numbers& numbers, double value) {
    Document::Numbers changed = numbers;
    changed.front() = value;
    return {changed};
}

// All that is done to a value, by its type.
std::vector<Document> lies_about(const Document& value) {
    std::vector<Document> lies{Document(),      Document("something else"), Document(-1),
                               Document(1e300), Document::list(),           Document::object()};
    if (const std::optional<double> number = value.number()) {
        lies.emplace_back(-*number);
        lies.emplace_back(0.0);
        lies.emplace_back(1e6 * *number + 1.0);
    } else if (const std::optional<bool> flag = value.flag()) {
        lies.emplace_back(!*flag);
    } else if (value.text() != nullptr) {
        lies.emplace_back("");
        lies.emplace_back("\x1b[31m\u202E");
    } else if (const Document::Numbers* numbers = value.numbers(); numbers != nullptr && !numbers->empty()) {
        lies.push_back(first_made(*numbers, -numbers->front()));
        lies.push_back(first_made(*numbers, 1e300));
        lies.push_back(first_made(*numbers, numbers->front() + 1.0));
        Document::Numbers other = *numbers;
        std::swap(other.front(), other.back());
        lies.emplace_back(other);
        other.push_back(0.0);
        lies.emplace_back(other);
        Document::List with_null(numbers->begin(), numbers->end());
        with_null.back() = Document();
        lies.push_back(Document::list(std::move(with_null)));
    } else if (const Document::List* list = value.entries(); list != nullptr && !list->empty()) {
        Document::List other = *list;
        other.push_back(other.front());
        lies.push_back(Document::list(other));
        std::swap(other.front(), other.back());
        other.pop_back();
        other.back() = other.front();
        lies.push_back(Document::list(other));
        other.pop_back();
        lies.push_back(Document::list(other));
    }
    return lies;
}

// Every document that differs from this one in one value; of long lists, only the first and the last are changed.
void each_lie(const Document& document, const std::string& path,
              const std::function<void(const std::string&, const Document&)>& visit) {
    for (const Document& lie : lies_about(document)) visit(path, lie);
    if (const Document::Object* object = document.object_entries()) {
        for (std::size_t i = 0; i < object->size(); ++i) {
            Document::Object without = *object;
            without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
            visit(path + "." + (*object)[i].first, Document::object(without));
            each_lie((*object)[i].second, path + "." + (*object)[i].first,
                     [&](const std::string& at, const Document& lie) {
                         Document::Object changed = *object;
                         changed[i].second = lie;
                         visit(at, Document::object(std::move(changed)));
                     });
        }
    } else if (const Document::List* list = document.entries()) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            if (i > 1 && i + 1 < list->size()) continue;
            each_lie((*list)[i], path + "[]", [&](const std::string& at, const Document& lie) {
                Document::List changed = *list;
                changed[i] = lie;
                visit(at, Document::list(std::move(changed)));
            });
        }
    }
}

void expect_sane(const FitFile& fit, const std::string& where) {
    const std::vector<Index> all = fit.posterior.select({});
    for (const Posterior::Row& row : fit.posterior.summary(all, 0.9)) {
        EXPECT_TRUE(std::isfinite(row.mean)) << where << " " << row.name;
        EXPECT_TRUE(std::isnan(row.sd) || row.sd >= 0.0) << where << " " << row.name;
        EXPECT_GE(row.mean_field_sd, 0.0) << where << " " << row.name;
        if (std::isnan(row.sd)) continue;
        EXPECT_LE(row.lower, row.upper) << where << " " << row.name;
    }
}

void expect_no_lie_harms(const std::string& fit) {
    const std::string name = "lie.json";
    ASSERT_NO_THROW(parse_fit(fit, name));
    int told = 0;
    int refused = 0;
    each_lie(Document::parse(fit), "fit", [&](const std::string& path, const Document& lie) {
        const std::string text = lie.json();
        ++told;
        ASSERT_NO_THROW(fuzz::check_fit(text)) << path << ": " << text.substr(0, 2000);
        const std::string refusal = fuzz::refusal_of([&] { expect_sane(parse_fit(text, name), path); });
        if (refusal.empty()) return;
        ++refused;
        EXPECT_EQ(refusal.find(name + " is"), 0U) << path << ": " << refusal;
        for (const char* inside : {"::", "map", "_M_", "vector"}) {
            EXPECT_EQ(refusal.find(inside), std::string::npos) << path << ": " << refusal;
        }
    });
    EXPECT_GT(told, 300);
    EXPECT_GT(refused, told / 2);
}

TEST(LyingFit, OfOneColumnHarmsNobody) {
    expect_no_lie_harms(fitted("mixture", "old_faithful.csv", {{"components", "2"}, {"columns", "eruptions"}}));
}

TEST(LyingFit, OfTwoColumnsHarmsNobody) {
    expect_no_lie_harms(fitted("mixture", "old_faithful.csv", {{"components", "2"}}));
}

TEST(LyingFit, OfARegressionWithAFactorHarmsNobody) {
    const TemporaryDirectory directory;
    const std::string data =
        directory.write("a.csv", "y,x,g\n1,2,a\n2,1,b\n4,3,a\n3,5,c\n6,4,b\n5,7,c\n7,6,a\n9,8,b\n");
    const FitRequest request{data, {{"response", "y"}}, {}, 1, {}};
    expect_no_lie_harms(text_of(find_kind("regression")->fit(request)->file()));
}

TEST(LyingFit, OfADeclaredModelHarmsNobody) {
    expect_no_lie_harms(text_of(declared()->file()));
}

TEST(LyingFit, OfACorrectedModelHarmsNobody) {
    const std::unique_ptr<FittedModel> fitted = declared();
    expect_no_lie_harms(text_of(corrected(fitted->file(), check(*fitted))));
}

}  // namespace
}  // namespace lrvb
