#include "poise/comm/transport.hpp"

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include <mpi.h>
#include <unistd.h>

#include "poise/comm/plugin.hpp"

namespace poise {
namespace {

/// A longer message travels in pieces of this size, and a shorter piece ends it: MPI counts in 32 bits.
constexpr std::size_t piece_size = std::size_t{1} << 30U;
/// A job is ended by force within this time, whether MPI answers or not.
constexpr unsigned seconds_to_abort = 10;

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    // A communicator for each channel, and none of them somebody else's.
    for (MPI_Comm& channel : channels_) MPI_Comm_dup(MPI_COMM_WORLD, &channel);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  [[nodiscard]] std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    // "Open MPI v4.1.4, package: ...": up to the first comma.
    const std::string_view all(text, static_cast<std::size_t>(length));
    return std::string(all.substr(0, all.find_first_of(",\n")));
  }

  void send(int to, Channel channel, Bytes bytes) override {
    const std::lock_guard lock(mutex_);
    drop_sent();
    Sending& sending = sent_.emplace_back();
    sending.bytes = std::move(bytes);
    for (std::size_t first = 0;; first += piece_size) {
      const std::size_t length = std::min(piece_size, sending.bytes->size() - first);
      MPI_Isend(sending.bytes->data() + first, static_cast<int>(length), MPI_BYTE, to, tag, of(channel),
                &sending.pieces.emplace_back());
      if (length < piece_size) break;
    }
  }

  std::optional<Message> poll(std::optional<int> from, Channel channel) override {
    const std::lock_guard lock(mutex_);
    drop_sent();
    begin_arrivals(from, channel);
    std::set<int> earlier;  // whose next message is still arriving
    for (auto each = arriving_.begin(); each != arriving_.end(); ++each) {
      if (each->channel != channel || (from && each->from != *from) || earlier.contains(each->from)) continue;
      int there = 0;
      MPI_Test(&each->request, &there, MPI_STATUS_IGNORE);
      if (there == 0) {
        earlier.insert(each->from);
        continue;
      }
      std::string& whole = begun_[{each->from, channel}];
      const bool last = each->bytes.size() < piece_size;
      const int sender = each->from;
      if (whole.empty())
        whole = std::move(each->bytes);
      else
        whole += each->bytes;
      arriving_.erase(each);
      if (!last) return {};
      return Message{.from = sender, .bytes = std::exchange(whole, {})};
    }
    return {};
  }

  bool all_sent() override {
    const std::lock_guard lock(mutex_);
    drop_sent();
    return sent_.empty();
  }

  void finish() override {
    const std::lock_guard lock(mutex_);
    MPI_Finalize();
  }

  void abort(int code) override {
    const std::lock_guard lock(mutex_);
    ::alarm(seconds_to_abort);  // its default action ends this process
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  struct Sending {
    Bytes bytes;
    std::list<MPI_Request> pieces;
  };
  /// A message, or a piece of one, that is on its way.
  struct Arriving {
    int from = 0;
    Channel channel = {};
    std::string bytes = {};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  static constexpr int tag = 0;

  [[nodiscard]] MPI_Comm of(Channel channel) const { return channels_[static_cast<std::size_t>(channel)]; }

  /// Nothing waits inside MPI: a sender may be stopped in the middle of a message.
  void begin_arrivals(std::optional<int> from, Channel channel) {
    int there = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(from.value_or(MPI_ANY_SOURCE), tag, of(channel), &there, &handle, &status);
    if (there == 0) return;
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    Arriving& next = arriving_.emplace_back(Arriving{.from = status.MPI_SOURCE, .channel = channel});
    next.bytes.resize(static_cast<std::size_t>(length));
    MPI_Imrecv(next.bytes.data(), length, MPI_BYTE, &handle, &next.request);
  }

  /// Frees the bytes of messages that have left.
  void drop_sent() {
    std::erase_if(sent_, [](Sending& each) {
      std::erase_if(each.pieces, [](MPI_Request& piece) {
        int left = 0;
        MPI_Test(&piece, &left, MPI_STATUS_IGNORE);
        return left != 0;
      });
      return each.pieces.empty();
    });
  }

  MPI_Comm channels_[3] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
  int rank_ = 0;
  int size_ = 1;
  std::mutex mutex_;
  std::list<Sending> sent_;
  std::list<Arriving> arriving_;
  std::map<std::pair<int, Channel>, std::string> begun_;  ///< messages of which pieces have arrived
};

}  // namespace
}  // namespace poise

extern "C" poise::Transport* poise_start_mpi(const char* version, const char** why) {
  if (std::string_view(version) != POISE_VERSION) {
    *why = "the plug-in is of version " POISE_VERSION ", other than the program; install both together";
    return nullptr;
  }
  int provided = 0;
  // The thread of the pulse calls while another one works.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_MULTIPLE) {
    *why = "it refuses calls from more than one thread";
    return nullptr;
  }
  return new poise::MpiTransport();
}
