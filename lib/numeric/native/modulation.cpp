/**
 * Bits to symbols: BPSK x = 1 - 2b, QPSK ((1 - 2b0) + j(1 - 2b1)) / sqrt(2), or the points of a table; and back to
 * log-likelihood ratios, positive for bit 0, with hard decisions: exact for BPSK and QPSK, max-log above. The arithmetic
 * is that of ../link/modulation.ts: binary64, rounded once, so the results are the same to the last bit.
 *
 * Shapes: bits uint8, symbols complex64 interleaved, llr float32.
 */
#include <cmath>

#include "bits.hpp"
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

/** Parts of symbols that are demapped together, level by level, in vectors. */
constexpr size_t PARTS = 256;

/** The LLRs of the bits from one level on, of parts v; see `demap` of ../kernels/assembly/bits.ts. `llr` is that of the first part. */
template <int HALF>
inline void demapLevels(double* __restrict v, const double* by, double edge, size_t parts, float* llr, size_t width) {
  float out[PARTS];
  for (size_t j = 0; j < parts; j++) {
    const double size = std::fabs(v[j]);
    double beyond = 0;
    for (int k = 1; k < HALF; k++) {
      const double excess = size - k * edge;
      beyond += excess < 0 ? 0 : excess;
    }
    out[j] = static_cast<float>(by[j] * (v[j] + std::copysign(beyond, v[j])));
    v[j] = (HALF >> 1) * edge - size;
  }
  for (size_t j = 0; j < parts; j++) llr[(j >> 1) * width + (j & 1)] = out[j];
  if constexpr (HALF > 1) demapLevels<HALF / 2>(v, by, edge, parts, llr + 2, width);
}

template <int BITS>
inline void demapSquare(
    const float* symbols, const float* variances, double variance, size_t count, float* llr, uint8_t* __restrict bits,
    double slope, double edge) {
  double v[PARTS], by[PARTS];
  for (size_t j = 0; j < PARTS; j++) by[j] = slope * precisionOf(variance);
  for (size_t from = 0; from < 2 * count; from += PARTS) {
    const size_t parts = 2 * count - from < PARTS ? 2 * count - from : PARTS;
    for (size_t j = 0; j < parts; j++) v[j] = symbols[from + j];
    for (size_t j = 0; variances != nullptr && j < parts; j++) by[j] = slope * precisionOf(variances[(from + j) >> 1]);
    demapLevels<1 << (BITS - 1)>(v, by, edge, parts, llr + BITS * from, 2 * BITS);
    for (size_t i = BITS * from; i < BITS * (from + parts); i++) bits[i] = llr[i] < 0;
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

/** @param points 2^width points by label; zeros complete the last symbol */
SVC_EXPORT(void, modulate_points)
(const uint8_t* __restrict bits, float* __restrict symbols, size_t count, const float* __restrict points, int width) {
  size_t at = 0;
  const auto put = [&](uint64_t word) {
    std::memcpy(symbols, points + 2 * labelOf(word, width), 2 * sizeof(float));
    symbols += 2;
  };
  for (; at + 8 <= count; at += width) put(wordAt(bits + at));
  for (; at < count; at += width) put(wordAt(bits + at, count - at));
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

/** Square QAM of 16, 64 or 256 points. @param slope, edge as of `demap` in ../kernels/assembly/bits.ts */
SVC_EXPORT(void, demodulate_square)(
    const float* __restrict symbols, const float* __restrict variances, double variance, size_t count,
    float* __restrict llr, uint8_t* __restrict bits, int bits_per_part, double slope, double edge) {
  const auto demap = bits_per_part == 2 ? demapSquare<2> : bits_per_part == 3 ? demapSquare<3> : demapSquare<4>;
  demap(symbols, variances, variance, count, llr, bits, slope, edge);
}

/** Symbols with real part 0 or 1: LLR (1 - 2 Re y) / N0, and 1 where Re y > 1/2. */
SVC_EXPORT(void, demodulate_identity)(
    const float* __restrict symbols, const float* __restrict variances, double variance, size_t count,
    float* __restrict llr, uint8_t* __restrict bits) {
  for (size_t i = 0; i < count; i++) {
    const double noise = variances == nullptr ? variance : variances[i], real = symbols[2 * i];
    llr[i] = static_cast<float>((1 - 2 * real) / (noise < LEAST_NOISE_VARIANCE ? LEAST_NOISE_VARIANCE : noise));
    bits[i] = real > 0.5;
  }
}
