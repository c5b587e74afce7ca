#include "stages/01_conv1d_cpu/team.hpp"

namespace halo::conv1d_cpu {

Team& Team::instance() {
  static Team team;
  return team;
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  start_.notify_all();
}

void Team::run(int threads, int parts, const std::function<void(int part)>& work) {
  const std::lock_guard one_caller(caller_);
  while (static_cast<int>(workers_.size()) < threads - 1) {
    const int index = static_cast<int>(workers_.size());
    workers_.emplace_back([this, index] { wait_for_work(index); });
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    parts_ = parts;
    next_ = 0;
    wanted_ = threads - 1;
    ++round_;
  }
  start_.notify_all();
  take_parts();
  // A worker that has not woken up yet finds nothing left to do: no need to wait for it.
  std::unique_lock lock(mutex_);
  wanted_ = 0;
  done_.wait(lock, [this] { return active_ == 0; });
}

void Team::wait_for_work(int index) {
  long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return ends_ || (index < wanted_ && round_ != seen); });
    if (ends_) return;
    seen = round_;
    ++active_;
    lock.unlock();
    take_parts();
    lock.lock();
    if (--active_ == 0) done_.notify_one();
  }
}

void Team::take_parts() {
  for (int part = next_++; part < parts_; part = next_++) (*work_)(part);
}

}  // namespace halo::conv1d_cpu
