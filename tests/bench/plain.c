/* The portable kernels once more as anyone would write them in C: one value after another, no intrinsics. Compiled and timed by
 * plain_bench.ts. `ziggurat.inc` holds the tables of NumPy's normal values. Prints one JSON object, milliseconds by name. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "ziggurat.inc"

#ifndef COUNT
#define COUNT 10000000
#endif
#define ROUNDS 5
#define WIDTH 512

typedef unsigned __int128 u128;
static u128 state = ((u128)0x979c9a98d8462005ull << 64) | 0x7d3e9cb6cfe0549bull;
static const u128 increment = (((u128)1 << 64) | 0xda3e39cb94b95bdbull) << 1 | 1;
static const u128 multiplier = ((u128)0x2360ED051FC65DA4ull << 64) | 0x4385DF649FCCF645ull;

static inline uint64_t next64(void) {
  state = state * multiplier + increment;
  const uint64_t high = (uint64_t)(state >> 64), mixed = high ^ (uint64_t)state;
  const unsigned turn = high >> 58;
  return mixed >> turn | mixed << (-turn & 63);
}

static inline double next_double(void) { return (double)(next64() >> 11) * 0x1p-53; }

static double next_normal(void) {
  for (;;) {
    uint64_t r = next64();
    const int index = r & 255;
    r >>= 8;
    const int negative = r & 1;
    const uint64_t magnitude = (r >> 1) & 0x000fffffffffffffull;
    double x = (double)magnitude * NORMAL_WIDTH[index];
    if (negative) x = -x;
    if (magnitude < NORMAL_K[index]) return x;
    if (index == 0) {
      for (;;) {
        const double xx = -NORMAL_INVERSE_R * log1p(-next_double()), yy = -log1p(-next_double());
        if (yy + yy > xx * xx) return (magnitude >> 8) & 1 ? -(NORMAL_R + xx) : NORMAL_R + xx;
      }
    }
    if ((NORMAL_HEIGHT[index - 1] - NORMAL_HEIGHT[index]) * next_double() + NORMAL_HEIGHT[index] < exp(-0.5 * x * x)) return x;
  }
}

uint8_t bits[COUNT], hard[COUNT], packed[COUNT / 8], unpacked[COUNT];
float symbols[COUNT], received[COUNT], qam[COUNT / 2], llr[COUNT];
double normals[COUNT];
uint8_t picture[WIDTH * WIDTH], other[WIDTH * WIDTH];
static uint32_t table[256];
static volatile double keep;

static void random_bits(void) {
  for (size_t i = 0; i < COUNT;) {
    uint64_t word = next64();
    for (int k = 0; k < 8 && i < COUNT; k++, word >>= 8) bits[i++] = word & 1;
  }
}
static void draw_normals(void) { for (size_t i = 0; i < COUNT; i++) normals[i] = next_normal(); }
static void map_qpsk(void) { for (size_t i = 0; i < COUNT; i++) symbols[i] = (1 - 2 * bits[i]) * 0.70710678118654752f; }
static void map_qam16(void) {
  for (size_t i = 0, o = 0; i + 3 < COUNT; i += 4, o += 2) {
    qam[o] = (1 - 2 * bits[i]) * (2 - (1 - 2 * bits[i + 2])) * 0.31622776601683794f;
    qam[o + 1] = (1 - 2 * bits[i + 1]) * (2 - (1 - 2 * bits[i + 3])) * 0.31622776601683794f;
  }
}
static void add_noise(void) {
  for (size_t i = 0; i < COUNT; i += 2) normals[i] = next_normal();
  for (size_t i = 1; i < COUNT; i += 2) normals[i] = next_normal();
  for (size_t i = 0; i < COUNT; i++) received[i] = (float)(symbols[i] + 0.22360679774997896 * normals[i]);
}
static void llr_qpsk(void) { for (size_t i = 0; i < COUNT; i++) llr[i] = received[i] * (2 * 1.4142135623730951f / 0.1f); }
static void llr_qam16(void) {
  const float a = 0.31622776601683794f;
  for (size_t i = 0, o = 0; i < COUNT / 2; i += 2, o += 4) {
    for (int part = 0; part < 2; part++) {
      const float y = qam[i + part];
      float least[2][2] = {{1e30f, 1e30f}, {1e30f, 1e30f}};
      for (int sign = 0; sign < 2; sign++) for (int outer = 0; outer < 2; outer++) {
        const float s = (1 - 2 * sign) * (2 - (1 - 2 * outer)) * a, d = (y - s) * (y - s);
        if (d < least[0][sign]) least[0][sign] = d;
        if (d < least[1][outer]) least[1][outer] = d;
      }
      llr[o + part] = (least[0][1] - least[0][0]) / 0.1f;
      llr[o + 2 + part] = (least[1][1] - least[1][0]) / 0.1f;
    }
  }
}
static void decide(void) { for (size_t i = 0; i < COUNT; i++) hard[i] = llr[i] < 0; }
static void pack(void) {
  for (size_t i = 0; i < COUNT / 8; i++) {
    uint8_t byte = 0;
    for (int k = 0; k < 8; k++) byte = byte << 1 | bits[8 * i + k];
    packed[i] = byte;
  }
}
static void unpack(void) { for (size_t i = 0; i < COUNT; i++) unpacked[i] = packed[i >> 3] >> (7 - (i & 7)) & 1; }
static void decide_copies(void) {
  for (size_t i = 0; i < COUNT / 4; i++) hard[i] = 2 * (bits[4 * i] + bits[4 * i + 1] + bits[4 * i + 2] + bits[4 * i + 3]) >= 4;
}
static void crc32(void) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < COUNT; i++) crc = table[(crc ^ bits[i]) & 255] ^ crc >> 8;
  keep = ~crc;
}
static void sample_errors(void) {
  double squares = 0, moduli = 0;
  for (int round = 0; round < 40; round++) for (int i = 0; i < WIDTH * WIDTH; i++) {
    const double d = (double)picture[i] - other[i];
    squares += d * d;
    moduli += fabs(d);
  }
  keep = squares + moduli;
}

static void report(const char *name, void (*run)(void), int last) {
  double best = INFINITY;
  for (int round = 0; round <= ROUNDS; round++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    run();
    /* What was written counts as read, so that no loop is left out. */
    __asm__ volatile("" ::: "memory");
    clock_gettime(CLOCK_MONOTONIC, &b);
    const double ms = (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) / 1e6;
    if (round > 0 && ms < best) best = ms;
  }
  printf("\"%s\": %.6f%s", name, best, last ? "" : ", ");
}

int main(void) {
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int k = 0; k < 8; k++) table[i] = table[i] & 1 ? 0xEDB88320u ^ table[i] >> 1 : table[i] >> 1;
  }
  for (int i = 0; i < WIDTH * WIDTH; i++) {
    picture[i] = next64();
    other[i] = next64();
  }
  printf("{");
  report("random bits", random_bits, 0);
  report("normal values", draw_normals, 0);
  report("map to QPSK", map_qpsk, 0);
  report("map to 16QAM", map_qam16, 0);
  report("add complex noise", add_noise, 0);
  report("QPSK LLRs", llr_qpsk, 0);
  report("16QAM LLRs, max-log", llr_qam16, 0);
  llr_qpsk();
  report("hard decisions", decide, 0);
  report("majority of 4 copies", decide_copies, 0);
  report("pack bits", pack, 0);
  report("unpack bits", unpack, 0);
  report("CRC-32", crc32, 0);
  report("squared and absolute errors", sample_errors, 1);
  printf("}\n");
  return 0;
}
