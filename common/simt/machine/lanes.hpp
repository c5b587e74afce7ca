// Steps that compute a value per lane: templates from an operation on single values. Each runs over all 32 lanes and
// keeps what inactive lanes had, so that the compiler makes vector code of it; an operation is therefore defined for
// any values, those of inactive lanes too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/warp.hpp"

namespace simt::machine {

// A PTX type as it stands in a lane.
template <ptx::Type type>
struct LaneType;
// clang-format off
template <> struct LaneType<ptx::Type::b16> { using type = std::uint16_t; };
template <> struct LaneType<ptx::Type::b32> { using type = std::uint32_t; };
template <> struct LaneType<ptx::Type::b64> { using type = std::uint64_t; };
template <> struct LaneType<ptx::Type::u16> { using type = std::uint16_t; };
template <> struct LaneType<ptx::Type::u32> { using type = std::uint32_t; };
template <> struct LaneType<ptx::Type::u64> { using type = std::uint64_t; };
template <> struct LaneType<ptx::Type::s16> { using type = std::int16_t; };
template <> struct LaneType<ptx::Type::s32> { using type = std::int32_t; };
template <> struct LaneType<ptx::Type::s64> { using type = std::int64_t; };
template <> struct LaneType<ptx::Type::u8>  { using type = std::uint8_t; };
template <> struct LaneType<ptx::Type::s8>  { using type = std::int8_t; };
template <> struct LaneType<ptx::Type::b8>  { using type = std::uint8_t; };
template <> struct LaneType<ptx::Type::f32> { using type = float; };
template <> struct LaneType<ptx::Type::f64> { using type = double; };
// As bits: no C++ type has their arithmetic.
template <> struct LaneType<ptx::Type::f16>    { using type = std::uint16_t; };
template <> struct LaneType<ptx::Type::bf16>   { using type = std::uint16_t; };
template <> struct LaneType<ptx::Type::f16x2>  { using type = std::uint32_t; };
template <> struct LaneType<ptx::Type::bf16x2> { using type = std::uint32_t; };
template <> struct LaneType<ptx::Type::tf32>   { using type = std::uint32_t; };
// clang-format on
template <ptx::Type type>
using Lane = typename LaneType<type>::type;

// The body is compiled twice on x86-64: as every such processor has it, and for AVX2 with fused multiply-add. Which one runs
// is asked once a call: -march=native would make programs that another machine cannot run.
template <class Operation, class To, class... From, std::size_t... i>
[[gnu::always_inline]] inline const Step* map_body(const Step* step, Warp& warp,
                                                   std::index_sequence<i...>) {
  To* const to = warp.values<To>(step->to);
  const std::tuple<const From*...> from{warp.values<const From>(step->from[i])...};
  if (warp.active == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane)
      to[lane] = static_cast<To>(Operation{}(std::get<i>(from)[lane]...));
  } else {
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<To>(Operation{}(std::get<i>(from)[lane]...));
      to[lane] = warp.lanes[static_cast<std::size_t>(lane)] != 0 ? value : to[lane];
    }
  }
  return step + 1;
}
template <class Operation, class... From, std::size_t... i>
[[gnu::always_inline]] inline const Step* compare_body(const Step* step, Warp& warp,
                                                       std::index_sequence<i...>) {
  const std::tuple<const From*...> from{warp.values<const From>(step->from[i])...};
  std::uint32_t bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    bits |= static_cast<std::uint32_t>(Operation{}(std::get<i>(from)[lane]...)) << lane;
  }
  std::uint32_t& to = warp.predicate(step->to);
  to = (to & ~warp.active) | (bits & warp.active);
  return step + 1;
}

#if defined(__x86_64__)
inline const bool kHasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");

template <class Operation, class To, class... From>
[[gnu::target("avx2,fma")]] const Step* map_lanes_avx2(const Step* step, Warp& warp) {
  return map_body<Operation, To, From...>(step, warp, std::index_sequence_for<From...>{});
}
template <class Operation, class... From>
[[gnu::target("avx2,fma")]] const Step* compare_lanes_avx2(const Step* step, Warp& warp) {
  return compare_body<Operation, From...>(step, warp, std::index_sequence_for<From...>{});
}
#endif

// to = operation(from...), for the active lanes.
template <class Operation, class To, class... From>
const Step* map_lanes(const Step* step, Warp& warp) {
#if defined(__x86_64__)
  if (kHasAvx2) return map_lanes_avx2<Operation, To, From...>(step, warp);
#endif
  return map_body<Operation, To, From...>(step, warp, std::index_sequence_for<From...>{});
}

// A predicate per lane: a bit each.
template <class Operation, class... From>
const Step* compare_lanes(const Step* step, Warp& warp) {
#if defined(__x86_64__)
  if (kHasAvx2) return compare_lanes_avx2<Operation, From...>(step, warp);
#endif
  return compare_body<Operation, From...>(step, warp, std::index_sequence_for<From...>{});
}

// Adds a row per type: pattern + ".s32", from `kFrom` values of the type to one.
template <int kFrom, ptx::Type... types, class Operation>
void same(std::vector<Form>& forms, const std::string& pattern, Operation) {
  const auto add = [&]<ptx::Type type>() {
    using T = Lane<type>;
    Form form{.pattern = pattern + "." + std::string(name_of(type)), .to = type};
    std::fill_n(form.from.begin(), kFrom, type);
    if constexpr (kFrom == 1) form.run = &map_lanes<Operation, T, T>;
    if constexpr (kFrom == 2) form.run = &map_lanes<Operation, T, T, T>;
    if constexpr (kFrom == 3) form.run = &map_lanes<Operation, T, T, T, T>;
    forms.push_back(form);
  };
  (add.template operator()<types>(), ...);
}

}  // namespace simt::machine
