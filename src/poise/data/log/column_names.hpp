#pragma once

#include <string_view>

namespace poise::logs {

/// The role of a column, from names that public data sets use; case, blanks, '_' and '-' are ignored.
enum class ColumnRole { unknown, user, item, value };
ColumnRole role_of(std::string_view name);

}  // namespace poise::logs
