#pragma once

#include <string_view>

namespace poise::logs {

/// What a column of this name holds, by the names that public data sets use; case, blanks, '_' and '-' do not
/// matter.
enum class ColumnRole { unknown, user, item, value };
ColumnRole role_of(std::string_view name);

}  // namespace poise::logs
