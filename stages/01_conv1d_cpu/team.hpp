// Threads that wait for work instead of being started for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace halo::conv1d_cpu {

class Team {
 public:
  /// The one of this process: starts no thread before it is asked for some, ends them at exit.
  static Team& instance();
  ~Team();

  /// Calls work(0) ... work(parts - 1), each once, on up to `threads` threads, this one among them,
  /// and returns when all are done. Who is free takes the next part, so a thread that is held up
  /// holds up no more than its part. One caller at a time: others wait. `work` must not throw.
  void run(int threads, int parts, const std::function<void(int part)>& work);

 private:
  Team() = default;
  void wait_for_work(int index);
  void take_parts();

  std::mutex caller_;  // held by the one who runs

  std::mutex mutex_;  // of what follows
  std::condition_variable start_, done_;
  long round_ = 0;
  int wanted_ = 0;  // workers 0 ... wanted_ - 1 may join the round; 0 between rounds
  int active_ = 0;  // workers that have joined it
  bool ends_ = false;

  const std::function<void(int)>* work_ = nullptr;
  int parts_ = 0;
  std::atomic<int> next_ = 0;
  std::vector<std::jthread> workers_;
};

}  // namespace halo::conv1d_cpu
