/** Words of eight bits, one per byte, the first in the lowest byte. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

/** The same bit of every byte. */
constexpr uint64_t LOW_BITS = 0x0101010101010101;

/** @param count bytes to read; zeros stand for the others */
inline uint64_t wordAt(const uint8_t* bits, size_t count = 8) {
  uint64_t word = 0;
  std::memcpy(&word, bits, count);
  return word;
}

/** The number that the first bits of a word form, the first one highest; of a byte only the lowest bit counts. */
inline uint64_t labelOf(uint64_t word, int width) {
  return ((word & LOW_BITS >> (64 - 8 * width)) * 0x8040201008040201) >> (64 - width);
}

}  // namespace
