/*
 * Viterbi's algorithm for the code (133, 171) of 64 states and the max-log turbo decoder of LTE in plain C, metrics in binary64: the
 * measure of tests/bench/trellis_bench.ts. It prints the best seconds of each, and the wrong bits.
 *
 * The file on the command line holds int32 little-endian: rounds, bits and iterations of the turbo block, bits of the convolutional block;
 * the permutation; then float32 values of the turbo block [stream][bit] and of the convolutional block [step][output]; then both blocks as
 * uint8.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STATES = 64, MEMORY = 6 };

static int label_of(int r) { return __builtin_parity(r & 0133) | __builtin_parity(r & 0171) << 1; }

static void viterbi(const float *llr, int steps, const uint8_t *labels, uint64_t *decisions, uint8_t *bits) {
  double a[STATES], b[STATES], *from = a, *to = b;
  for (int s = 0; s < STATES; s++) from[s] = s == 0 ? 0 : -1e300;
  for (int t = 0; t < steps; t++) {
    double x = llr[2 * t], y = llr[2 * t + 1], m[4] = {(x + y) / 2, (y - x) / 2, (x - y) / 2, -(x + y) / 2};
    double highest = -1e300;
    uint64_t word = 0;
    for (int s = 0; s < STATES; s++) {
      int r = s << 1, p = r & (STATES - 1);
      double zero = from[p] + m[labels[r]], one = from[p | 1] + m[labels[r | 1]];
      uint64_t left = one > zero;
      double best = left ? one : zero;
      word |= left << s;
      to[s] = best;
      if (best > highest) highest = best;
    }
    for (int s = 0; s < STATES; s++) to[s] -= highest;
    decisions[t] = word;
    double *swap = from;
    from = to;
    to = swap;
  }
  for (int t = steps - 1, s = 0; t >= 0; t--) {
    int r = s << 1 | (decisions[t] >> s & 1);
    bits[t] = r >> MEMORY;
    s = r & (STATES - 1);
  }
}

/* Next state and parity of [state][bit]: feedback 1 + D^2 + D^3, parity 1 + D + D^3. */
static int next_of[8][2], parity_of[8][2];

static void prepare(void) {
  for (int s = 0; s < 8; s++) {
    for (int bit = 0; bit < 2; bit++) {
      int fed = bit ^ (s >> 1 & 1) ^ (s & 1);
      next_of[s][bit] = fed << 2 | s >> 1;
      parity_of[s][bit] = fed ^ s >> 2 ^ (s & 1);
    }
  }
}

/* Posterior values of a constituent whose end is open. */
static void constituent(const double *in, const double *check, int n, double *forward, double *out) {
  for (int s = 0; s < 8; s++) forward[s] = s == 0 ? 0 : -1e300;
  for (int t = 0; t < n; t++) {
    double *to = forward + 8 * (t + 1), h = in[t] / 2, c = check[t] / 2, highest = -1e300;
    for (int s = 0; s < 8; s++) to[s] = -1e300;
    for (int s = 0; s < 8; s++) {
      for (int bit = 0; bit < 2; bit++) {
        double m = forward[8 * t + s] + (bit ? -h : h) + (parity_of[s][bit] ? -c : c);
        if (m > to[next_of[s][bit]]) to[next_of[s][bit]] = m;
        if (m > highest) highest = m;
      }
    }
    for (int s = 0; s < 8; s++) to[s] -= highest;
  }
  double a[8] = {0}, b[8], *backward = a, *before = b;
  for (int t = n - 1; t >= 0; t--) {
    double h = in[t] / 2, c = check[t] / 2, zero = -1e300, one = -1e300, highest = -1e300;
    for (int s = 0; s < 8; s++) {
      double m0 = backward[next_of[s][0]] + h + (parity_of[s][0] ? -c : c);
      double m1 = backward[next_of[s][1]] - h + (parity_of[s][1] ? -c : c);
      double f = forward[8 * t + s];
      if (f + m0 > zero) zero = f + m0;
      if (f + m1 > one) one = f + m1;
      before[s] = m0 > m1 ? m0 : m1;
      if (before[s] > highest) highest = before[s];
    }
    for (int s = 0; s < 8; s++) before[s] -= highest;
    double *swap = backward;
    backward = before;
    before = swap;
    out[t] = zero - one;
  }
}

static double seconds(struct timespec start) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
}

int main(int count, char **arguments) {
  int32_t head[4];
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (file == NULL || fread(head, 4, 4, file) != 4) return 1;
  int rounds = head[0], n = head[1], iterations = head[2], size = head[3], steps = size + MEMORY, wrong = 0;
  int32_t *permutation = malloc(4 * (size_t)n);
  float *streams = malloc(12 * (size_t)n), *llr = malloc(8 * (size_t)steps);
  uint8_t *turbo_bits = malloc(n), *bits = malloc(size), *found = malloc(steps), labels[2 * STATES];
  uint64_t *decisions = malloc(8 * (size_t)steps);
  double *work = malloc(8 * ((size_t)16 * n + 8));
  double *x = work, *p = x + n, *q = p + n, *a = q + n, *b = a + n, *in = b + n, *out = in + n, *forward = out + n;
  if (fread(permutation, 4, n, file) != (size_t)n || fread(streams, 12, n, file) != (size_t)n) return 1;
  if (fread(llr, 8, steps, file) != (size_t)steps || fread(turbo_bits, 1, n, file) != (size_t)n) return 1;
  if (fread(bits, 1, size, file) != (size_t)size) return 1;
  for (int r = 0; r < 2 * STATES; r++) labels[r] = label_of(r);
  prepare();
  double best = 1e9, turbo = 1e9;
  for (int round = 0; round < rounds; round++) {
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    viterbi(llr, steps, labels, decisions, found);
    best = fmin(best, seconds(start));
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < n; i++) {
      x[i] = streams[i];
      p[i] = streams[n + i];
      q[i] = streams[2 * n + i];
      a[i] = 0;
    }
    for (int iteration = 0; iteration < iterations; iteration++) {
      for (int i = 0; i < n; i++) in[i] = x[i] + a[i];
      constituent(in, p, n, forward, out);
      for (int i = 0; i < n; i++) b[i] = 0.75 * (out[i] - in[i]);
      for (int i = 0; i < n; i++) in[i] = x[permutation[i]] + b[permutation[i]];
      constituent(in, q, n, forward, out);
      for (int i = 0; i < n; i++) a[permutation[i]] = 0.75 * (out[i] - in[i]);
    }
    turbo = fmin(turbo, seconds(start));
  }
  for (int i = 0; i < size; i++) wrong += found[i] != bits[i];
  for (int i = 0; i < n; i++) wrong += (out[i] < 0) != turbo_bits[permutation[i]];
  printf("{\"viterbi\": %.9f, \"turbo\": %.9f, \"wrong\": %d}\n", best, turbo, wrong);
  return 0;
}
