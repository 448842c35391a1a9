#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "poise/backend/backend.hpp"

#include "support/host_calls.hpp"
#include "support/tested_backend.hpp"

namespace poise::testing {

struct BackendCase {
  BackendKind kind;
  int threads;
};

/// The GPU where there is one; nothing else with POISE_TEST_DEVICE=cuda, so that its tests run by themselves.
inline std::vector<BackendCase> all_backends() {
  std::vector<BackendCase> cases;
  if (tested_kind() == BackendKind::cpu) {
    cases = {{BackendKind::reference, 1},
             {BackendKind::cpu, 1},
             {BackendKind::cpu, 2},
             {BackendKind::cpu, 3},
             {BackendKind::cpu, 7}};
  }
  if (tested_kind() == BackendKind::cuda || gpu_is_there()) cases.push_back({BackendKind::cuda, 2});
  return cases;
}

/// Names the case in reports; without it they would show the object's bytes.
inline void PrintTo(const BackendCase& backend, std::ostream* out) {
  *out << to_string(backend.kind) << " on " << backend.threads << " threads";
}

inline std::string case_name(const ::testing::TestParamInfo<BackendCase>& info) {
  return std::string(to_string(info.param.kind)) + std::to_string(info.param.threads);
}

/// A test written once and run on each backend, with the reference backend as the oracle and the same backend
/// on one thread as the one to equal bit for bit.
class BackendTest : public ::testing::TestWithParam<BackendCase> {
 protected:
  HostCalls backend{make_backend(GetParam().kind, GetParam().threads)};
  HostCalls one_thread{make_backend(GetParam().kind, 1)};
  HostCalls reference{make_backend(BackendKind::reference, 1)};
};

/// One with matrices in the backend's memory.
class DeviceTest : public ::testing::TestWithParam<BackendCase> {
 protected:
  std::unique_ptr<Backend> backend = make_backend(GetParam().kind, GetParam().threads);
};

}  // namespace poise::testing

/// One suite for each primitive, on all backends.
#define POISE_BACKEND_SUITE(suite) POISE_SUITE_OF(suite, poise::testing::BackendTest)
#define POISE_DEVICE_SUITE(suite) POISE_SUITE_OF(suite, poise::testing::DeviceTest)
#define POISE_SUITE_OF(suite, base)                                                              \
  class suite : public base {};                                                                  \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::ValuesIn(poise::testing::all_backends()), \
                           poise::testing::case_name)
