// The special function unit: what an H200 answers where PTX says `.approx`, bit for bit.
#pragma once

namespace simt::machine::special {

/// Each as the hardware's instruction has it (MUFU.RCP, ...): numbers below the normal ones are zeros, before and after
/// (but to hyperbolic_tangent, which gives small ones back), and the result is cut off, not rounded.
float reciprocal(float a);
float reciprocal_root(float a);
float root(float a);
float power_of_two(float a);
float logarithm(float a);  // to base 2
/// Of an angle in turns, of which 25 places count.
float sine(float turns);
float cosine(float turns);
float hyperbolic_tangent(float a);
/// Of the upper word; the lower one of the result is zero (MUFU.RCP64H and RSQ64H).
double reciprocal(double a);
double reciprocal_root(double a);

}  // namespace simt::machine::special
