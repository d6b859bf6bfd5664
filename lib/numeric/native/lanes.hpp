/**
 * Vectors of int8 for the decoder, as wide as the level supports. All forms compute the same, so results do not depend
 * on the level.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512BW__)

struct Lanes {
  static constexpr int WIDTH = 64;
  __m512i v;

  static Lanes load(const int8_t* from) { return {_mm512_loadu_si512(from)}; }
  static Lanes of(int8_t value) { return {_mm512_set1_epi8(value)}; }
  void store(int8_t* to) const { _mm512_storeu_si512(to, v); }
  /** Sum and difference, saturating. */
  friend Lanes operator+(Lanes a, Lanes b) { return {_mm512_adds_epi8(a.v, b.v)}; }
  friend Lanes operator-(Lanes a, Lanes b) { return {_mm512_subs_epi8(a.v, b.v)}; }
  friend Lanes operator^(Lanes a, Lanes b) { return {_mm512_xor_si512(a.v, b.v)}; }
  friend Lanes operator|(Lanes a, Lanes b) { return {_mm512_or_si512(a.v, b.v)}; }
  /** The magnitude of -128 is 128 among the unsigned values that the next three take. */
  Lanes magnitude() const { return {_mm512_abs_epi8(v)}; }
  friend Lanes lower(Lanes a, Lanes b) { return {_mm512_min_epu8(a.v, b.v)}; }
  friend Lanes upper(Lanes a, Lanes b) { return {_mm512_max_epu8(a.v, b.v)}; }
  friend Lanes beyond(Lanes a, Lanes b) { return {_mm512_subs_epu8(a.v, b.v)}; }
  /** The first if a = b, else the second. */
  friend Lanes pick(Lanes a, Lanes b, Lanes first, Lanes second) {
    return {_mm512_mask_blend_epi8(_mm512_cmpeq_epi8_mask(a.v, b.v), second.v, first.v)};
  }
  /** Negated if `signs` is negative. */
  friend Lanes turned(Lanes size, Lanes signs) {
    return {_mm512_mask_sub_epi8(size.v, _mm512_movepi8_mask(signs.v), _mm512_setzero_si512(), size.v)};
  }
  /** One bit per lane, 1 if it is negative. */
  uint64_t negatives() const { return _mm512_movepi8_mask(v); }
};

#elif defined(__AVX2__)

struct Lanes {
  static constexpr int WIDTH = 32;
  __m256i v;

  static Lanes load(const int8_t* from) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))}; }
  static Lanes of(int8_t value) { return {_mm256_set1_epi8(value)}; }
  void store(int8_t* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
  friend Lanes operator+(Lanes a, Lanes b) { return {_mm256_adds_epi8(a.v, b.v)}; }
  friend Lanes operator-(Lanes a, Lanes b) { return {_mm256_subs_epi8(a.v, b.v)}; }
  friend Lanes operator^(Lanes a, Lanes b) { return {_mm256_xor_si256(a.v, b.v)}; }
  friend Lanes operator|(Lanes a, Lanes b) { return {_mm256_or_si256(a.v, b.v)}; }
  Lanes magnitude() const { return {_mm256_abs_epi8(v)}; }
  friend Lanes lower(Lanes a, Lanes b) { return {_mm256_min_epu8(a.v, b.v)}; }
  friend Lanes upper(Lanes a, Lanes b) { return {_mm256_max_epu8(a.v, b.v)}; }
  friend Lanes beyond(Lanes a, Lanes b) { return {_mm256_subs_epu8(a.v, b.v)}; }
  friend Lanes pick(Lanes a, Lanes b, Lanes first, Lanes second) {
    return {_mm256_blendv_epi8(second.v, first.v, _mm256_cmpeq_epi8(a.v, b.v))};
  }
  friend Lanes turned(Lanes size, Lanes signs) {
    // A sign of zero would clear the lane, so none is left zero.
    return {_mm256_sign_epi8(size.v, _mm256_or_si256(signs.v, _mm256_set1_epi8(1)))};
  }
  uint64_t negatives() const { return static_cast<uint32_t>(_mm256_movemask_epi8(v)); }
};

#else

/** The vectors that GCC and Clang have for every processor; comparisons give lanes of all ones or none. */
struct Lanes {
  static constexpr int WIDTH = 16;
  typedef int8_t Signed __attribute__((vector_size(WIDTH)));
  typedef uint8_t Unsigned __attribute__((vector_size(WIDTH)));
  Signed v;

  static Signed select(Signed mask, Signed first, Signed second) { return (mask & first) | (~mask & second); }
  static Signed select(Signed mask, Unsigned first, Unsigned second) {
    return select(mask, Signed(first), Signed(second));
  }
  /** Saturates the wrapped result of a sum or difference of `a` after an overflow. */
  static Signed bounded(Signed a, Signed wrapped, Signed overflown) {
    return select(overflown < 0, (a >> 7) ^ 127, wrapped);
  }

  static Lanes load(const int8_t* from) {
    Lanes lanes;
    std::memcpy(&lanes.v, from, WIDTH);
    return lanes;
  }
  static Lanes of(int8_t value) { return {Signed{} + value}; }
  void store(int8_t* to) const { std::memcpy(to, &v, WIDTH); }
  friend Lanes operator+(Lanes a, Lanes b) {
    const Signed sum = Signed(Unsigned(a.v) + Unsigned(b.v));
    return {bounded(a.v, sum, (a.v ^ sum) & (b.v ^ sum))};
  }
  friend Lanes operator-(Lanes a, Lanes b) {
    const Signed difference = Signed(Unsigned(a.v) - Unsigned(b.v));
    return {bounded(a.v, difference, (a.v ^ b.v) & (a.v ^ difference))};
  }
  friend Lanes operator^(Lanes a, Lanes b) { return {a.v ^ b.v}; }
  friend Lanes operator|(Lanes a, Lanes b) { return {a.v | b.v}; }
  Lanes magnitude() const { return {select(v < 0, -Unsigned(v), Unsigned(v))}; }
  friend Lanes lower(Lanes a, Lanes b) { return {select(Unsigned(a.v) < Unsigned(b.v), a.v, b.v)}; }
  friend Lanes upper(Lanes a, Lanes b) { return {select(Unsigned(a.v) < Unsigned(b.v), b.v, a.v)}; }
  friend Lanes beyond(Lanes a, Lanes b) {
    return {(Unsigned(a.v) > Unsigned(b.v)) & Signed(Unsigned(a.v) - Unsigned(b.v))};
  }
  friend Lanes pick(Lanes a, Lanes b, Lanes first, Lanes second) { return {select(a.v == b.v, first.v, second.v)}; }
  friend Lanes turned(Lanes size, Lanes signs) { return {select(signs.v < 0, -size.v, size.v)}; }
  uint64_t negatives() const {
    uint64_t bits = 0;
    for (int i = 0; i < WIDTH; i++) bits |= static_cast<uint64_t>(v[i] < 0) << i;
    return bits;
  }
};

#endif

}  // namespace
