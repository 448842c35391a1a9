#include "poise/recommend/titles.hpp"

#include "poise/base/json_text.hpp"

namespace poise {

std::string Titles::text() const {
  if (table_ == nullptr) return {};
  const auto object = [&](std::string_view name, auto value_of) {
    std::string text = "," + json_quoted(name) + ":{";
    for (const std::string_view id : ids_) {
      const std::string_view value = value_of(id);
      if (value.empty()) continue;
      if (text.back() != '{') text += ',';
      text += json_quoted(id) + ":" + json_quoted(value);
    }
    return text + "}";
  };
  std::string text = object("titles", [&](std::string_view id) { return table_->title_of(id); });
  if (table_->has_pictures())
    text += object("pictures", [&](std::string_view id) { return table_->picture_of(id); });
  return text;
}

}  // namespace poise
