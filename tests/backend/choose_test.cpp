#include "poise/backend/choose.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::expect_error;

TEST(ChooseDevice, Names) {
  EXPECT_EQ(parse_device("auto"), DeviceChoice::automatic);
  EXPECT_EQ(parse_device("cpu"), DeviceChoice::cpu);
  EXPECT_EQ(parse_device("cuda"), DeviceChoice::cuda);
  expect_error(ErrorKind::usage, "gpu", [] { static_cast<void>(parse_device("gpu")); });
}

TEST(ChooseDevice, TheProcessorForLittleWorkAndWhereItIsAskedFor) {
  EXPECT_EQ(choose_device(DeviceChoice::automatic, {worth_a_gpu / 2}).kind, BackendKind::cpu);
  EXPECT_EQ(choose_device(DeviceChoice::cpu, {1e20}).kind, BackendKind::cpu);
}

TEST(ChooseDevice, TheGpuForMuchWorkWhereThereIsOne) {
  const ChosenDevice chosen = choose_device(DeviceChoice::automatic, {2 * worth_a_gpu});
  EXPECT_EQ(chosen.kind, testing::gpu_is_there() ? BackendKind::cuda : BackendKind::cpu);
  EXPECT_FALSE(chosen.reason.empty());
}

TEST(ChooseDevice, TheProcessorForWhatNoGpuHolds) {
  const ChosenDevice chosen =
      choose_device(DeviceChoice::automatic, {.operations = 2 * worth_a_gpu, .gpu_bytes = 1e18});
  EXPECT_EQ(chosen.kind, BackendKind::cpu);
  if (testing::gpu_is_there()) {
    EXPECT_NE(chosen.reason.find("1000000000.0 GB"), std::string::npos) << chosen.reason;
  }
}

TEST(ChooseDevice, AGpuThatWasStartedEarlyIsTheOneThatIsTaken) {
  bool ran = false;
  EarlyGpu early(1, nullptr, CudaReady::to_train,
                 [&](Backend& backend) { ran = backend.traits().own_memory; });
  const ChosenDevice chosen = choose_device(DeviceChoice::automatic, {2 * worth_a_gpu}, early);
  EXPECT_EQ(chosen.kind, testing::gpu_is_there() ? BackendKind::cuda : BackendKind::cpu);
  EXPECT_EQ(chosen.reason, choose_device(DeviceChoice::automatic, {2 * worth_a_gpu}).reason);
  EXPECT_EQ(early.take() != nullptr, testing::gpu_is_there());
  EXPECT_EQ(ran, testing::gpu_is_there());
  EXPECT_EQ(early.take(), nullptr) << "it is taken once";
  EXPECT_EQ(EarlyGpu().take(), nullptr);
}

TEST(ChooseDevice, AGpuThatIsAskedForIsTakenOrAnError) {
  EXPECT_EQ(cuda_info().built, built_with_cuda());
  if (testing::gpu_is_there()) {
    EXPECT_EQ(choose_device(DeviceChoice::cuda, {}).kind, BackendKind::cuda);
  } else {
    expect_error(ErrorKind::resources, "device cpu",
                 [] { static_cast<void>(choose_device(DeviceChoice::cuda, {})); });
    expect_error(ErrorKind::resources, "device cpu",
                 [] { static_cast<void>(make_backend(BackendKind::cuda, 1)); });
  }
}

}  // namespace
}  // namespace poise
