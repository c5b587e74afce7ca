// Kernels that wait for the host or another stream, and the work that waits for them.
//
// A launch runs to its end before its call returns, unless it polls memory until somebody else writes it: then it is kept
// here, and the host goes on. What the host puts behind it is kept too, in its order. Both are done as soon as they can: by the
// host's threads when they wait, and by a thread of its own, since the host may read memory until the kernel answers.
// All of this is called under turn().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/simt/cudart/graphs.hpp"

namespace simt::cudart::waiting {

/// Of a multiprocessor.
struct Room {
  int blocks = 0, threads = 0, shared = 0;
};

/// A launch that has begun.
class Begun {
 public:
  virtual ~Begun() = default;
  /// A word that it polls is another than it was. `is_last_time`: nobody writes any more; whether it may have missed one,
  /// since it changes such words itself.
  virtual bool may_go_on(bool is_last_time) const = 0;
  /// It counts its attempts, and only words that it changes itself are others than they were: others count there, too.
  virtual bool goes_round() const = 0;
  /// True if it has come to its end.
  virtual bool go_on() = 0;
  /// Nobody will write what it waits for: that is told. `bars_others`: a launch has found no room beside it.
  virtual void give_up(bool bars_others) = 0;
  /// The number of the memory's checker that it has.
  virtual std::size_t checker() const = 0;
  /// What its blocks take of the multiprocessor that has the fewest of them.
  virtual Room takes() const = 0;
};

/// The host goes on, and all that comes on the stream waits for it.
void keep(int stream, std::unique_ptr<Begun> launch);
/// Whether some launch is kept.
bool is_any();
/// What all that are kept of the current device take.
Room taken();
/// The first number of a checker that none of them has.
std::size_t free_checker();

/// Whether work on the stream has to wait.
bool holds(int stream);
/// Of work that waits a number, above 0.
using Ticket = std::uint64_t;
/// The work is done when its turn comes, and not before that of `after` is.
Ticket put(int stream, Work work, const std::vector<Ticket>& after = {});
/// The same of a launch, which has no room yet.
void put_until(int stream, Work work, std::function<bool()> has_room);
/// The same of work that waits until memory holds a value, which others write.
void put_until_value(int stream, Work work, std::function<bool()> holds);
bool waits(Ticket ticket);
/// Of the last that waits on this very stream; 0: nothing does.
Ticket last_on(int stream);

/// Does what can be done now.
void advance();
/// The host waits for what is on the stream, for that work, or for all. Throws DeviceIsSpoilt if nobody can write what
/// a kernel waits for. Returns at once where kept work asks for it: what comes before it is done.
void finish_stream(int stream);
void finish(Ticket ticket);
void finish_all();
/// The program ends, or gives the device up: who could still write does not any more.
void end();

}  // namespace simt::cudart::waiting
