#include "poise/comm/packed.hpp"

#include <cstdint>
#include <cstring>

#include "poise/base/error.hpp"

namespace poise {

std::string packed(const std::vector<std::string>& parts) {
  std::string message;
  for (const std::string& part : parts) {
    const std::uint64_t length = part.size();
    message.append(reinterpret_cast<const char*>(&length), sizeof length);
    message += part;
  }
  return message;
}

std::vector<std::string> unpacked(std::string_view message) {
  std::vector<std::string> parts;
  while (!message.empty()) {
    std::uint64_t length = 0;
    if (message.size() < sizeof length) fail(ErrorKind::resources, "a message between processes is damaged");
    std::memcpy(&length, message.data(), sizeof length);
    message.remove_prefix(sizeof length);
    if (message.size() < length) fail(ErrorKind::resources, "a message between processes is damaged");
    parts.emplace_back(message.substr(0, length));
    message.remove_prefix(length);
  }
  return parts;
}

}  // namespace poise
