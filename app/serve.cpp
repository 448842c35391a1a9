#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include "poise/base/error.hpp"
#include "poise/serve/server.hpp"

#include "access_log.hpp"
#include "command.hpp"
#include "help.hpp"
#include "log_flags.hpp"
#include "option_values.hpp"
#include "recommend_output.hpp"
#include "serve_demo.hpp"
#include "serve_inputs.hpp"
#include "serve_signals.hpp"
#include "standard_streams.hpp"

namespace poise::app {

namespace {

using serve::Limits;

struct ServeFlags {
  std::vector<std::string> models;
  bool demo = false;
  bool map = false;
  bool watch = false;
  std::filesystem::path items;
  std::filesystem::path histories;
  LogFlags log;
  std::filesystem::path exclude;
  std::filesystem::path only;
  std::vector<std::string> ab;
  std::string shadow;
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
  std::filesystem::path api_key_file;
  std::vector<std::string> allow_host;
  std::vector<std::string> cors_origin;
  std::vector<std::string> picture_origin;
  std::string access_log;
  Limits limits;
};

void check_flags(const ServeFlags& options, const Context& context) {
  if (context.device == "cuda") fail(ErrorKind::usage, "serve scores on the processor; leave --device out");
  if (options.models.empty() == !options.demo)
    fail(ErrorKind::usage, "give model files to serve, or --demo for a model made for the occasion");
  if (options.demo && (!options.items.empty() || !options.histories.empty()))
    fail(ErrorKind::usage, "--demo has items and histories of its own; leave --items and --histories out");
  if (!serve::is_loopback(options.host) && options.api_key_file.empty())
    fail(ErrorKind::usage,
         "--host {} can be reached from other machines, which takes --api-key-file with a key on each line",
         options.host);
  options.log.check();
}

/// Each connection is a file: the system's usual limit of 1024 is raised as far as it may be.
std::int64_t affordable_connections(std::int64_t wanted) {
  constexpr rlim_t other_files = 64;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const auto needed = static_cast<rlim_t>(wanted) + other_files;
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min(limit.rlim_max, needed);
    static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
  }
  if (limit.rlim_cur >= needed) return wanted;
  if (limit.rlim_cur <= other_files)
    fail(ErrorKind::resources,
         "at most {} files may be open here, too few for a server; raise the limit (ulimit -n)",
         limit.rlim_cur);
  return static_cast<std::int64_t>(limit.rlim_cur) - other_files;
}

serve::ServiceOptions service_options(const ServeFlags& options, AccessLog& log, const Context& context) {
  serve::ServiceOptions result{
      .limits = options.limits,
      .access = {.keys = {}, .hosts = options.allow_host, .origins = options.cors_origin},
      .traffic = traffic_shares(options.ab),
      .shadow = options.shadow,
      .picture_origins = options.picture_origin};
  result.limits.connections = affordable_connections(options.limits.connections);
  if (!options.api_key_file.empty()) result.access.keys = serve::ApiKeys::read(options.api_key_file);
  if (options.host != "0.0.0.0" && options.host != "::")
    result.access.hosts.push_back(serve::host_in_url(options.host));
  if (!options.items.empty())
    result.catalogue = std::make_unique<const serve::ItemCatalogue>(ItemTable::read(options.items));
  if (!options.histories.empty())
    result.users =
        std::make_unique<serve::KnownUsers>(served_histories(options.histories, options.log, context));
  if (!options.access_log.empty()) result.access_log = [&log](std::string_view line) { log.write(line); };
  return result;
}

void say_where(const ServeFlags& options, const serve::Server& server, const serve::ModelSet& models,
               const Context& context) {
  const std::string url = fmt::format("http://{}:{}/", serve::host_in_url(options.host), server.port());
  Json names = Json::array();
  for (const auto& model : models) names.push_back(model->name());
  if (context.json) {
    write_stdout(to_text({{"url", url}, {"host", options.host}, {"port", server.port()}, {"models", names}}) +
                 "\n");
  }
  context.say(fmt::format("serving {} model{} at {} (Ctrl-C or SIGTERM ends, SIGHUP reloads)", models.size(),
                          models.size() == 1 ? "" : "s", url));
}

/// Memory of large requests goes back to the system when they are answered; by default the allocator learns
/// from them to keep more and more.
void give_memory_back() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

void run_serve(const ServeFlags& options, const Context& context) {
  check_flags(options, context);
  give_memory_back();
  // Before any thread starts, so that none of them takes a signal.
  ServeSignals signals;
  stop_if_asked(context.execution.observer);
  AccessLog log(options.access_log);
  serve::ServiceOptions service = service_options(options, log, context);
  std::unique_ptr<serve::Models> models;
  if (options.demo) {
    Demo demo = make_demo(context);
    service.catalogue = std::move(demo.catalogue);
    service.users = std::move(demo.users);
    models = std::make_unique<serve::Models>(std::move(demo.models));
  } else {
    const auto held = options.map ? serve::Held::mapped : serve::Held::read;
    models = std::make_unique<serve::Models>(model_sources(options.models), held,
                                             item_filters(options.exclude, options.only),
                                             context.execution.threads);
    if (service.catalogue) {
      for (const auto& model : *models->now())
        say_if_untitled(service.catalogue->table(), options.items, model->items(), context);
    }
  }
  serve::Service answers(*models, std::move(service));
  serve::Server server(answers, {.host = options.host,
                                 .port = options.port,
                                 .threads = context.execution.threads,
                                 .watch = options.watch ? serve::Watch::yes : serve::Watch::no,
                                 .say = [&](const std::string& message) { context.say(message); }});
  say_where(options, server, *models->now(), context);
  signals.pass_to(server, [&log] { log.flush(); });
  server.run();
  signals.end();
  log.flush();
  context.say("stopped");
}

void add_limits(CLI::App& parser, Limits& limits) {
  const auto whole = [&](const char* name, std::int64_t& value, std::int64_t most, const char* help) {
    parser.add_option(name, value, help)
        ->check(whole_number(1, most))
        ->capture_default_str()
        ->group("Limits");
  };
  const auto seconds = [&](const char* name, double& value, const char* help) {
    parser.add_option(name, value, help)
        ->check(positive_number())
        ->capture_default_str()
        ->type_name("SECONDS")
        ->group("Limits");
  };
  whole("--max-header-bytes", limits.header_bytes, 1 << 20, "Bytes of a request's head");
  whole("--max-body-bytes", limits.body_bytes, 1 << 30, "Bytes of a request's body");
  whole("--max-history", limits.history_items, 10'000'000, "Items of a history");
  whole("--max-batch", limits.batch, 100'000, "Requests of a batch");
  whole("--max-k", limits.k, 1'000'000, "The largest k");
  whole("--max-explained", limits.explained, 10'000'000, "Items of a request that are explained");
  whole("--max-diversified", limits.diversified, 1'000'000, "Items of a request in diversified lists");
  whole("--max-reasons", limits.reasons, 100'000'000,
        "Reasons of a request: of each explained item, its history");
  whole("--max-connections", limits.connections, 1'000'000, "Open connections");
  parser
      .add_option("--rate-limit", limits.requests_per_second,
                  "Requests a second of one key (default: any number)")
      ->check(positive_number())
      ->group("Limits");
  seconds("--header-timeout", limits.header_timeout, "For a request's head");
  seconds("--body-timeout", limits.body_timeout, "For a request's body");
  seconds("--idle-timeout", limits.idle_timeout, "Between two requests of a connection");
  seconds("--write-timeout", limits.write_timeout, "For a client to take an answer");
  seconds("--drain-timeout", limits.drain_timeout, "After SIGTERM");
}

void add_access(CLI::App& parser, ServeFlags& options) {
  parser.add_option("--host", options.host, "Address to listen at;\nany but a loopback needs --api-key-file")
      ->capture_default_str();
  parser.add_option("--port", options.port, "Port; 0 takes a free one, which is said")->capture_default_str();
  parser
      .add_option("--api-key-file", options.api_key_file,
                  "Keys of clients, one on each line,\nor NAME:KEY; clients send `Authorization: Bearer KEY`")
      ->type_name("FILE");
  parser.add_option(
      "--allow-host", options.allow_host,
      "A name in Host that is answered, beside localhost and the address of --host; repeatable");
  parser.add_option("--cors-origin", options.cors_origin,
                    "Origin of another page that may read answers, e.g. https://shop.example; repeatable");
  parser.add_option("--picture-origin", options.picture_origin,
                    "Origin of pictures in --items that the page may show, e.g. https://img.shop.example; "
                    "repeatable");
  parser.add_option("--access-log", options.access_log, "A line of JSON for each answer; - for stdout")
      ->type_name("FILE");
}

}  // namespace

Run setup_serve(CLI::App& parser) {
  auto options = std::make_shared<ServeFlags>();
  parser.add_option("MODEL", options->models, "Model files, or NAME=FILE; the first is the default")
      ->type_name("FILE");
  parser.add_flag("--demo", options->demo, "Serve small models of made data; needs no files");
  parser
      .add_option("--items,--titles", options->items,
                  "csv with a header and titles to show:\nid, title and any further columns")
      ->type_name("FILE");
  CLI::Option* const histories =
      parser
          .add_option("--histories", options->histories,
                      "Log of user,item rows, or prepared data:\nhistories for requests with a user")
          ->type_name("FILE|DATA");
  for (CLI::Option* const option : add_log_flags(parser, options->log)) option->needs(histories);
  parser.add_option("--exclude", options->exclude, "File of item ids never to recommend, one per line")
      ->type_name("FILE");
  parser.add_option("--only", options->only, "File of item ids to choose from, one per line")
      ->type_name("FILE");
  parser
      .add_option("--ab", options->ab,
                  "Share of users that a model answers, e.g. wmf=0.1;\nof users and sessions; repeatable")
      ->type_name("NAME=SHARE");
  parser
      .add_option("--shadow", options->shadow,
                  "Model that scores along: /metrics counts where its lists agree with the answers")
      ->type_name("NAME");
  parser.add_flag("--watch", options->watch, "Reload models whose files change");
  parser.add_flag("--map", options->map,
                  "Map model files instead of reading them: less memory, but files may only be replaced by "
                  "renaming");
  add_access(parser, *options);
  put_into_group(parser, "Models", {"--shadow", "--map", "--exclude", "--only"});
  put_into_group(parser, "Access", {"--allow-host", "--cors-origin", "--picture-origin"});
  add_limits(parser, options->limits);
  parser.footer(
      "GET /openapi.json describes all paths; docs/serve.md leads to production.\n\n"
      "Examples:\n"
      "  poise serve --demo\n"
      "  poise serve ease.model --items titles.csv --histories shop.data --watch\n"
      "  poise serve ease.model wmf=models/wmf.model --ab wmf=0.1 --access-log access.jsonl\n"
      "  curl -H 'Content-Type: application/json' -d '{\"history\": [\"1\", \"2\"], \"k\": 3}' \\\n"
      "    http://127.0.0.1:8080/v1/recommend");
  return [options](const Context& context) { run_serve(*options, context); };
}

}  // namespace poise::app
