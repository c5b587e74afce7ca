// What kernels ask of the runtime: printf, assert, malloc, the end of the launch.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/simt/cudart/graphs.hpp"
#include "common/simt/cudart/launches.hpp"
#include "common/simt/machine/services.hpp"
#include "common/simt/simt.hpp"

namespace simt::cudart {

class Watch;

/// A launch by a kernel, or a copy: it begins when the kernel has ended.
struct ChildLaunch {
  Work copy = nullptr;  // or a memset; then there is no kernel
  Kernel* kernel = nullptr;
  Launching what;
  std::vector<std::byte> parameters;
  bool is_last = false;        // on the stream cudaStreamTailLaunch
  std::uint32_t launches = 0;  // that its kernel had made then, this one too
  std::uint32_t stream = 0;    // of its kernel: what is on another runs beside it
  std::int32_t site = -1;      // of the call, of a copy
};

class KernelServices : public machine::Services {
 public:
  /// `watch` is told how the launch ended where the kernel ends it.
  KernelServices(Watch& watch, Kernel& kernel) : watch_(watch), kernel_(kernel) {}
  ~KernelServices() override;
  KernelServices(const KernelServices&) = delete;
  KernelServices& operator=(const KernelServices&) = delete;

  std::optional<std::uint64_t> call(const machine::LaneCall& call) override;
  /// Those that its threads have asked for, in that order, the last ones last.
  std::vector<ChildLaunch> children();

 private:
  std::uint64_t buffer_for(const machine::LaneCall& call);
  std::uint64_t launch(const machine::LaneCall& call);
  std::uint64_t add(ChildLaunch child, const machine::LaneCall& call, std::uint64_t stream);
  std::uint64_t add_copy(Work copy, const machine::LaneCall& call, std::uint64_t stream);
  std::uint32_t stream_of(const machine::LaneCall& call, std::uint64_t handle);
  std::uint32_t stream_now(std::uint32_t stream) const;

  Watch& watch_;
  Kernel& kernel_;
  std::map<std::uint64_t, ChildLaunch> buffers_;  // by where the arguments are to lie
  std::vector<ChildLaunch> children_;
  std::uint64_t last_handle_ = 0;
  // Streams by handle, those without one by block too; by number what they are counted as: an event makes two one. And the
  // stream on which an event was recorded last.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> streams_;
  std::vector<std::uint32_t> counted_as_{0};
  std::map<std::uint64_t, std::uint32_t> recorded_;
};

}  // namespace simt::cudart
