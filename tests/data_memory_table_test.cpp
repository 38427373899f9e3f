#include <lrvb/base/interruption.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/kind.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace lrvb {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMajor numbers(Index rows, Index columns) {
    RowMajor table(rows, columns);
    for (Index n = 0; n < rows; ++n) {
        for (Index j = 0; j < columns; ++j) table(n, j) = std::sin(static_cast<double>(7 * n + j)) * 3.0;
    }
    return table;
}

MemoryTable view_of(const double* first, Index rows, Index columns, std::ptrdiff_t down, std::ptrdiff_t across) {
    MemoryTable table;
    table.rows = rows;
    for (Index j = 0; j < columns; ++j) {
        MemoryColumn column;
        column.name = "c" + std::to_string(j + 1);
        column.first = first + j * across;
        column.stride = down * static_cast<std::ptrdiff_t>(sizeof(double));
        table.columns.push_back(column);
    }
    return table;
}

std::vector<double> all_of(RowSource& source) {
    std::vector<double> result;
    for_each_row(source, [&](const double* row) { result.insert(result.end(), row, row + source.columns()); });
    return result;
}

TEST(MemoryTable, RowsThatLieRowByRowAreReadWhereTheyAre) {
    const RowMajor table = numbers(50, 3);
    const DataRows rows = Dataset(view_of(table.data(), 50, 3, 3, 1)).rows({});
    EXPECT_EQ(rows.source->resident(), table.data());
    EXPECT_EQ(rows.record.rows, 50);
    EXPECT_EQ(rows.record.columns, (std::vector<std::string>{"c1", "c2", "c3"}));
}

TEST(MemoryTable, AnyLayoutHoldsTheSameNumbers) {
    const RowMajor table = numbers(50, 3);
    const Matrix turned = table;                        // column by column
    RowMajor wide = RowMajor::Constant(150, 7, 1e300);  // with gaps, and backwards
    for (Index n = 0; n < 50; ++n) {
        for (Index j = 0; j < 3; ++j) wide(147 - 3 * n, 2 * j) = table(n, j);
    }
    const std::string checksum = Dataset(view_of(table.data(), 50, 3, 3, 1)).rows({}).record.checksum;
    for (const MemoryTable& view : {view_of(turned.data(), 50, 3, 1, 50), view_of(&wide(147, 0), 50, 3, -21, 2)}) {
        const DataRows rows = Dataset(view).rows({});
        EXPECT_EQ(rows.record.checksum, checksum);
        EXPECT_EQ(all_of(*rows.source), std::vector<double>(table.data(), table.data() + table.size()));
    }
}

TEST(MemoryTable, WhatIsLargeStreamsInsteadOfBeingPutTogether) {
    const auto count = static_cast<Index>(Dataset::kGathered / sizeof(double) / 2 + 1);
    const Matrix turned = Matrix::Constant(count, 2, 0.5);
    EXPECT_EQ(Dataset(view_of(turned.data(), count, 2, 1, count)).rows({}).source->resident(), nullptr);
    EXPECT_NE(Dataset(view_of(turned.data(), 1000, 2, 1, count)).rows({}).source->resident(), nullptr);
}

template <class Number>
void expect_converted(NumberType type) {
    std::array<Number, 4> values{Number(1), Number(2), Number(3), Number(100)};
    std::vector<char> odd(sizeof(values) + 1);  // not aligned
    std::memcpy(odd.data() + 1, values.data(), sizeof(values));
    MemoryColumn column;
    column.name = "x";
    column.first = odd.data() + 1;
    column.stride = sizeof(Number);
    column.type = type;
    const DataRows rows = Dataset(MemoryTable{"", 4, {column}}).rows({});
    EXPECT_EQ(all_of(*rows.source), (std::vector<double>{1.0, 2.0, 3.0, 100.0}));
}

TEST(MemoryTable, NumbersOfEveryTypeAreConverted) {
    expect_converted<double>(NumberType::float64);
    expect_converted<float>(NumberType::float32);
    expect_converted<std::int64_t>(NumberType::int64);
    expect_converted<std::int32_t>(NumberType::int32);
    expect_converted<std::int16_t>(NumberType::int16);
    expect_converted<std::int8_t>(NumberType::int8);
    expect_converted<std::uint64_t>(NumberType::uint64);
    expect_converted<std::uint32_t>(NumberType::uint32);
    expect_converted<std::uint16_t>(NumberType::uint16);
    expect_converted<std::uint8_t>(NumberType::uint8);
}

TEST(MemoryTable, MissingValuesAreRefusedOrLeftOut) {
    RowMajor table = numbers(6, 2);
    table(2, 1) = table(4, 0) = std::numeric_limits<double>::quiet_NaN();
    const Dataset data(view_of(table.data(), 6, 2, 2, 1));
    try {
        (void)data.rows({});
        FAIL();
    } catch (const MissingValue& error) {
        EXPECT_STREQ(
            error.what(),
            "a table in memory: row 3, column 'c2': the value is missing, in the first of 2 such rows: fill it "
            "in, or have rows with missing values dropped");
    }
    RowSelection dropping;
    dropping.drop_missing = true;
    const DataRows rows = data.rows(dropping);
    EXPECT_EQ(rows.record.rows, 4);
    EXPECT_EQ(rows.record.dropped, 2);
    EXPECT_EQ(rows.file_rows, (std::vector<Index>{1, 2, 4, 6}));
    RowSelection first_column;
    first_column.columns = {"c2"};
    first_column.drop_missing = true;
    EXPECT_EQ(data.rows(first_column).record.rows, 5);
    table(2, 1) = std::numeric_limits<double>::infinity();
    EXPECT_THROW((void)data.rows(dropping), std::runtime_error);
}

MemoryColumn text_column(std::vector<std::string> levels, std::vector<std::uint32_t> codes) {
    MemoryColumn column;
    column.name = "g";
    column.levels = std::move(levels);
    column.codes = std::move(codes);
    return column;
}

TEST(MemoryTable, TextHasLevelsAndMayBeMissing) {
    const Vector x{{1.0, 2.0, 3.0}};
    MemoryTable table = view_of(x.data(), 3, 1, 1, 1);
    table.columns.push_back(text_column({"a", "b"}, {1, MemoryColumn::kMissing, 0}));
    const Dataset data(table);
    EXPECT_THROW((void)data.frame({}), MissingValue);
    FrameOptions dropping;
    dropping.missing = Missing::drop;
    const DataFrame frame = data.frame(dropping);
    EXPECT_EQ(frame.rows, 2);
    EXPECT_EQ(frame.columns[1].levels, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(frame.columns[1].codes, (std::vector<std::uint32_t>{1, 0}));
    EXPECT_EQ(frame.file_rows, (std::vector<Index>{1, 3}));
    EXPECT_THROW((void)data.rows({}), std::runtime_error);
    std::vector<TextField> fields;
    const std::unique_ptr<TextRows> written = data.text_rows();
    ASSERT_TRUE(written->next(fields));
    EXPECT_EQ(fields[1].text, "b");
    ASSERT_TRUE(written->next(fields));
    EXPECT_EQ(fields[1].text, "NA");
}

TEST(MemoryTable, WhatIsNotWholeIsRefused) {
    const Vector x{{1.0, 2.0, 3.0}};
    EXPECT_THROW(Dataset(MemoryTable{}), std::invalid_argument);
    MemoryTable table = view_of(x.data(), 3, 1, 1, 1);
    for (const MemoryColumn& bad : {text_column({"a"}, {0, 0}), text_column({"b", "a"}, {0, 0, 0}),
                                    text_column({"a"}, {0, 1, 0}), text_column({"\xff"}, {0, 0, 0})}) {
        MemoryTable broken = table;
        broken.columns.push_back(bad);
        EXPECT_THROW((void)Dataset(broken), std::invalid_argument);
    }
}

// Rows in chunks, as a user would write them.
class Counted final : public RowSource {
  public:
    explicit Counted(std::vector<double> values) : values_(std::move(values)) {}
    Index columns() const override { return 2; }
    std::string name() const override { return "counted"; }
    void rewind() override {
        next_ = 0;
        ++rounds;
    }
    Index read(double* rows, Index capacity) override {
        const Index count = std::min(capacity, static_cast<Index>(values_.size()) / 2 - next_);
        std::copy_n(values_.begin() + 2 * next_, 2 * count, rows);
        next_ += count;
        return count;
    }
    int rounds = 0;
    double& operator[](std::size_t i) { return values_[i]; }
    void resize(std::size_t count) { values_.resize(count); }

  private:
    std::vector<double> values_;
    Index next_ = 0;
};

TEST(MemoryTable, ASourceOfOnesOwnIsReadLikeAFile) {
    std::vector<double> values(40);
    std::iota(values.begin(), values.end(), 0.5);
    values[7] = std::numeric_limits<double>::quiet_NaN();
    const auto source = std::make_shared<Counted>(values);
    EXPECT_THROW((void)Dataset(source).rows({}), MissingValue);
    RowSelection dropping;
    dropping.drop_missing = true;
    const DataRows kept = Dataset(source).rows(dropping);
    EXPECT_NE(kept.source->resident(), nullptr);
    EXPECT_EQ(kept.record.dropped, 1);
    EXPECT_EQ(kept.file_rows[3], 5);
    DataOptions nothing_kept;
    nothing_kept.memory = 8;
    const DataRows streamed = Dataset(source, nothing_kept).rows(dropping);
    EXPECT_EQ(streamed.source->resident(), nullptr);
    EXPECT_EQ(all_of(*streamed.source), all_of(*kept.source));
    EXPECT_EQ(streamed.record.checksum, kept.record.checksum);
    RowSelection second;
    second.columns = {"2"};
    second.drop_missing = true;
    EXPECT_EQ(all_of(*Dataset(source).rows(second).source).front(), 1.5);
    FrameOptions frame;
    frame.missing = Missing::drop;
    const DataFrame read = Dataset(source).frame(frame);
    EXPECT_EQ(read.rows, 19);
    EXPECT_EQ(read.file_rows[3], 5);
}

void expect_refusal(const DataRows& rows, const std::string& sentence) {
    try {
        (void)all_of(*rows.source);
        ADD_FAILURE() << "not refused: " << sentence;
    } catch (const std::runtime_error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with(sentence)) << error.what();
    }
}

TEST(MemoryTable, RowsThatStreamAreThoseThatWereReadAtFirst) {
    std::vector<double> values(40);
    std::iota(values.begin(), values.end(), 0.5);
    const auto source = std::make_shared<Counted>(values);
    DataOptions nothing_kept;
    nothing_kept.memory = 8;
    const DataRows streamed = Dataset(source, nothing_kept).rows({});
    EXPECT_EQ(all_of(*streamed.source), values);
    (*source)[31] += 1e-9;
    expect_refusal(streamed, "counted: the rows are not those that were read at first: let nothing change them");
    (*source)[31] = values[31];
    EXPECT_EQ(all_of(*streamed.source), values);
    source->resize(38);
    expect_refusal(streamed, "counted: has fewer rows than the 20 that it had at first: let nothing change it");
    source->resize(42);
    expect_refusal(streamed, "counted: has more rows than the 20 that it had at first: let nothing change it");
}

TEST(MemoryTable, AFitIsThatOfTheSameFrame) {
    const RowMajor table = numbers(200, 2);
    DataFrame frame;
    frame.rows = 200;
    for (Index j = 0; j < 2; ++j) {
        FrameColumn& column = frame.columns.emplace_back();
        column.name = "c" + std::to_string(j + 1);
        column.numbers = table.col(j);
    }
    const auto fitted = [](const Dataset& data) {
        return fit_text(find_kind("mixture")->fit({data, {{"components", "2"}}, {}, 1})->file());
    };
    EXPECT_EQ(fitted(Dataset(view_of(table.data(), 200, 2, 2, 1))), fitted(Dataset(frame)));
}

TEST(Interruption, WhatIsThrownEndsTheWork) {
    struct Stopped {};
    const RowMajor table = numbers(20000, 2);
    int asked = 0;
    const InterruptionScope scope([&] {
        if (++asked == 3) throw Stopped();
    });
    const auto work = [&] {
        for (int i = 0; i < 1000; ++i) {
            (void)find_kind("mixture")->fit(
                {Dataset(view_of(table.data(), 20000, 2, 2, 1)), {{"components", "4"}}, {}, 1});
        }
    };
    EXPECT_THROW(work(), Stopped);
    EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace lrvb
