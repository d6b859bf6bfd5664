/** Bit streams, one bit per byte. */
#include "export.hpp"

/** Copies bytes; returns whether all of them are 0 or 1. */
SVC_EXPORT(int, copy_bits)(const uint8_t* __restrict from, uint8_t* __restrict to, size_t count) {
  uint8_t all = 0;
  for (size_t i = 0; i < count; i++) {
    to[i] = from[i];
    all |= from[i];
  }
  return all <= 1;
}
