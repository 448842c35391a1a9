#include "poise/storage/container_header.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"

namespace poise {
namespace {

using namespace container_layout;
using nlohmann::json;

constexpr int max_depth = 3;  // header, tensor, shape

struct Malformed {
  std::string reason;
};

/// nlohmann's parser accepts repeated keys and any depth; a container has neither.
json parse_strictly(std::string_view text) {
  std::vector<std::set<std::string>> keys(max_depth + 1);
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
      if (depth >= max_depth) throw Malformed{"it is nested too deeply"};
      keys[depth + 1].clear();
    }
    if (event == json::parse_event_t::key && !keys[depth].insert(parsed.get<std::string>()).second)
      throw Malformed{"a name appears twice"};
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception&) {
    throw Malformed{"it is not JSON"};
  }
}

std::uint64_t whole_number(const json& value) {
  if (!value.is_number_unsigned()) throw Malformed{"a length or offset is not a whole number"};
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Malformed{"a length or offset is too large"};
  return number;
}

const json& array_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) throw Malformed{fmt::format("a tensor has no {}", key)};
  return *found;
}

ElementType parse_type(const json& object) {
  const auto found = object.find("dtype");
  if (found == object.end() || !found->is_string()) throw Malformed{"a tensor has no dtype"};
  for (const TypeInfo& candidate : types)
    if (found->get_ref<const std::string&>() == candidate.name) return candidate.type;
  throw Malformed{"a tensor has an unknown dtype"};
}

ContainerHeader::Entry parse_entry(const std::string& name, const json& object) {
  if (!object.is_object()) throw Malformed{"a tensor is not an object"};
  ContainerHeader::Entry entry;
  entry.tensor.name = name;
  entry.tensor.type = parse_type(object);
  std::uint64_t bytes = info(entry.tensor.type).size;
  for (const json& extent : array_at(object, "shape")) {
    const std::uint64_t length = whole_number(extent);
    if (__builtin_mul_overflow(bytes, length, &bytes)) throw Malformed{"a tensor is too large"};
    entry.tensor.shape.push_back(static_cast<std::int64_t>(length));
  }
  const json& offsets = array_at(object, "data_offsets");
  if (offsets.size() != 2) throw Malformed{"a tensor has no begin and end"};
  entry.begin = whole_number(offsets[0]);
  entry.end = whole_number(offsets[1]);
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    throw Malformed{"a tensor's shape and length differ"};
  return entry;
}

Metadata parse_metadata(const json& object) {
  if (!object.is_object()) throw Malformed{"its metadata is not an object"};
  Metadata metadata;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) throw Malformed{"its metadata is not all text"};
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

ContainerHeader parse_header(std::string_view text) {
  const json header = parse_strictly(text);
  if (!header.is_object()) throw Malformed{"it is not an object"};
  ContainerHeader result;
  for (const auto& [name, value] : header.items()) {
    if (name == metadata_name)
      result.metadata = parse_metadata(value);
    else
      result.tensors.push_back(parse_entry(name, value));
  }
  std::sort(result.tensors.begin(), result.tensors.end(),
            [](const ContainerHeader::Entry& a, const ContainerHeader::Entry& b) {
              return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
            });
  for (const ContainerHeader::Entry& entry : result.tensors) {
    if (entry.begin != result.data_bytes) throw Malformed{"its tensors overlap or leave gaps"};
    if (entry.begin % info(entry.tensor.type).size != 0) throw Malformed{"a tensor is not aligned"};
    result.data_bytes = entry.end;
  }
  if (result.tensors.empty() || result.tensors.front().tensor.name != checksums_name ||
      result.tensors.front().tensor.type != ElementType::u64)
    throw Malformed{"its first tensor is not checksums"};
  result.checksums_bytes = result.tensors.front().end;
  const std::uint64_t expected = chunks(result.data_bytes - result.checksums_bytes) + 1;
  if (result.checksums_bytes != expected * sizeof(std::uint64_t))
    throw Malformed{"it has the wrong number of checksums"};
  result.tensors.erase(result.tensors.begin());
  return result;
}

}  // namespace

ContainerHeader parse_container_header(std::string_view json, std::string_view name) {
  try {
    return parse_header(json);
  } catch (const Malformed& malformed) {
    fail(ErrorKind::input, "{} is not a valid Poise file: in its header, {}", name, malformed.reason);
  }
}

}  // namespace poise
