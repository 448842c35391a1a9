#include "poise/serve/strict_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/byte_order_mark.hpp"
#include "poise/base/utf8.hpp"
#include "poise/serve/http.hpp"

namespace poise::serve {
namespace {

constexpr std::size_t most_names = 100;

/// Builds the value while it is parsed, so that nothing that is refused is kept.
class StrictBuilder {
 public:
  StrictBuilder(std::int64_t depth, std::int64_t most_values) : depth_(depth), values_left_(most_values) {}

  bool null() { return put(Json()); }
  bool boolean(bool value) { return put(Json(value)); }
  bool number_integer(Json::number_integer_t value) { return put(Json(value)); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(Json(value)); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return put(Json(value)); }
  bool string(std::string& value) { return put(Json(std::move(value))); }
  static bool binary(Json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    // A name is looked for among all before it.
    if (open_.back()->size() == most_names) {
      problem_ = fmt::format("an object has more than {} names", most_names);
      return false;
    }
    if (open_.back()->contains(name)) {
      problem_ = fmt::format("an object has the name \"{}\" twice", name);
      return false;
    }
    name_ = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) {
    problem_ = fmt::format("the body is no JSON: see its byte {}", position);
    return false;
  }

  [[nodiscard]] bool too_many_values() const { return values_left_ < 0; }
  Json take() { return std::move(root_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    return &((*open_.back())[name_] = std::move(value));
  }
  bool put(Json value) {
    if (values_left_-- == 0) return false;
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (values_left_-- == 0) return false;
    if (std::ssize(open_) == depth_) {
      problem_ = fmt::format("the body has values nested more than {} deep", depth_);
      return false;
    }
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::int64_t depth_;
  std::int64_t values_left_;
  Json root_;
  std::vector<Json*> open_;
  std::string name_;
  std::string problem_;
};

}  // namespace

Json parse_strictly(std::string_view text, std::int64_t depth, std::int64_t most_values) {
  if (!is_utf8(text)) throw Refusal{400, "bad_json", "the body is not UTF-8"};
  if (text.starts_with(byte_order_mark))
    throw Refusal{400, "bad_json", "the body begins with a byte-order mark"};
  StrictBuilder builder(depth, most_values);
  if (!Json::sax_parse(text, &builder)) {
    if (builder.too_many_values())
      throw Refusal{413, "too_many_items", fmt::format("the body has more than {} values", most_values)};
    throw Refusal{400, "bad_json", builder.problem()};
  }
  return builder.take();
}

}  // namespace poise::serve
