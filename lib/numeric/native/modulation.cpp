/**
 * BPSK x = 1 - 2b and QPSK ((1 - 2b0) + j(1 - 2b1)) / sqrt(2), and back to exact log-likelihood ratios, positive for bit 0,
 * with hard decisions. The arithmetic is that of ../modulation.ts: binary64, rounded once, so the results are the same
 * to the last bit.
 *
 * Shapes: bits uint8, symbols complex64 interleaved, llr float32.
 */
#include "export.hpp"

namespace {

/** 1/sqrt(2) as binary32 bits; the highest bit is the sign. */
constexpr uint32_t QPSK_LEVEL = 0x3F3504F3;
constexpr double LEAST_NOISE_VARIANCE = 1e-12;
/** Log-likelihood ratios of a tile, which is decided while it is in the cache. */
constexpr size_t TILE = 2048;

/** 1/N0; NaN stays NaN. */
inline double precisionOf(double variance) {
  return 1 / (variance < LEAST_NOISE_VARIANCE ? LEAST_NOISE_VARIANCE : variance);
}

/** Calls `demap(from, to)` tile by tile and makes hard decisions of its results. */
template <class Demap>
inline void byTile(size_t count, const float* llr, uint8_t* __restrict bits, Demap demap) {
  for (size_t from = 0; from < count; from += TILE) {
    const size_t to = count - from < TILE ? count : from + TILE;
    demap(from, to);
    for (size_t i = from; i < to; i++) bits[i] = llr[i] < 0;
  }
}

}  // namespace

SVC_EXPORT(void, modulate_bpsk)(const uint8_t* __restrict bits, float* __restrict symbols, size_t count) {
  for (size_t i = 0; i < count; i++) {
    symbols[2 * i] = static_cast<float>(1 - 2 * bits[i]);
    symbols[2 * i + 1] = 0;
  }
}

/** A zero completes an odd bit. */
SVC_EXPORT(void, modulate_qpsk)(const uint8_t* __restrict bits, uint32_t* __restrict symbols, size_t count) {
  for (size_t i = 0; i < count; i++) symbols[i] = QPSK_LEVEL | static_cast<uint32_t>(bits[i]) << 31;
  if (count & 1) symbols[count] = QPSK_LEVEL;
}

/** @param variances one per symbol, or null if `variance` holds for all */
SVC_EXPORT(void, demodulate_bpsk)(
    const float* __restrict symbols, const float* __restrict variances, double variance, size_t count,
    float* __restrict llr, uint8_t* __restrict bits) {
  const double scale = 4 * precisionOf(variance);
  byTile(count, llr, bits, [=](size_t from, size_t to) {
    if (variances == nullptr) {
      for (size_t i = from; i < to; i++) llr[i] = static_cast<float>(scale * symbols[2 * i]);
    } else {
      for (size_t i = from; i < to; i++) {
        llr[i] = static_cast<float>(4 * precisionOf(variances[i]) * symbols[2 * i]);
      }
    }
  });
}

/** @param variances one per symbol, or null if `variance` holds for all */
SVC_EXPORT(void, demodulate_qpsk)(
    const float* __restrict symbols, const float* __restrict variances, double variance, size_t count,
    float* __restrict llr, uint8_t* __restrict bits) {
  constexpr double SQRT2 = 1.4142135623730951;
  const double scale = 2 * SQRT2 * precisionOf(variance);
  byTile(2 * count, llr, bits, [=](size_t from, size_t to) {
    if (variances == nullptr) {
      for (size_t i = from; i < to; i++) llr[i] = static_cast<float>(scale * symbols[i]);
    } else {
      for (size_t i = from; i < to; i++) {
        llr[i] = static_cast<float>(2 * SQRT2 * precisionOf(variances[i >> 1]) * symbols[i]);
      }
    }
  });
}
