#include "common/simt/cudart/workers.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace simt::cudart {
namespace {

// Threads that wait for the next launch. They live as long as the process.
class Pool {
 public:
  void run(std::size_t workers, const std::function<void(std::size_t)>& work) {
    {
      const std::lock_guard lock(mutex_);
      for (; threads_ + 1 < workers; ++threads_) {
        std::thread([this, number = threads_ + 1] { serve(number); }).detach();
      }
      work_ = &work;
      workers_ = workers;
      running_ = workers - 1;
      ++turn_;
    }
    begins_.notify_all();
    call(0);
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return running_ == 0; });
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    if (failure != nullptr) std::rethrow_exception(failure);
  }

 private:
  void call(std::size_t number) {
    try {
      (*work_)(number);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  void serve(std::size_t number) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t seen = 0;;) {
      begins_.wait(lock, [&] { return turn_ != seen; });
      seen = turn_;
      if (number >= workers_) continue;
      lock.unlock();
      call(number);
      lock.lock();
      if (--running_ == 0) ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable begins_, ended_;
  std::size_t threads_ = 0;  // besides the caller's
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t workers_ = 0, running_ = 0;
  std::uint64_t turn_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void work_together(std::size_t workers, const std::function<void(std::size_t)>& work) {
  static Pool& pool = *new Pool;
  pool.run(workers, work);
}

}  // namespace simt::cudart
