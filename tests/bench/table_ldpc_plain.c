/*
 * Layered normalised min-sum over the checks of a code in plain C, binary32: the measure of tests/bench/table_ldpc_bench.ts. It prints the
 * best seconds of a block and the wrong signs of the zero word.
 *
 * The file on the command line holds int32 little-endian: rounds, iterations, bits, checks, ones; the first one of each check and the end;
 * the bit of each one; then float32 values.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void decode(const int32_t *starts, const int32_t *bits, int checks, int iterations, float *value, float *told) {
  float own[512];
  for (int iteration = 0; iteration < iterations; iteration++) {
    for (int check = 0; check < checks; check++) {
      int first = starts[check], count = starts[check + 1] - first, at = 0, odd = 0;
      float least = INFINITY, second = INFINITY;
      for (int i = 0; i < count; i++) {
        float v = value[bits[first + i]] - told[first + i], size = fabsf(v);
        own[i] = v;
        odd ^= v < 0;
        if (size < least) {
          second = least;
          least = size;
          at = i;
        } else if (size < second) {
          second = size;
        }
      }
      least *= 0.75f;
      second *= 0.75f;
      for (int i = 0; i < count; i++) {
        float message = i == at ? second : least;
        if (odd != (own[i] < 0)) message = -message;
        told[first + i] = message;
        value[bits[first + i]] = own[i] + message;
      }
    }
  }
}

int main(int count, char **arguments) {
  int32_t head[5];
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (file == NULL || fread(head, 4, 5, file) != 5) return 1;
  int rounds = head[0], n = head[2], checks = head[3], ones = head[4], wrong = 0;
  int32_t *starts = malloc(4 * ((size_t)checks + 1)), *bits = malloc(4 * (size_t)ones);
  float *llr = malloc(4 * (size_t)n), *value = malloc(4 * (size_t)n), *told = malloc(4 * (size_t)ones);
  if (fread(starts, 4, checks + 1, file) != (size_t)checks + 1 || fread(bits, 4, ones, file) != (size_t)ones) return 1;
  if (fread(llr, 4, n, file) != (size_t)n) return 1;
  double best = 1e9;
  for (int round = 0; round < rounds; round++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    memcpy(value, llr, 4 * (size_t)n);
    memset(told, 0, 4 * (size_t)ones);
    decode(starts, bits, checks, head[1], value, told);
    clock_gettime(CLOCK_MONOTONIC, &end);
    best = fmin(best, (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec));
  }
  for (int i = 0; i < n; i++) wrong += value[i] < 0;
  printf("{\"seconds\": %.9f, \"wrong\": %d}\n", best, wrong);
  return 0;
}
