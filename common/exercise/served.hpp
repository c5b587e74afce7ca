// What the judge asks of any process that has a device: its memory, and what the backend says of itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/exercise/wire.hpp"
#include "common/harness/backend/backend.hpp"
#include "common/json/json.hpp"

namespace halo::exercises {

class Served {
 public:
  Served() : backend_(make_backend()) {}

  Backend& backend() { return *backend_; }
  /// Of hello.
  json::Value description();
  /// Whether it was one of what is asked of any.
  bool answer(const Request& request, Answer& answer);

  struct Memory {
    std::uint64_t bytes = 0;
    std::string name;
  };
  /// That the judge has asked for, by its first address.
  const std::map<std::uint64_t, Memory>& memory() const { return memory_; }

 private:
  std::unique_ptr<Backend> backend_;
  std::map<std::uint64_t, Memory> memory_;
};

template <class T>
T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

/// Answers until nobody asks any more. `answer_to` may throw: what() is the answer then.
int serve(const std::function<Answer(const Request&)>& answer_to);

}  // namespace halo::exercises
