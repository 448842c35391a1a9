#pragma once

#include "poise/backend/resident.hpp"

namespace poise::testing {

/// A matrix in ordinary memory where a backend reads and writes it, for the time of a call: what is there is
/// brought along, and what was written comes back.
template <class T>
class There {
 public:
  There(Backend& backend, MatrixView<T> home) : borrowed_(backend, home) {
    if (backend.traits().own_memory) backend.upload(home, borrowed_.view());
  }
  There(Backend& backend, Matrix<T>& home) : There(backend, home.view()) {}
  There(const There&) = delete;
  There& operator=(const There&) = delete;
  ~There() { borrowed_.give_back(); }
  operator Out<T>() const { return borrowed_.view(); }  // NOLINT(*-explicit-*)
  operator In<T>() const { return borrowed_.view(); }   // NOLINT(*-explicit-*)

 private:
  Borrowed<T> borrowed_;
};

}  // namespace poise::testing
