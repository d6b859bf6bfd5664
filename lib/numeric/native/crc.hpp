/** The cyclic redundancy checks of TS 38.212 section 5.1, and CRC-32, over packed bits, first bit lowest. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

enum CrcKind { CRC24A, CRC24B, CRC16, CRC32, CRC_KINDS };

/** Bytes at a time; the loads of their tables do not wait for each other. */
constexpr int SLICE = 16;

/** Per polynomial a table for each byte of a slice; the register holds its highest power lowest. */
struct CrcTables {
  uint32_t of[CRC_KINDS][SLICE][256];
  CrcTables() {
    constexpr uint32_t REVERSED[CRC_KINDS] = {0xDF3261, 0xC60001, 0x8408, 0xEDB88320};
    for (int kind = 0; kind < CRC_KINDS; kind++) {
      auto& tables = of[kind];
      for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int i = 0; i < 8; i++) rest = rest >> 1 ^ (rest & 1 ? REVERSED[kind] : 0);
        tables[0][byte] = rest;
      }
      for (int t = 1; t < SLICE; t++) {
        for (int byte = 0; byte < 256; byte++) {
          const uint32_t before = tables[t - 1][byte];
          tables[t][byte] = before >> 8 ^ tables[0][before & 255];
        }
      }
    }
  }
};
const CrcTables CRC_TABLES;

/** Remainder of some bytes after `rest`: 0 from 0 if their last bits are the check bits of the others. */
inline uint32_t crcRest(int kind, const uint8_t* bytes, size_t count, uint32_t rest = 0) {
  const auto& tables = CRC_TABLES.of[kind];
  size_t i = 0;
  for (; i + SLICE <= count; i += SLICE) {
    uint32_t words[SLICE / 4];
    std::memcpy(words, bytes + i, SLICE);
    words[0] ^= rest;
    rest = 0;
    for (int at = 0; at < SLICE; at++) rest ^= tables[SLICE - 1 - at][words[at >> 2] >> 8 * (at & 3) & 255];
  }
  for (; i < count; i++) rest = rest >> 8 ^ tables[0][(rest ^ bytes[i]) & 255];
  return rest;
}

}  // namespace
