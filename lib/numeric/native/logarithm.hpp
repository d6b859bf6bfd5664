/**
 * log(1 + x) for -1 < x <= 0 with the bits of ../assembly/logarithm.ts, which names the source. Its fused multiply-add
 * from exact parts is std::fma here.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

inline uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline double doubleOf(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline double log1pPolynomial(double z) {
  const double R1 = doubleOf(0x3FE5555555555593), R2 = doubleOf(0x3FD999999997FA04);
  const double R3 = doubleOf(0x3FD2492494229359), R4 = doubleOf(0x3FCC71C51D8E78AF);
  const double R5 = doubleOf(0x3FC7466496CB03DE), R6 = doubleOf(0x3FC39A09D078C69F);
  const double R7 = doubleOf(0x3FC2F112DF3E5244);
  const double z2 = z * z, z4 = z2 * z2;
  const double start = std::fma(z, R1, z2 * std::fma(R3, z, R2));
  return std::fma(z2 * z4, std::fma(R7, z, R6), std::fma(z4, std::fma(R5, z, R4), start));
}

inline double log1pExact(double x) {
  const double LN2_HIGH = doubleOf(0x3FE62E42FEE00000), LN2_LOW = doubleOf(0x3DEA39EF35793C76);
  // High word of sqrt(2) without its exponent: mantissas from here on count as halves of the next power.
  constexpr uint32_t SQRT2_MANTISSA = 0x6A09E;
  const uint32_t size = static_cast<uint32_t>(bitsOf(x) >> 32) & 0x7FFFFFFF;
  // |x| < 2^-29: the series needs at most two terms.
  if (size < 0x3E200000) return size < 0x3C900000 ? x : x - x * x * 0.5;
  int k = 0;
  double f = x, correction = 0;
  bool exactPower = false;
  if (size >= 0x3FD2BEC4) {
    // x < -0.2929: reduce 1 + x; the correction is the rounding error of 1 + x.
    const double sum = 1.0 + x;
    const uint64_t bits = bitsOf(sum);
    k = static_cast<int>(bits >> 52) - 1023;
    correction = (k > 0 ? 1.0 - (sum - x) : x - (sum - 1.0)) / sum;
    uint64_t exponent = 0x3FF;
    const uint32_t high = static_cast<uint32_t>(bits >> 32) & 0x000FFFFF;
    uint32_t rest = high;
    if (high >= SQRT2_MANTISSA) {
      k += 1;
      exponent = 0x3FE;
      rest = (0x00100000 - high) >> 2;
    }
    f = doubleOf((bits & 0x000FFFFFFFFFFFFF) | exponent << 52) - 1.0;
    exactPower = rest == 0;
  }
  const double half = 0.5 * f * f, power = k;
  if (exactPower) {
    // |f| < 2^-20
    if (f == 0) return k == 0 ? 0 : power * LN2_HIGH + std::fma(power, LN2_LOW, correction);
    const double remainder = half * std::fma(-0.66666666666666666, f, 1.0);
    if (k == 0) return f - remainder;
    return power * LN2_HIGH - ((remainder - std::fma(power, LN2_LOW, correction)) - f);
  }
  const double s = f / (2.0 + f), r = log1pPolynomial(s * s);
  if (k == 0) return f - (half - s * (half + r));
  return power * LN2_HIGH - ((half - (s * (half + r) + std::fma(power, LN2_LOW, correction))) - f);
}

}  // namespace
