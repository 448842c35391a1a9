#pragma once

#include <string>
#include <vector>

#include "poise/model/family.hpp"

namespace poise {

/// The full-rank models of tables and short forms: without and with a zero diagonal, dropout, an exponent of
/// lambda and features of items. `name` is the family's.
std::vector<ModelKind> full_rank_kinds(const std::string& name);

}  // namespace poise
