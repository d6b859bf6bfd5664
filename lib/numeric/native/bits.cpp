/**
 * Bit streams, one bit per byte: the kernels of ../array/bit_packing.ts, ../coding/repetition.ts and ../coding/bit_errors.ts. Eight bits
 * are read as one little-endian word.
 */
#include "bits.hpp"
#include "crc.hpp"
#include "export.hpp"

namespace {

/** Groups of `factor` bytes, of `count`, at which a word of eight bytes ends inside the array. */
inline size_t wholeWords(size_t count, size_t factor) {
  return count * factor < 8 ? 0 : (count * factor - 8) / factor + 1;
}

}  // namespace

/** Whether all bytes are 0 or 1. */
SVC_EXPORT(int, are_bits)(const uint8_t* bits, size_t count) {
  uint8_t all = 0;
  for (size_t i = 0; i < count; i++) all |= bits[i];
  return all <= 1;
}

SVC_EXPORT(void, repeat_bits)(const uint8_t* __restrict bits, uint8_t* __restrict copies, size_t count, size_t factor) {
  size_t i = 0;
  // A word for each bit; the next one overwrites what is too much.
  for (const size_t words = factor <= 8 ? wholeWords(count, factor) : 0; i < words; i++) {
    const uint64_t word = bits[i] * LOW_BITS;
    std::memcpy(copies + i * factor, &word, 8);
  }
  for (; i < count; i++) std::memset(copies + i * factor, bits[i], factor);
}

/** An even split gives 1. */
SVC_EXPORT(void, majority_bits)(const uint8_t* __restrict copies, uint8_t* __restrict bits, size_t count, size_t factor) {
  size_t i = 0;
  if (factor <= 8) {
    const size_t words = wholeWords(count, factor);
    const uint64_t mask = LOW_BITS >> (64 - 8 * factor);
    for (; i < words; i++) bits[i] = 2 * ((wordAt(copies + i * factor) & mask) * LOW_BITS >> 56) >= factor;
  }
  for (; i < count; i++) {
    size_t ones = 0;
    for (size_t copy = 0; copy < factor; copy++) ones += copies[i * factor + copy];
    bits[i] = 2 * ones >= factor;
  }
}

/** The first bit is the highest; zeros complete the last byte. */
SVC_EXPORT(void, pack_bits)(const uint8_t* __restrict bits, uint8_t* __restrict bytes, size_t count) {
  size_t at = 0;
  for (; at + 8 <= count; at += 8) bytes[at >> 3] = static_cast<uint8_t>(labelOf(wordAt(bits + at), 8));
  if (at < count) bytes[at >> 3] = static_cast<uint8_t>(labelOf(wordAt(bits + at, count - at), 8));
}

SVC_EXPORT(void, unpack_bits)(const uint8_t* __restrict bytes, uint8_t* __restrict bits, size_t count) {
  for (size_t at = 0; at < count; at += 8) {
    const uint64_t chosen = bytes[at >> 3] * LOW_BITS & 0x0102040810204080;
    const uint64_t word = (chosen + 0x7F7F7F7F7F7F7F7F) >> 7 & LOW_BITS;
    std::memcpy(bits + at, &word, count - at < 8 ? count - at : 8);
  }
}

/** CRC-32 of zlib, PNG and IEEE 802.3. */
SVC_EXPORT(uint32_t, crc32)(const uint8_t* bytes, size_t count) { return ~crcRest(CRC32, bytes, count, ~uint32_t{0}); }

SVC_EXPORT(void, index_bits)(const int32_t* __restrict indices, uint8_t* __restrict bits, size_t count, int width) {
  for (size_t i = 0; i < count; i++) {
    for (int shift = width - 1; shift >= 0; shift--) *bits++ = static_cast<uint32_t>(indices[i]) >> shift & 1;
  }
}

/** Returns the number of indices of at least `size`, which are wrapped, or replaced by the last one. */
SVC_EXPORT(uint32_t, bits_index)(
    const uint8_t* __restrict bits, int32_t* __restrict indices, size_t count, int width, uint32_t size, int clamp) {
  uint32_t beyond = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t index = 0;
    for (int bit = 0; bit < width; bit++) index = index << 1 | *bits++;
    if (index >= size) {
      beyond++;
      index = clamp ? size - 1 : index % size;
    }
    indices[i] = static_cast<int32_t>(index);
  }
  return beyond;
}

SVC_EXPORT(void, differing_bits)
(const uint8_t* __restrict a, const uint8_t* __restrict b, uint8_t* __restrict differing, size_t count) {
  for (size_t i = 0; i < count; i++) differing[i] = a[i] ^ b[i];
}

/** 1 for each block of the reference that the candidate lacks or has with an error. */
SVC_EXPORT(void, failed_blocks)
(const uint8_t* candidate, size_t candidate_count, const uint8_t* reference, size_t count, size_t size,
 uint8_t* failed) {
  for (size_t start = 0; start < count; start += size) {
    const size_t length = count - start < size ? count - start : size;
    *failed++ = start + length > candidate_count || std::memcmp(candidate + start, reference + start, length) != 0;
  }
}
