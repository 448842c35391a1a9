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

/// The same for two processes that see each other in /proc and have one network address: the running kernel,
/// the process numbers and the network.
std::string host_identity() {
  std::string identity;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> identity;
  if (identity.empty()) return "";
  for (const char* const space : {"/proc/self/ns/pid", "/proc/self/ns/net"}) {
    char name[64] = {};
    if (::readlink(space, name, sizeof name - 1) < 0) return "";
    identity += name;
  }
  return identity;
}

/// Who is on this host, itself among them; nobody where that is unknown.
std::vector<int> ranks_of_host(Processes& processes) {
  const std::string own = host_identity();
  const std::vector<std::string> all = processes.all_gather(own);
  std::vector<int> here;
  for (int rank = 0; rank < processes.size() && !own.empty(); ++rank) {
    if (all[static_cast<std::size_t>(rank)] == own) here.push_back(rank);
  }
  return here;
}

/// Where others of a host find each one's file, by ranks; empty where it offers none.
std::vector<std::string> paths_of_all(const Descriptor& offered, Processes& processes) {
  return processes.all_gather(offered.open() ? fmt::format("/proc/{}/fd/{}", ::getpid(), offered.number())
                                             : "");
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

void HostMemory::map(int file, std::size_t size, std::size_t elsewhere) {
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return;
  bytes_ = {static_cast<const std::byte*>(at), size};
  elsewhere_ = static_cast<std::int64_t>(elsewhere);
  count_elsewhere(elsewhere_);
}

HostMemory hold_once(std::span<const std::byte> own, Processes& processes) {
  if (!processes.several()) return {};
  const std::vector<int> here = ranks_of_host(processes);
  // The first process of each host offers its bytes.
  const int leader = here.empty() ? processes.rank() : here.front();
  const bool offers = here.size() > 1 && leader == processes.rank() && !own.empty();
  const Descriptor offered(offers ? file_of(own) : -1);
  const std::string path = paths_of_all(offered, processes)[static_cast<std::size_t>(leader)];
  HostMemory memory;
  if (!path.empty()) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.open() && ::lseek(file.number(), 0, SEEK_END) == static_cast<off_t>(own.size()))
      memory.map(file.number(), own.size(), own.size() - own.size() / here.size());
    if (!memory.bytes().empty() && std::memcmp(memory.bytes().data(), own.data(), own.size()) != 0)
      memory = HostMemory();
  }
  processes.meet();  // nobody closes it before all have opened it
  return memory;
}

std::vector<HostMemory> hold_each(std::span<const std::byte> own, Processes& processes) {
  std::vector<HostMemory> all(static_cast<std::size_t>(processes.size()));
  if (!processes.several()) return all;
  const std::vector<int> here = ranks_of_host(processes);
  const Descriptor offered(here.size() > 1 && !own.empty() ? file_of(own) : -1);
  const std::vector<std::string> paths = paths_of_all(offered, processes);
  for (const int rank : here) {
    const auto at = static_cast<std::size_t>(rank);
    if (paths[at].empty()) continue;
    const Descriptor file(::open(paths[at].c_str(), O_RDONLY | O_CLOEXEC));
    const off_t size = file.open() ? ::lseek(file.number(), 0, SEEK_END) : 0;
    if (size <= 0) continue;
    const auto bytes = static_cast<std::size_t>(size);
    all[at].map(file.number(), bytes, rank == processes.rank() ? 0 : bytes);
  }
  processes.meet();  // nobody closes it before all have opened it
  return all;
}

}  // namespace poise
