#pragma once

#include "model/labelled/terms.hpp"

namespace lrvb::detail {

/// The labels that can change places: blocks of variables that one label has to itself, such that the log joint stays
/// what it is where two blocks, with the parts of the weights and the counts of the labels, are exchanged. Found in the
/// terms, so that labels of unlike priors are told apart. None where not all labels are alike.
Exchangeable exchangeable_labels(const Layout& layout, const MultilinearForm& form, const LabelledTerms& terms);

}  // namespace lrvb::detail
