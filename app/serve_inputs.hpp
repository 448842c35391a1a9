#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "poise/data/dataset.hpp"
#include "poise/recommend/user_histories.hpp"
#include "poise/serve/models.hpp"
#include "poise/serve/traffic.hpp"

#include "command.hpp"
#include "log_flags.hpp"

namespace poise::app {

/// "NAME=FILE", or a file whose name without its ending is the name. Error{usage} for a name given twice.
std::vector<serve::ModelSource> model_sources(const std::vector<std::string>& arguments);

/// "NAME=0.1". Error{usage} for others.
std::vector<serve::TrafficShare> traffic_shares(const std::vector<std::string>& arguments);

/// The ids of --exclude and --only; an empty path is no filter.
serve::ItemFilters item_filters(const std::filesystem::path& exclude, const std::filesystem::path& only);

/// The histories of a log, or of prepared data: of each user everything that they hold.
UserHistories served_histories(const std::filesystem::path& path, const LogFlags& flags,
                               const Context& context);

/// The same of data in memory.
UserHistories histories_of(const Dataset& data);

}  // namespace poise::app
