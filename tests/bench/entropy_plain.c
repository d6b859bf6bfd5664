/* The range coder of lib/numeric/range_coder.ts once more in plain C, 64-bit integers and no intrinsics; compiled and timed by
 * entropy_bench.ts. Reads int32 words: count, tables, rounds, then per table smallest, entries and cumulative counts, then the
 * values, then the table of each. Prints {"encode": ms, "decode": ms, "bytes": n, "failures": n}. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const uint64_t TOP = 1ull << 48, BOTTOM = 1ull << 40;
static uint8_t *out;
static size_t count_out, full;
static uint64_t low, range;
static int held;

static void shift(void) {
  const int carry = low >= TOP;
  const uint64_t inner = low & (TOP - 1);
  const int leading = inner >> 40;
  if (leading == 255 && !carry && held >= 0) full++;
  else {
    if (held >= 0) out[count_out++] = held + carry;
    for (; full; full--) out[count_out++] = carry ? 0 : 255;
    held = leading;
  }
  low = (inner & (BOTTOM - 1)) << 8;
  range <<= 8;
}

static inline void encode(uint32_t start, uint32_t frequency) {
  const uint64_t part = range >> 16;
  low += part * start;
  range = part * frequency;
  while (range < BOTTOM) shift();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
  FILE *file = fopen(argv[1], "rb");
  fseek(file, 0, SEEK_END);
  const size_t size = ftell(file);
  rewind(file);
  int32_t *words = malloc(size);
  if (argc < 2 || fread(words, 1, size, file) != size) return 1;
  const int count = words[0], tables = words[1], rounds = words[2];
  const int32_t *at = words + 3;
  int *smallest = malloc(tables * sizeof(int)), *entries = malloc(tables * sizeof(int));
  const uint32_t **cumulative = malloc(tables * sizeof(*cumulative));
  for (int t = 0; t < tables; t++) {
    smallest[t] = at[0], entries[t] = at[1], cumulative[t] = (const uint32_t *)at + 2;
    at += 3 + entries[t];
  }
  const int32_t *values = at, *index = at + count;
  out = malloc(4 * (size_t)count + 64);
  double encode_ms = 1e300, decode_ms = 1e300;
  int failures = 0;
  for (int round = 0; round <= rounds; round++) {
    double start = now();
    low = 0, range = TOP - 1, held = -1, full = 0, count_out = 0;
    for (int i = 0; i < count; i++) {
      const uint32_t *c = cumulative[index[i]];
      const int entry = values[i] - smallest[index[i]];
      encode(c[entry], c[entry + 1] - c[entry]);
    }
    for (int i = 0; i < 7; i++) shift();
    double middle = now();
    size_t read = 0;
    uint64_t offset = 0;
    range = TOP - 1;
    failures = 0;
    for (int i = 0; i < 6; i++) offset = offset << 8 | out[read++];
    for (int i = 0; i < count; i++) {
      const uint32_t *c = cumulative[index[i]];
      const uint64_t part = range >> 16, target = offset / part;
      int entry = 0;
      for (int end = entries[index[i]]; end - entry > 1;) {
        const int half = (entry + end) >> 1;
        if (c[half] <= target) entry = half;
        else end = half;
      }
      offset -= part * c[entry];
      range = part * (c[entry + 1] - c[entry]);
      while (range < BOTTOM) offset = offset << 8 | (read < count_out ? out[read++] : 0), range <<= 8;
      failures += values[i] != smallest[index[i]] + entry;
    }
    double end = now();
    if (round > 0 && middle - start < encode_ms) encode_ms = middle - start;
    if (round > 0 && end - middle < decode_ms) decode_ms = end - middle;
  }
  printf("{\"encode\": %f, \"decode\": %f, \"bytes\": %zu, \"failures\": %d}\n", encode_ms, decode_ms, count_out, failures);
  return 0;
}
