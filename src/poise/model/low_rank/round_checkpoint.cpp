#include "poise/model/low_rank/round_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/storage/container.hpp"

namespace poise {
namespace {

constexpr const char* file_name = "rounds.part";
constexpr int rounds_between = 5;
constexpr auto time_between = std::chrono::minutes(1);

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class T>
Tensor tensor_of_matrix(const std::string& name, ElementType type, const Matrix<T>& matrix) {
  const MatrixView<const T> view = matrix.view();
  return {name, type, {view.rows, view.cols}, std::as_bytes(std::span(view.data, view.rows * view.cols))};
}

template <class T>
Matrix<T> matrix_of(const Tensor& tensor) {
  Matrix<T> matrix(tensor.shape.at(0), tensor.shape.at(1));
  if (!tensor.bytes.empty()) std::memcpy(matrix.view().data, tensor.bytes.data(), tensor.bytes.size());
  return matrix;
}

}  // namespace

RoundCheckpoint::RoundCheckpoint(std::filesystem::path folder, std::string key, Processes* processes,
                                 Observer* observer)
    : folder_(std::move(folder)),
      key_(std::move(key)),
      processes_(processes),
      observer_(dynamic_cast<RoundObserver*>(observer)) {
  if (processes_ != nullptr && !processes_->first()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    fail_on_file(ErrorKind::resources, "cannot make the folder {}: {}", folder_.string(), error.message());
}

std::optional<RoundState> RoundCheckpoint::load() const {
  std::string contents;
  if (processes_ == nullptr || processes_->first()) contents = contents_of(folder_ / file_name);
  if (processes_ != nullptr) contents = processes_->broadcast(std::move(contents));
  if (contents.empty()) return {};
  std::vector<std::uint64_t> aligned(contents.size() / sizeof(std::uint64_t) + 1);
  std::memcpy(aligned.data(), contents.data(), contents.size());
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(aligned.data()), contents.size());
  std::optional<Container> file;
  try {
    file = Container::parse(bytes, (folder_ / file_name).string());
  } catch (const Error&) {
    return {};  // it is made again
  }
  if (file->metadata("key") != key_)
    fail(ErrorKind::usage,
         "{} holds rounds of another model, other data or another version; give another folder for {}, or "
         "remove it",
         folder_.string(), "checkpoint"_p);
  RoundState state;
  for (const Tensor& tensor : file->tensors()) {
    if (tensor.type == ElementType::f32)
      state.factors[tensor.name] = matrix_of<float>(tensor);
    else
      state.numbers[tensor.name] = matrix_of<double>(tensor);
  }
  return state;
}

void RoundCheckpoint::begin_round() {
  if (observer_ != nullptr) observer_->in_round = true;
}

void RoundCheckpoint::end_round(int number, const std::function<RoundState()>& state) {
  const bool stop = anybody_stops();
  const bool first = processes_ == nullptr || processes_->first();
  const auto now = std::chrono::steady_clock::now();
  if (first && (stop || number % rounds_between == 0 || now - saved_ > time_between)) {
    save(number, state());
    saved_ = std::chrono::steady_clock::now();
  }
  if (observer_ != nullptr) observer_->in_round = false;
  if (stop) throw Error(ErrorKind::interrupted, "interrupted");
}

/// The processes agree, because none can go on alone.
bool RoundCheckpoint::anybody_stops() const {
  const bool own = observer_ != nullptr && observer_->asked();
  if (processes_ == nullptr) return own;
  const std::vector<std::string> all = processes_->all_gather(own ? "1" : "0");
  return std::ranges::find(all, "1") != all.end();
}

void RoundCheckpoint::save(int number, const RoundState& state) const {
  std::vector<Tensor> tensors;
  for (const auto& [name, matrix] : state.numbers)
    tensors.push_back(tensor_of_matrix(name, ElementType::f64, matrix));
  for (const auto& [name, matrix] : state.factors)
    tensors.push_back(tensor_of_matrix(name, ElementType::f32, matrix));
  write_container(folder_ / file_name,
                  {{"format", "poise-rounds"}, {"key", key_}, {"rounds", fmt::format("{}", number)}},
                  tensors);
}

std::int64_t RoundCheckpoint::rounds_in(const std::filesystem::path& folder) {
  try {
    const std::filesystem::path path = folder / file_name;
    return std::filesystem::exists(path) ? std::stoll(Container::peek(path).metadata("rounds")) : 0;
  } catch (const std::exception&) {
    return 0;  // damaged: it is made again
  }
}

void RoundCheckpoint::remove(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove(folder / file_name, ignored);
  std::filesystem::remove(folder, ignored);  // where it is empty
}

}  // namespace poise
