#pragma once

#include <memory>

#include "poise/serve/item_catalogue.hpp"
#include "poise/serve/known_users.hpp"
#include "poise/serve/models.hpp"

#include "command.hpp"

namespace poise::app {

/// Everything that a server needs, made in memory from the data of `poise synth --like demo`.
struct Demo {
  serve::ModelSet models;  ///< ease, wmf and popularity
  std::unique_ptr<const serve::ItemCatalogue> catalogue;
  std::unique_ptr<const serve::KnownUsers> users;
};

/// Trains three small models; takes about a second.
Demo make_demo(const Context& context);

}  // namespace poise::app
