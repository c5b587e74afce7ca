// Steps that compute a value per lane: templates from an operation on single values. Each runs over all 32 lanes and
// keeps what inactive lanes had, so that the compiler makes vector code of it; an operation is therefore defined for
// any values, those of inactive lanes too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
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

// Of what multiplies floating-point numbers, changed or as it is, a warp counts how often it does that.
template <class Operation>
inline constexpr bool kIsProduct = requires {
  typename Operation::IsProduct;
};
template <template <class> class Changed, class Operation>
inline constexpr bool kIsProduct<Changed<Operation>> = kIsProduct<Operation>;

// The body is compiled twice on x86-64: as every such processor has it, and for AVX2 with fused multiply-add. Which one runs
// is asked once a call: -march=native would make programs that another machine cannot run.
template <class To, class... From, class Operation, std::size_t... i>
[[gnu::always_inline]] inline const Step* map_body(Operation operation, const Step* step,
                                                   Warp& warp, std::index_sequence<i...>) {
  if constexpr (kIsProduct<Operation>) ++warp.products;
  To* const to = warp.values<To>(step->to);
  const std::tuple<const From*...> from{warp.values<const From>(step->from[i])...};
  // Registers are the same or have nothing in common.
#pragma GCC ivdep
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = static_cast<To>(operation(std::get<i>(from)[lane]...));
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
  return map_body<To, From...>(Operation{}, step, warp, std::index_sequence_for<From...>{});
}
template <class Operation, class... From>
[[gnu::target("avx2,fma")]] const Step* compare_lanes_avx2(const Step* step, Warp& warp) {
  return compare_body<Operation, From...>(step, warp, std::index_sequence_for<From...>{});
}
#endif

// to = operation(from...), for the active lanes.
template <class Operation, class To, class... From>
const Step* map_lanes(const Step* step, Warp& warp) {
  if (warp.active != kAllLanes) {
    return for_active_lanes(&map_lanes<Operation, To, From...>, step, warp, sizeof(To));
  }
#if defined(__x86_64__)
  if (kHasAvx2) return map_lanes_avx2<Operation, To, From...>(step, warp);
#endif
  return map_body<To, From...>(Operation{}, step, warp, std::index_sequence_for<From...>{});
}

// A predicate per lane: a bit each.
template <class Operation, class... From>
const Step* compare_lanes(const Step* step, Warp& warp) {
#if defined(__x86_64__)
  if (kHasAvx2) return compare_lanes_avx2<Operation, From...>(step, warp);
#endif
  return compare_body<Operation, From...>(step, warp, std::index_sequence_for<From...>{});
}

// The same compiled once, of operations that programs seldom have or of which no vector code is made: a newcomer waits for
// the compiler.
template <class Operation, class To, class... From>
const Step* map_seldom(const Step* step, Warp& warp) {
  if (warp.active != kAllLanes) {
    return for_active_lanes(&map_seldom<Operation, To, From...>, step, warp, sizeof(To));
  }
  return map_body<To, From...>(Operation{}, step, warp, std::index_sequence_for<From...>{});
}
// And once for all of an operation's variants, which it is made with.
template <class Operation, class To, class... From>
const Step* map_variant(const Step* step, Warp& warp) {
  if (warp.active != kAllLanes) {
    return for_active_lanes(&map_variant<Operation, To, From...>, step, warp, sizeof(To));
  }
  return map_body<To, From...>(Operation{step->offset}, step, warp,
                               std::index_sequence_for<From...>{});
}
template <class Operation, class... From>
const Step* compare_seldom(const Step* step, Warp& warp) {
  return compare_body<Operation, From...>(step, warp, std::index_sequence_for<From...>{});
}

template <bool is_seldom, class Operation, class To, class... From>
constexpr Execute mapped() {
  if constexpr (is_seldom) {
    return &map_seldom<Operation, To, From...>;
  } else {
    return &map_lanes<Operation, To, From...>;
  }
}
// From `kFrom` values of a type to one.
template <bool is_seldom, int kFrom, class Operation, class T>
constexpr Execute mapped_same() {
  if constexpr (kFrom == 1) return mapped<is_seldom, Operation, T, T>();
  if constexpr (kFrom == 2) return mapped<is_seldom, Operation, T, T, T>();
  if constexpr (kFrom == 3) return mapped<is_seldom, Operation, T, T, T, T>();
}

template <int kFrom, class Operation, class T>
constexpr Execute mapped_variant() {
  if constexpr (kFrom == 1) return &map_variant<Operation, T, T>;
  if constexpr (kFrom == 2) return &map_variant<Operation, T, T, T>;
  if constexpr (kFrom == 3) return &map_variant<Operation, T, T, T, T>;
}

// Adds a row per type: pattern + ".s32", from `kFrom` values of the type to one.
template <int kFrom, ptx::Type... types, class Operation>
void same(std::vector<Form>& forms, std::string_view pattern, Operation) {
  (add_row(forms, pattern, types, kFrom, mapped_same<false, kFrom, Operation, Lane<types>>()), ...);
}
template <int kFrom, ptx::Type... types, class Operation>
void seldom(std::vector<Form>& forms, std::string_view pattern, Operation) {
  (add_row(forms, pattern, types, kFrom, mapped_same<true, kFrom, Operation, Lane<types>>()), ...);
}

}  // namespace simt::machine
