#pragma once

#include <filesystem>

#include "poise/data/item_index.hpp"

#include "command.hpp"
#include "recommend_histories.hpp"

namespace poise::app {

/// Reads a log of user,item rows and adds each item to what its user has seen, so that it is not recommended
/// to this user. Rows of other users and items that the model does not know are counted in a message.
void exclude_pairs(const std::filesystem::path& path, const ItemIndex& items, RecommendHistories& to,
                   const Context& context);

}  // namespace poise::app
