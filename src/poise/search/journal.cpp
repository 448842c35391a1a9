#include "poise/search/journal.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include "poise/base/error.hpp"

namespace poise {
namespace {

using Json = Journal::Json;

std::string checksum_of(const Json& line) {
  const std::string text = line.dump();
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string line_of(Json line) {
  line["checksum"] = checksum_of(line);
  return line.dump() + "\n";
}

/// The line without its checksum; none if it is not a complete line of a journal.
std::optional<Json> parse(std::string_view text) {
  Json line = Json::parse(text, nullptr, false);
  if (!line.is_object() || !line.contains("checksum")) return {};
  const Json checksum = line["checksum"];
  line.erase("checksum");
  if (checksum != checksum_of(line)) return {};
  return line;
}

std::string read_all(int descriptor, const std::filesystem::path& path) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_on_file(ErrorKind::input, "cannot read {}: {}", path.string(), std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

[[noreturn]] void refuse_other(const std::filesystem::path& path, const Json& there, const Json& here) {
  const auto value_of = [](const Json& header, const std::string& key) {
    return header.contains(key) ? header[key] : Json();
  };
  Json all = here;
  if (there.is_object()) all.update(there);
  for (const auto& [key, value] : all.items()) {
    const Json other = value_of(there, key);
    const Json own = value_of(here, key);
    if (other == own) continue;
    if (key == "method")
      fail(ErrorKind::input,
           "{} was begun by another version of Poise, which computes points differently (method {}, "
           "here {}); give another {}, or remove it",
           path.string(), other.dump(), own.dump(), "journal"_p);
    fail(ErrorKind::input,
         "{} was begun with {} {} and this run has {}; give the same, another {}, or remove it",
         path.string(), key, other.dump(), own.dump(), "journal"_p);
  }
  fail(ErrorKind::input, "{} was begun by another kind of run; give another {} or remove it", path.string(),
       "journal"_p);
}

}  // namespace

Journal::Journal(std::filesystem::path path, const Json& header) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    fail_on_file(ErrorKind::resources, "cannot open the journal {}: {}", path_.string(),
                 std::strerror(errno));
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      fail_on_file(ErrorKind::resources,
                   "the journal {} is in use by another run; wait for it or give another {}", path_.string(),
                   "journal"_p);
    read(header);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::read(const Json& header) {
  const std::string text = read_all(descriptor_, path_);
  std::size_t good = 0;
  std::int64_t number = 0;
  while (good < text.size()) {
    const std::size_t end = text.find('\n', good);
    const std::optional<Json> line =
        end == std::string::npos ? std::nullopt : parse(std::string_view(text).substr(good, end - good));
    ++number;
    if (!line) {
      // Only the last line may be cut off, and no complete line may follow it.
      if (end != std::string::npos && text.find('\n', end + 1) != std::string::npos)
        fail(ErrorKind::input, "{}, line {}: this is not a line of a journal; {}give another {}",
             path_.string(), number, number == 1 ? "" : "remove the file or ", "journal"_p);
      break;
    }
    if (number == 1) {
      if (*line != header) refuse_other(path_, *line, header);
    } else {
      if (!line->contains("key") || !(*line)["key"].is_string() || !line->contains("value"))
        fail(ErrorKind::input, "{}, line {}: this is not an entry of a journal", path_.string(), number);
      entries_[(*line)["key"].get<std::string>()] = (*line)["value"];
    }
    good = end + 1;
  }
  // Only the beginning of a journal's first line is cut off.
  if (good == 0 && !line_of(header).starts_with(text))
    fail(ErrorKind::input, "{} is not a journal; give another {}", path_.string(), "journal"_p);
  if (::ftruncate(descriptor_, static_cast<off_t>(good)) != 0 ||
      ::lseek(descriptor_, static_cast<off_t>(good), SEEK_SET) < 0)
    fail_on_file(ErrorKind::resources, "cannot write to {}: {}", path_.string(), std::strerror(errno));
  if (good == 0) {
    write_line(header);
    // The name of a new file is durable only once its folder is.
    const std::filesystem::path parent = path_.parent_path();
    const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
      ::fsync(folder);
      ::close(folder);
    }
  }
}

const Json* Journal::find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void Journal::append(const std::string& key, const Json& value) {
  write_line({{"key", key}, {"value", value}});
  // Keeps the value as a later run will read it.
  entries_[key] = Json::parse(value.dump());
}

void Journal::write_line(const Json& line) {
  const std::string text = line_of(line);
  const off_t begin = ::lseek(descriptor_, 0, SEEK_CUR);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = ::write(descriptor_, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int reason = errno;
      // Removes a half-written line, so that the next run finds no damage.
      const bool undone = ::ftruncate(descriptor_, begin) == 0 && ::lseek(descriptor_, begin, SEEK_SET) >= 0;
      fail_on_file(ErrorKind::resources, "cannot write to the journal {}: {}{}", path_.string(),
                   std::strerror(reason), undone ? "" : "; its last line is incomplete");
    }
    done += static_cast<std::size_t>(put);
  }
  if (::fsync(descriptor_) != 0)
    fail_on_file(ErrorKind::resources, "cannot make the journal {} durable: {}", path_.string(),
                 std::strerror(errno));
}

}  // namespace poise
