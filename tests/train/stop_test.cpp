#include <atomic>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "poise/backend/backend.hpp"
#include "poise/train/trainer.hpp"

#include "support/expect_error.hpp"
#include "support/random_dataset.hpp"

namespace poise {
namespace {

/// Lets the work ask `patience` times whether to stop, then says yes and counts what is done all the same.
class Impatient : public Observer {
 public:
  explicit Impatient(std::int64_t patience) : patience_(patience) {}
  [[nodiscard]] bool stop_requested() const override { return ++asked_ > patience_; }
  void advance(std::uint64_t /*amount*/) override {
    if (asked_ > patience_) ++steps_after_;
  }
  [[nodiscard]] std::int64_t asked() const { return asked_; }
  [[nodiscard]] std::int64_t steps_after() const { return steps_after_; }

 private:
  std::int64_t patience_;
  mutable std::atomic<std::int64_t> asked_ = 0;
  std::atomic<std::int64_t> steps_after_ = 0;
};

class StopTest : public ::testing::TestWithParam<ModelParameters> {
 protected:
  void train(Impatient& observer) {
    Trainer trainer(data_.train.view(), Keep::nothing, 1U << 30U, *backend_,
                    {.threads = threads, .observer = &observer});
    trainer.train(GetParam());
  }

  static constexpr int threads = 2;
  Dataset data_ = testing::random_dataset({.users = 300, .items = 600, .density = 0.03, .seed = 3});
  std::unique_ptr<Backend> backend_ = make_backend(BackendKind::cpu, threads);
};

/// Ctrl-C is answered soon, counted in steps of the work and not in seconds: a training is cut into several,
/// asks at each, and each thread ends at most the one that it is in.
TEST_P(StopTest, AtTheNextStep) {
  Impatient patient(std::numeric_limits<std::int64_t>::max());
  train(patient);
  EXPECT_GE(patient.asked(), 5);
  for (const std::int64_t patience : {std::int64_t{0}, patient.asked() / 2, patient.asked() - 1}) {
    Impatient observer(patience);
    testing::error_message(ErrorKind::interrupted, [&] { train(observer); });
    EXPECT_LE(observer.steps_after(), threads) << "asked " << patience << " times before";
  }
}

ModelParameters of(Family family, double alpha) {
  ModelParameters parameters{.family = family, .rank = 5, .lambda = 3};
  parameters.weighting.alpha = alpha;
  return parameters;
}

INSTANTIATE_TEST_SUITE_P(Models, StopTest,
                         ::testing::Values(of(Family::full_rank, 1), of(Family::full_rank, 4),
                                           of(Family::awmf, 4), of(Family::wmf, 4)),
                         [](const auto& info) {
                           return std::string(info.param.family == Family::full_rank ? "FullRank"
                                              : info.param.family == Family::awmf    ? "Awmf"
                                                                                     : "Wmf") +
                                  (info.param.weighting.alpha == 1 ? "" : "Weighted");
                         });

}  // namespace
}  // namespace poise
