// The other end of a program's debugger (debugger.hpp): a terminal's, or what stands between the program and an editor.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "common/simt/debug/connection.hpp"

namespace simt::debug {

/// A socket for SIMT_DEBUG to name, in a folder of its own.
class Listener {
 public:
  /// Throws std::runtime_error, one line.
  Listener();
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const std::string& path() const { return path_; }
  /// Waits for the program; null once stop() was called.
  std::unique_ptr<Connection> accept();
  /// No program will come.
  void stop();

 private:
  std::string folder_, path_;
  int socket_ = -1;
};

/// Where to stop.
struct Wanted {
  std::optional<std::int64_t> block, thread;  // counted through; else whoever comes first
  std::string file;                           // of the line
  int line = 0;                               // 0: each kernel's first
  bool is_batch = false;                      // tells where it has stopped, and ends
};

/// Reads commands and tells what comes of them, until the user or the program has ended. Whether a thread was ever stopped.
bool talk(Connection& program, const Wanted& wanted, std::istream& in, std::ostream& out);

/// Carries messages to and fro until one of both is gone. Where the editor does not say which thread, `wanted` does.
void relay(const std::shared_ptr<Connection>& editor, const std::shared_ptr<Connection>& program,
           const Wanted& wanted);

/// What came of waiting for a program: none came, it ended and was never stopped, or what an editor or a user saw of it.
enum class Meeting { none, unstopped, attended };

/// Waits for a program, and then talks at this terminal, or relays what an editor says on stdin. What it waits for ends when
/// the user has ended. Returns when Listener::stop() is called, or both have met.
Meeting attend(Listener& listener, const Wanted& wanted, bool is_for_editor);

}  // namespace simt::debug
