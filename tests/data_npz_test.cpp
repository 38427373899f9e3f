// NumPy archives: ZIP files of arrays.

#include "data/npz.hpp"
#include "data_files.hpp"
#include "zip.hpp"

#include <lrvb/data/npy.hpp>

#include <limits>

namespace lrvb {
namespace {

std::string bytes_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Npz, HoldsEveryArrayAsANumPyFile) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("draws.npz");
    const std::vector<double> first{1.0, 2.5, -3.0, 1e300, 5.0, 1.0 / 3.0};
    detail::NpzFile file(path, 2, 6);
    file.add("mu[1,größe]", 2, 3, first.data());
    file.add("lp__", 1, 1, first.data());
    EXPECT_FALSE(std::filesystem::exists(path));  // not before it is whole
    file.commit();
    const testing::StoredZip zip(bytes_of(path));
    ASSERT_EQ(zip.files().size(), 2U);
    NpySource source(directory.write("one.npy", zip.files().at("mu[1,größe].npy")));
    EXPECT_EQ(source.rows(), 2);
    EXPECT_EQ(source.columns(), 3);
    EXPECT_EQ(read_all(source), first);
    NpySource other(directory.write("two.npy", zip.files().at("lp__.npy")));
    EXPECT_EQ(read_all(other), std::vector<double>{1.0});
}

TEST(Npz, WhatItCannotHoldIsRefusedInASentence) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("draws.npz");
    const auto sentence = [](const auto& action) -> std::string {
        try {
            action();
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(sentence([&] { detail::NpzFile(path, 60, 10000000); }).find("4.2 GB: save fewer"), std::string::npos);
    EXPECT_NE(sentence([&] { detail::NpzFile(path, 100000, 1); }).find("100000 arrays of 1 numbers"),
              std::string::npos);
    EXPECT_NE(sentence([&] {
                  const double number = 1.0;
                  detail::NpzFile(path, 1, 1).add(std::string(40000, 'x'), 1, 1, &number);
              }).find("a name of 40000 bytes"),
              std::string::npos);
    EXPECT_TRUE(directory.list().empty());
}

}  // namespace
}  // namespace lrvb
