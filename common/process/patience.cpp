#include "common/process/patience.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace halo {

Patience::Patience(pid_t process, double seconds, double by_the_clock)
    : process_(process),
      seconds_(seconds),
      by_the_clock_(by_the_clock > 0 ? by_the_clock : std::max(1800.0, 10 * seconds)),
      interval_(std::min(1.0, seconds / 10)) {
  heard();
}

void Patience::heard() {
  heard_ = looked_ = Clock::now();
  before_.reset();
  asleep_ = 0;
}

Patience::Lost Patience::look() {
  const auto since = [now = Clock::now()](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (seconds_ <= 0 || since(looked_) < interval_) return Lost::not_yet;
  looked_ = Clock::now();
  std::vector<pid_t> all = processes_below(process_);
  all.push_back(process_);
  Activity now = activity_of(all);
  if (!before_) before_ = now;
  double busiest = 0;
  for (const auto& [thread, seconds] : now.threads) {
    const auto known = before_->threads.find(thread);
    busiest = std::max(busiest, seconds - (known == before_->threads.end() ? 0 : known->second));
  }
  const auto processors = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (busiest >= seconds_ || now.processor - before_->processor >= seconds_ * processors) {
    return Lost::computes;
  }
  // Looks are counted, not seconds: who looks seldom has seen little.
  asleep_ = now.sleeps ? asleep_ + interval_ : 0;
  if (asleep_ >= seconds_) return Lost::sleeps;
  return since(heard_) > by_the_clock_ ? Lost::waited : Lost::not_yet;
}

std::string Patience::words(Lost lost) const {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.4g s", lost == Lost::waited ? by_the_clock_ : seconds_);
  const std::string none = "gave no sign of life ";
  switch (lost) {
    case Lost::not_yet:
      break;
    case Lost::computes:
      return none + "in " + seconds + " of processor time: an endless loop?";
    case Lost::sleeps:
      return none + "for " + seconds + ": it sleeps";
    case Lost::waited:
      return none + "for " + seconds + ", and hardly got a processor: this machine is too busy";
  }
  return {};
}

}  // namespace halo
