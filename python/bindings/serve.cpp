#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "poise/serve/server.hpp"

#include "parts.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

/// A server on threads of its own, until it is stopped.
class RunningServer {
 public:
  /// `models`: names and files; an empty `items` is no titles.
  RunningServer(const std::vector<std::pair<std::string, std::string>>& models, const std::string& items,
                const std::string& host, std::uint16_t port, int threads)
      : models_(sources_of(models), serve::Held::read, {}, threads),
        service_(models_, options_of(items, host)),
        server_(service_, {.host = host, .port = port, .threads = threads}),
        url_("http://" + serve::host_in_url(host) + ":" + std::to_string(server_.port()) + "/"),
        thread_([this] { server_.run(); }) {}
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() { stop(); }

  [[nodiscard]] const std::string& url() const { return url_; }
  void stop() {
    if (!thread_.joinable()) return;
    server_.drain();
    thread_.join();
  }

 private:
  static std::vector<serve::ModelSource> sources_of(
      const std::vector<std::pair<std::string, std::string>>& models) {
    std::vector<serve::ModelSource> sources;
    for (const auto& [name, path] : models) sources.push_back({name, path});
    return sources;
  }
  static serve::ServiceOptions options_of(const std::string& items, const std::string& host) {
    serve::ServiceOptions options;
    options.access.hosts = {serve::host_in_url(host)};
    options.limits.drain_timeout = 5;
    if (!items.empty())
      options.catalogue = std::make_unique<const serve::ItemCatalogue>(ItemTable::read(items));
    return options;
  }

  serve::Models models_;
  serve::Service service_;
  serve::Server server_;
  std::string url_;
  std::thread thread_;
};

}  // namespace

void bind_serve(py::module_& module) {
  py::class_<RunningServer>(module, "Server")
      .def(py::init<const std::vector<std::pair<std::string, std::string>>&, const std::string&,
                    const std::string&, std::uint16_t, int>(),
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("url", &RunningServer::url)
      .def("stop", &RunningServer::stop, py::call_guard<py::gil_scoped_release>());
  module.def("is_loopback", [](const std::string& host) { return serve::is_loopback(host); });
}

}  // namespace poise::python
