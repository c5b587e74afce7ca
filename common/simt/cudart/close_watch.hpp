// Watches a launch of which more is asked than usual: which lane touched what, and which pages were written.
#pragma once

#include <optional>
#include <set>

#include "common/simt/cudart/watch.hpp"
#include "common/simt/report/trace.hpp"

namespace simt::cudart {

/// Whether this launch of the kernel is one that leaves a trace (SIMT_TRACE, trace_launches). It counts as one.
bool wants_trace(const std::string& kernel);

class CloseWatch final : public Watch {
 public:
  /// All of the arguments must outlive it.
  CloseWatch(Kernel& kernel, const machine::Grid& grid, unsigned checks,
             timeline::Operation& operation, bool traces);
  /// What the launch has written is known to written_parts() if it had chosen blocks.
  ~CloseWatch() override;

  std::uint32_t access(const machine::WarpAccess& access) override;
  void end(const machine::Block& block) override;
  Launch launch() override;

 private:
  void note_pages(const machine::WarpAccess& access);

  std::optional<report::TraceLog> trace_;
  bool notes_pages_;
  std::set<std::uint64_t> pages_;
  std::uint64_t last_page_ = 0;
};

}  // namespace simt::cudart
