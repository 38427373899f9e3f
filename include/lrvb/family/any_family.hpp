#pragma once

#include <lrvb/family/bernoulli.hpp>
#include <lrvb/family/beta.hpp>
#include <lrvb/family/categorical.hpp>
#include <lrvb/family/dirichlet.hpp>
#include <lrvb/family/gamma.hpp>
#include <lrvb/family/mv_normal.hpp>
#include <lrvb/family/normal.hpp>
#include <lrvb/family/point.hpp>
#include <lrvb/family/scale.hpp>
#include <lrvb/family/truncated_normal.hpp>
#include <lrvb/family/wishart.hpp>

#include <variant>

namespace lrvb {

/// The families a model's variables can have: the one list. A new family is one more header and one more entry here.
using AnyFamily =
    std::variant<family::Normal, family::MvNormal, family::Gamma, family::Wishart, family::Dirichlet, family::Beta,
                 family::Bernoulli, family::Categorical, family::Point, family::Scale, family::TruncatedNormal>;

}  // namespace lrvb
