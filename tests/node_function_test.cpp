// What deterministic nodes can be, as their functions tell.

#include "kind/model/node_function.hpp"

#include <gtest/gtest.h>

namespace lrvb::detail {
namespace {

using Range = NodeFunction::Range;

TEST(NodeFunction, AShareOfWhatIsPositiveIsAProbability) {
    EXPECT_EQ(NodeFunction("p0 p0 p2 + /").range(), Range::probability);
    EXPECT_EQ(NodeFunction("e1 -1 ^ e1 -1 ^ e3 -1 ^ + -1 ^ *").range(), Range::probability);  // an ICC of precisions
    EXPECT_EQ(NodeFunction("p0 p2 + p0 p2 + p4 + /").range(), Range::probability);
    EXPECT_EQ(NodeFunction("p0 p2 * p4 p0 p2 * + /").range(), Range::probability);
    EXPECT_EQ(NodeFunction("1 1 p0 + /").range(), Range::probability);
    EXPECT_EQ(NodeFunction("1 p0 p0 p2 + / -").range(), Range::probability);  // and what it leaves
}

TEST(NodeFunction, WhatMayBeAboveOneIsNoProbability) {
    EXPECT_EQ(NodeFunction("p0 p2 p4 + /").range(), Range::positive);
    EXPECT_EQ(NodeFunction("2 p0 * p0 p2 + /").range(), Range::positive);
    EXPECT_EQ(NodeFunction("p0 p0 + p0 p2 + /").range(), Range::positive);  // p0 twice, but once below
    EXPECT_EQ(NodeFunction("x0 x0 x2 + /").range(), Range::any);            // x2 may be negative
    EXPECT_EQ(NodeFunction("p0 2 ^ p0 p2 + /").range(), Range::positive);
}

TEST(NodeFunction, ACovarianceOverItsSdsIsACorrelation) {
    const std::string matrix = "g0 x1 x1 g2 ";
    const std::string covariance = matrix + "inverse:2:0:1 ";
    const std::string first = matrix + "inverse:2:0:0 ";
    const std::string second = matrix + "inverse:2:1:1 ";
    EXPECT_EQ(NodeFunction(covariance + first + second + "* sqrt /").range(), Range::correlation);
    EXPECT_EQ(NodeFunction(covariance + first + "sqrt " + second + "sqrt * /").range(), Range::correlation);
    EXPECT_EQ(NodeFunction(covariance + first + "-0.5 ^ * " + second + "-0.5 ^ *").range(), Range::correlation);
    EXPECT_EQ(NodeFunction(covariance + first + first + "* sqrt /").range(), Range::any);
    EXPECT_EQ(NodeFunction(covariance + first + second + "* /").range(), Range::any);
}

}  // namespace
}  // namespace lrvb::detail
