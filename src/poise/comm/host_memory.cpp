#include "poise/comm/host_memory.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "poise/base/memory.hpp"

namespace poise {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }

 private:
  int number_;
};

/// The same for two processes that see each other in /proc: the running kernel and the process numbers.
std::string host_identity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char numbers[64] = {};
  if (boot.empty() || ::readlink("/proc/self/ns/pid", numbers, sizeof numbers - 1) < 0) return "";
  return boot + numbers;
}

/// A file without a name that holds these bytes, for good; -1 where the system refuses.
int file_of(std::span<const std::byte> bytes) {
  const int file = ::memfd_create("poise", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  const auto filled = [&] {
    // A write, unlike a page that is touched, can say that there is no memory.
    while (!bytes.empty()) {
      const ssize_t written = ::write(file, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30U));
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
  };
  if (filled()) return file;
  ::close(file);
  return -1;
}

}  // namespace

HostMemory::~HostMemory() {
  if (bytes_.empty()) return;
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  count_elsewhere(-elsewhere_);
}

void HostMemory::map(int file, std::size_t size, int holders) {
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return;
  bytes_ = {static_cast<const std::byte*>(at), size};
  elsewhere_ = static_cast<std::int64_t>(size - size / static_cast<std::size_t>(holders));
  count_elsewhere(elsewhere_);
}

HostMemory hold_once(std::span<const std::byte> own, Processes& processes) {
  if (!processes.several()) return {};
  const std::string identity = host_identity();
  const std::vector<std::string> identities = processes.all_gather(identity);
  // The first process of each host offers its bytes.
  int leader = processes.rank();
  int holders = 0;
  for (int rank = processes.size() - 1; rank >= 0; --rank) {
    if (identity.empty() || identities[static_cast<std::size_t>(rank)] != identity) continue;
    leader = rank;
    ++holders;
  }
  const bool offers = holders > 1 && leader == processes.rank() && !own.empty();
  const Descriptor offered(offers ? file_of(own) : -1);
  const std::vector<std::string> offers_of_all =
      processes.all_gather(offered.open() ? fmt::format("/proc/{}/fd/{}", ::getpid(), offered.number()) : "");
  const std::string& path = offers_of_all[static_cast<std::size_t>(leader)];
  HostMemory memory;
  if (!path.empty()) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.open() && ::lseek(file.number(), 0, SEEK_END) == static_cast<off_t>(own.size()))
      memory.map(file.number(), own.size(), holders);
    if (!memory.bytes().empty() && std::memcmp(memory.bytes().data(), own.data(), own.size()) != 0)
      memory = HostMemory();
  }
  processes.meet();  // nobody closes it before all have opened it
  return memory;
}

}  // namespace poise
