#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "poise/model/full_rank/full_rank.hpp"
#include "poise/serve/request_reader.hpp"
#include "poise/serve/service.hpp"

namespace {

using namespace poise;
using namespace poise::serve;

constexpr std::int64_t item_count = 5;

ModelSet fuzz_models() {
  Ids ids;
  Matrix<float> B(item_count, item_count);
  for (std::int64_t i = 0; i < item_count; ++i) {
    ids.push_back("i" + std::to_string(i));
    for (std::int64_t j = 0; j < item_count; ++j) B(i, j) = static_cast<float>((i * 7 + j * 3) % 11);
  }
  ModelInfo info{.model = "full-rank", .options = {}, .data_checksum = {}, .report = "{}", .items = ids};
  LoadedModel model{.info = info, .scorer = std::make_unique<FullRank>(std::move(B))};
  return {std::make_shared<const ServedModel>("ease", std::move(model), "0")};
}

ServiceOptions fuzz_options() {
  ServiceOptions options{.shadow = {}};
  options.limits.header_bytes = 4096;
  options.limits.body_bytes = 4096;
  Ids ids;
  Ids titles;
  for (std::int64_t i = 0; i < item_count; ++i) {
    ids.push_back("i" + std::to_string(i));
    titles.push_back("Title of " + std::to_string(i));
  }
  options.catalogue = std::make_unique<const ItemCatalogue>(std::make_unique<const ItemTable>(ids, titles));
  UserHistories histories{.users = {}, .items = ids, .liked = {}, .seen = {}};
  histories.users.push_back("u");
  histories.liked = {.rows = 1, .cols = item_count, .offsets = {0, 2}, .indices = {1, 3}, .values = {1, 2}};
  options.users = std::make_unique<const KnownUsers>(std::move(histories));
  options.access_log = [](std::string_view line) {
    if (line.find('\n') != std::string_view::npos) __builtin_trap();
  };
  return options;
}

/// A connection without a socket: what Connection does with the bytes. Returns whether it goes on.
bool answer_all(RequestReader& reader, Service& service) {
  while (true) {
    Exchange exchange = service.begin();
    Response response;
    bool last = false;
    try {
      const RequestReader::State state = reader.advance();
      if (state != RequestReader::State::ready) return true;
      service.admit(reader.head(), exchange);
      const Request request = reader.take();
      last = !request.head.keep_alive;
      response = service.answer(request, exchange);
    } catch (const Refusal& refusal) {
      response = service.refuse(refusal, exchange);
      last = true;
    }
    service.finished(exchange, response.status, response.body.size());
    const std::string bytes = response_bytes(response, AfterAnswer::keep_open, false);
    // A header can never begin a line of its own.
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string::npos ||
        (response.status != 204 && bytes.size() - end - 4 != response.body.size()))
      __builtin_trap();
    if (response.after) response.after();
    if (last) return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Models models(fuzz_models());
  static Service service(models, fuzz_options());
  if (size == 0) return 0;
  // The first byte says how many bytes come at once, and whether the rest is a stream or the body of a
  // request.
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = data[0] < 4 ? size : data[0] / 4U;
  constexpr std::array<std::string_view, 4> paths = {"", "/v1/recommend", "/v1/similar", "/v1/compare"};
  const std::string_view path = paths[data[0] % 4U];
  std::string bytes = rest;
  if (!path.empty())
    bytes = fmt::format(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
        "{}\r\n\r\n{}",
        path, rest.size(), rest);
  RequestReader reader(service.limits());
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    reader.append(std::string_view(bytes).substr(at, step));
    if (!answer_all(reader, service)) break;
  }
  return 0;
}
