#include "poise/comm/transport.hpp"

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <string_view>
#include <utility>

#include <mpi.h>

#include "poise/comm/plugin.hpp"
#ifdef POISE_SCALAPACK
#include "poise/comm/mpi/scalapack.hpp"
#endif

namespace poise {
namespace {

/// A longer message travels in pieces of this size, and a shorter piece ends it: MPI counts in 32 bits.
constexpr std::size_t piece_size = std::size_t{1} << 30U;

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

  void send(int to, Channel channel, std::string bytes) override {
    drop_sent();
    Sending& sending = sent_.emplace_back();
    sending.bytes = std::move(bytes);
    for (std::size_t first = 0;; first += piece_size) {
      const std::size_t length = std::min(piece_size, sending.bytes.size() - first);
      MPI_Isend(sending.bytes.data() + first, static_cast<int>(length), MPI_BYTE, to, tag, of(channel),
                &sending.pieces.emplace_back());
      if (length < piece_size) break;
    }
  }

  std::optional<Message> poll(std::optional<int> from, Channel channel) override {
    drop_sent();
    int there = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(from.value_or(MPI_ANY_SOURCE), tag, of(channel), &there, &handle, &status);
    if (there == 0) return {};
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    std::string& whole = begun_[{status.MPI_SOURCE, channel}];
    const std::size_t before = whole.size();
    whole.resize(before + static_cast<std::size_t>(length));
    MPI_Mrecv(whole.data() + before, length, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    if (static_cast<std::size_t>(length) == piece_size) return {};
    return Message{.from = status.MPI_SOURCE, .bytes = std::exchange(whole, {})};
  }

  bool all_sent() override {
    drop_sent();
    return sent_.empty();
  }

#ifdef POISE_SCALAPACK
  [[nodiscard]] bool has_grid() const override { return true; }
  std::unique_ptr<DenseGrid> make_grid() override { return make_scalapack_grid(size_, rank_); }
#endif

  void finish() override { MPI_Finalize(); }

  void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  struct Sending {
    std::string bytes;
    std::list<MPI_Request> pieces;
  };
  static constexpr int tag = 0;

  [[nodiscard]] MPI_Comm of(Channel channel) const { return channels_[static_cast<std::size_t>(channel)]; }

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

  MPI_Comm channels_[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  int rank_ = 0;
  int size_ = 1;
  std::list<Sending> sent_;
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
  // One thread calls at a time, not always the same one.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_SERIALIZED) {
    *why = "it refuses calls from more than one thread";
    return nullptr;
  }
  return new poise::MpiTransport();
}
