// Messages of the Debug Adapter Protocol over a stream: a length, and so many bytes of JSON.
#pragma once

#include <optional>
#include <string>

#include "common/json/json.hpp"

namespace simt::debug {

using Json = halo::json::Value;

class Connection {
 public:
  /// Closes them in the end. `out` -1: the same as `in`.
  explicit Connection(int in, int out = -1) : in_(in), out_(out < 0 ? in : out) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The next message; none: the other end is gone, or what comes is no message.
  std::optional<Json> receive();
  /// False: the other end is gone.
  bool send(const Json& message);
  /// The other end of a socket finds this one gone, and so does whoever waits here.
  void close();

 private:
  int in_, out_;
  std::string read_;  // and not yet used
};

}  // namespace simt::debug
