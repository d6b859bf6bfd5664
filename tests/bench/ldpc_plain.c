/*
 * Layered offset min-sum in plain C, one loop over the lifting size for each entry, left to the compiler to vectorise: the
 * measure of tests/bench/ldpc_bench.ts. It decodes the code blocks in the file named on the command line and prints the seconds
 * that all of them take with all iterations and with a stop at a valid CRC.
 *
 * The file holds int32 little-endian: rows, lifting size, columns, bits under the CRC, iterations, blocks, rounds, words of the
 * program; the program (own parity column or -1, entries, then column and shift of each); then int8 values of each block.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 68, Z = 384, ENTRIES = 316, DEGREE = 20, CAP = 41, OFFSET = 2 };

static int8_t value[COLUMNS][Z], message[ENTRIES][Z], q[DEGREE][Z], turned[Z];
static uint8_t least[Z], second[Z], sign[Z];

static int8_t saturated(int x) { return x > 127 ? 127 : x < -128 ? -128 : x; }
static uint8_t size_of(int8_t x) { int size = x < 0 ? -x : x; return size > CAP ? CAP : size; }

static void find(int e, int z) {
  for (int i = 0; i < z; i++) {
    uint8_t size = size_of(q[e][i]), larger = size > least[i] ? size : least[i];
    second[i] = larger < second[i] ? larger : second[i];
    least[i] = size < least[i] ? size : least[i];
    sign[i] ^= q[e][i] < 0;
  }
}

static void pass(const int32_t *program, int rows, int z) {
  int entry = 0;
  for (int row = 0; row < rows; row++) {
    int own = program[0], degree = program[1];
    program += 2;
    memset(least, CAP, z);
    memset(second, CAP, z);
    memset(sign, 0, z);
    if (own >= 0) {
      memcpy(q[degree], value[own], z);
      find(degree, z);
    }
    for (int e = 0; e < degree; e++) {
      int column = program[2 * e], shift = program[2 * e + 1];
      memcpy(turned, value[column] + shift, z - shift);
      memcpy(turned + z - shift, value[column], shift);
      for (int i = 0; i < z; i++) q[e][i] = saturated(turned[i] - message[entry + e][i]);
      find(e, z);
    }
    for (int e = 0; e < degree; e++) {
      int column = program[2 * e], shift = program[2 * e + 1];
      for (int i = 0; i < z; i++) {
        uint8_t size = size_of(q[e][i]) == least[i] ? second[i] : least[i];
        size = size > OFFSET ? size - OFFSET : 0;
        int8_t m = sign[i] ^ (q[e][i] < 0) ? -size : size;
        message[entry + e][i] = m;
        turned[i] = saturated(q[e][i] + m);
      }
      memcpy(value[column] + shift, turned, z - shift);
      memcpy(value[column], turned + z - shift, shift);
    }
    program += 2 * degree;
    entry += degree;
  }
}

static uint32_t table[256];

/* CRC24B, a byte at a time. */
static int crc_holds(int used, int z) {
  uint32_t crc = 0, byte = 0;
  for (int column = 0, k = 0; k < used; column++) {
    for (int i = 0; i < z && k < used; i++, k++) {
      byte = byte << 1 | (value[column][i] < 0);
      if ((k & 7) == 7) crc = (crc << 8 & 0xffffff) ^ table[(crc >> 16 ^ byte) & 255];
    }
  }
  return crc == 0;
}

int main(int count, char **names) {
  int32_t head[8];
  FILE *file = count > 1 ? fopen(names[1], "rb") : NULL;
  if (!file || fread(head, 4, 8, file) != 8) return 1;
  int rows = head[0], z = head[1], columns = head[2], used = head[3], iterations = head[4], blocks = head[5];
  int32_t *program = malloc(4 * head[7]);
  int8_t *received = malloc((size_t)blocks * columns * z);
  if (fread(program, 4, head[7], file) != (size_t)head[7]) return 1;
  if (fread(received, columns * z, blocks, file) != (size_t)blocks) return 1;
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte << 16;
    for (int i = 0; i < 8; i++) crc = crc & 0x800000 ? (crc << 1 ^ 0x800063) & 0xffffff : crc << 1;
    table[byte] = crc;
  }
  int failures = 0;
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < 2 * head[6]; round++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int b = 0; b < blocks; b++) {
      for (int c = 0; c < columns; c++) memcpy(value[c], received + ((size_t)b * columns + c) * z, z);
      memset(message, 0, sizeof message);
      int good = 0;
      for (int i = 1; i <= iterations && !good; i++) {
        pass(program, rows, z);
        if (round % 2 == 1 || i == iterations) good = crc_holds(used, z);
      }
      failures += !good;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec);
    if (seconds < best[round % 2]) best[round % 2] = seconds;
  }
  printf("{\"fixed\": %.9f, \"early\": %.9f, \"failures\": %d}\n", best[0], best[1], failures);
  return 0;
}
