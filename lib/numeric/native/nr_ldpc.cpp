/**
 * Decoder of one code block of TS 38.212, from received log-likelihood ratios to bits. ../assembly/nr_ldpc.ts and
 * ../assembly/nr_ldpc_row.ts describe the computation. Values and messages are the same integers here, so bits, outcome
 * and number of iterations are the same.
 *
 * A column of Z values lies in a strip of 2 Z places: value k is at place k or k + Z, and the Z places from `origin` on
 * are valid. A rotation copies the places between the old origin and the new one by ±Z. Vectors run past the end of a
 * window; the places they write there are never read.
 */
#include "crc.hpp"
#include "export.hpp"
#include "lanes.hpp"

namespace {

constexpr int WIDTH = Lanes::WIDTH;
constexpr int MOST_Z = 384, MOST_COLUMNS = 68, MOST_ENTRIES = 320, MOST_DEGREE = 19;
/** Padding before and after a column for copies that run past it. */
constexpr int PAD = 64, STRIP = PAD + 2 * MOST_Z + 2 * PAD;
constexpr int MOST_INFORMATION = 22 * MOST_Z;
constexpr int8_t OFFSET = 2, CAP = 41, CERTAIN = 127;
constexpr float LLR_SCALE = 4;
constexpr int CORE_ROWS = 4;

/** Z rounded up to whole vectors. */
inline int padded(int z) { return (z + WIDTH - 1) / WIDTH * WIDTH; }

struct Entry {
  int32_t column, shift;
};

/** Own parity column or -1, number of entries, the entries. */
struct Row {
  const int32_t* words;
  int own() const { return words[0]; }
  int degree() const { return words[1]; }
  Entry entry(int i) const { return {words[2 + 2 * i], words[3 + 2 * i]}; }
  Row next() const { return {words + 2 + 2 * degree()}; }
};

struct alignas(64) Workspace {
  int8_t columns[MOST_COLUMNS * STRIP];
  int8_t messages[MOST_ENTRIES * MOST_Z];
  int8_t posterior[MOST_COLUMNS * MOST_Z + PAD];
  /** Received values, in their original order and in that of the circular buffer. */
  int8_t rounded[MOST_COLUMNS * MOST_Z + PAD], buffer[MOST_COLUMNS * MOST_Z + PAD];
  float sums[MOST_COLUMNS * MOST_Z];
  /** Hard decisions of the information bits, first one lowest. */
  uint32_t packed[MOST_INFORMATION / 32 + 4];
  int32_t origins[MOST_COLUMNS];

  int8_t* strip(int column) { return columns + column * STRIP + PAD; }

  int8_t* rotate(int column, int shift, int z) {
    int8_t* const values = strip(column);
    const int origin = origins[column];
    if (origin < shift) {
      for (int p = origin; p < shift; p += WIDTH) Lanes::load(values + p).store(values + p + z);
    } else {
      for (int p = origin - WIDTH; p > shift - WIDTH; p -= WIDTH) Lanes::load(values + p + z).store(values + p);
    }
    origins[column] = shift;
    return values + shift;
  }
};

// Received values ------------------------------------------------------------------------------------------------------

/** Rounds to int8, halves to even, saturating at ±127; a scrambling bit of 1 inverts the sign. */
inline int8_t roundedLlr(float llr, int turn) {
  // Adding 1.5 · 2^23 rounds to an integer: the mantissa has no bits for a fraction.
  constexpr float SHIFT = 12582912.0f;
  const float scaled = llr * LLR_SCALE;
  const float bounded = scaled < -127.0f ? -127.0f : scaled > 127.0f ? 127.0f : scaled;
  const int value = static_cast<int>((bounded + SHIFT) - SHIFT);
  return static_cast<int8_t>((value ^ -turn) + turn);
}

/** Rounds values. @returns whether any is not 0 */
bool quantise(int8_t* __restrict to, const float* __restrict llr, const uint8_t* __restrict scrambling, int count) {
  int8_t any = 0;
  if (scrambling == nullptr) {
    for (int i = 0; i < count; i++) any |= to[i] = roundedLlr(llr[i], 0);
  } else {
    for (int i = 0; i < count; i++) any |= to[i] = roundedLlr(llr[i], scrambling[i]);
  }
  return any != 0;
}

/** Undoes the interleaving over the bits of a symbol. */
template <int BITS>
void deinterleave(int8_t* __restrict to, const int8_t* __restrict from, int count) {
  const int length = count / BITS;
  for (int j = 0; j < length; j++) {
    for (int i = 0; i < BITS; i++) to[i * length + j] = from[j * BITS + i];
  }
}

void deinterleave(int bits, int8_t* to, const int8_t* from, int count) {
  switch (bits) {
    case 2: return deinterleave<2>(to, from, count);
    case 4: return deinterleave<4>(to, from, count);
    case 6: return deinterleave<6>(to, from, count);
    case 8: return deinterleave<8>(to, from, count);
    default: std::memcpy(to, from, count);
  }
}

/** Sums the log-likelihood ratios of repeated bits, in the order of the circular buffer. */
void combine(float* sums, int length, const float* llr, const uint8_t* scrambling, int count, int bits) {
  for (int i = 0; i < length; i++) sums[i] = 0;
  const int symbols = count / bits;
  for (int i = 0, k = 0; i < bits; i++) {
    for (int j = 0; j < symbols; j++) {
      const int at = j * bits + i;
      sums[k] += scrambling != nullptr && scrambling[at] ? -llr[at] : llr[at];
      if (++k == length) k = 0;
    }
  }
}

// Rows -----------------------------------------------------------------------------------------------------------------

/** Writes the new message of an entry and the new value of its bit. */
inline void update(int8_t* bits, int8_t* message, Lanes q, Lanes least, Lanes size, Lanes other, Lanes signs) {
  // The entry with the least magnitude receives the second least.
  const Lanes told = turned(pick(q.magnitude(), least, other, size), q ^ signs);
  told.store(message);
  (q + told).store(bits);
}

/**
 * One row, WIDTH checks at a time.
 *
 * @tparam DEGREE number of entries, or 0 if only `degree` gives it
 * @param own parity bits that only this row checks, or null: their value is the received one
 */
template <int DEGREE>
inline void passRow(int degree, int8_t* const* bits, const int8_t* own, int8_t* messages, int z) {
  const int entries = DEGREE > 0 ? DEGREE : degree;
  const Lanes cap = Lanes::of(CAP), offset = Lanes::of(OFFSET);
  for (int j = 0; j < z; j += WIDTH) {
    Lanes least = cap, next = cap, signs = Lanes::of(0), q[DEGREE > 0 ? DEGREE : MOST_DEGREE];
    if (own != nullptr) {
      signs = Lanes::load(own + j);
      least = lower(least, signs.magnitude());
    }
#pragma GCC unroll 19
    for (int i = 0; i < entries; i++) {
      q[i] = Lanes::load(bits[i] + j) - Lanes::load(messages + i * WIDTH);
      const Lanes size = q[i].magnitude();
      next = lower(next, upper(least, size));
      least = lower(least, size);
      signs = signs ^ q[i];
    }
    const Lanes size = beyond(least, offset), other = beyond(next, offset);
#pragma GCC unroll 19
    for (int i = 0; i < entries; i++) update(bits[i] + j, messages + i * WIDTH, q[i], least, size, other, signs);
    messages += entries * WIDTH;
  }
}

/** One pass over all rows. */
void iterate(Workspace& work, Row row, int rows, int z) {
  int8_t* messages = work.messages;
  for (int r = 0; r < rows; r++, row = row.next()) {
    const int degree = row.degree();
    int8_t* bits[MOST_DEGREE];
    for (int i = 0; i < degree; i++) bits[i] = work.rotate(row.entry(i).column, row.entry(i).shift, z);
    const int8_t* const own = row.own() < 0 ? nullptr : work.strip(row.own());
    switch (degree) {
      case 2: passRow<2>(degree, bits, own, messages, z); break;
      case 3: passRow<3>(degree, bits, own, messages, z); break;
      case 4: passRow<4>(degree, bits, own, messages, z); break;
      case 5: passRow<5>(degree, bits, own, messages, z); break;
      case 6: passRow<6>(degree, bits, own, messages, z); break;
      case 7: passRow<7>(degree, bits, own, messages, z); break;
      case 8: passRow<8>(degree, bits, own, messages, z); break;
      case 9: passRow<9>(degree, bits, own, messages, z); break;
      case 10: passRow<10>(degree, bits, own, messages, z); break;
      case 19: passRow<19>(degree, bits, own, messages, z); break;
      default: passRow<0>(degree, bits, own, messages, z);
    }
    messages += degree * padded(z);
  }
}

// Decisions ------------------------------------------------------------------------------------------------------------

/** Packs the hard decisions of the first `used` bits and returns whether any has changed. */
bool decide(Workspace& work, int used, int z) {
  uint64_t pending = 0;
  uint32_t changed = 0;
  uint32_t* at = work.packed;
  int held = 0;
  const auto put = [&] {
    changed |= static_cast<uint32_t>(pending) ^ *at;
    *at++ = static_cast<uint32_t>(pending);
  };
  for (int c = 0; c * z < used; c++) {
    const int8_t* const values = work.rotate(c, 0, z);
    const int end = used - c * z < z ? used - c * z : z;
    for (int j = 0; j < end; j += WIDTH) {
      const uint64_t bits = Lanes::load(values + j).negatives();
      for (int part = 0; part < WIDTH && j + part < end; part += 32) {
        const int left = end - j - part, most = WIDTH < 32 ? WIDTH : 32, count = left < most ? left : most;
        pending |= (bits >> part & ((uint64_t{1} << count) - 1)) << held;
        held += count;
        if (held < 32) continue;
        put();
        pending >>= 32;
        held -= 32;
      }
    }
  }
  if (held > 0) put();
  return changed != 0;
}

/**
 * Whether the checks of the last `checked` rows hold for the hard decisions. A parity bit of one check is decided from
 * its received value and the other bits of its row.
 */
bool holds(Workspace& work, Row row, int rows, int checked, int columns, int z) {
  for (int c = 0; c < columns; c++) {
    int8_t* const values = work.rotate(c, 0, z);
    for (int j = 0; j < z; j += WIDTH) Lanes::load(values + j).store(values + z + j);
  }
  for (int r = 0; r < rows; r++, row = row.next()) {
    if (r < rows - checked) continue;
    for (int j = 0; j < z; j += WIDTH) {
      Lanes least = Lanes::of(CAP), signs = Lanes::of(0);
      for (int i = 0; i < row.degree(); i++) {
        const Lanes value = Lanes::load(work.strip(row.entry(i).column) + row.entry(i).shift + j);
        least = lower(least, value.magnitude());
        signs = signs ^ value;
      }
      if (row.own() >= 0) {
        const Lanes told = turned(beyond(least, Lanes::of(OFFSET)), signs);
        signs = signs ^ (Lanes::load(work.strip(row.own()) + j) + told);
      }
      const uint64_t failed = signs.negatives();
      if (z - j >= WIDTH ? failed != 0 : (failed & ((uint64_t{1} << (z - j)) - 1)) != 0) return false;
    }
  }
  return true;
}

}  // namespace

/** Bytes of the workspace of a call, including its alignment. */
SVC_EXPORT(uint32_t, nr_ldpc_workspace)() { return sizeof(Workspace) + alignof(Workspace); }

/**
 * Decodes one code block.
 *
 * @param llr count values, positive for bit 0, none of them NaN
 * @param scrambling count bytes 0 or 1, or null
 * @param program rows as `decoderProgram` writes them
 * @param shape bits per symbol, bits of the circular buffer, information bits at its start, rows, columns, Z, information bits
 * that the CRC covers, filler bits, kind of CRC, most iterations, whether to stop early
 * @param segment receives `taken` decided bits
 * @returns iterations done; 2^16 is added where the CRC holds
 */
SVC_EXPORT(int32_t, nr_ldpc_decode)(
    void* memory, const float* llr, const uint8_t* scrambling, int32_t count, const int32_t* program,
    const int32_t* shape, uint8_t* segment, int32_t taken) {
  const int bitsPerSymbol = shape[0], bufferBits = shape[1], sentInformation = shape[2], rows = shape[3];
  const int columns = shape[4], z = shape[5], used = shape[6], filler = shape[7], crc = shape[8];
  const int iterations = shape[9];
  const bool early = shape[10] != 0;
  const Row first{program};
  Workspace& work = *reinterpret_cast<Workspace*>((reinterpret_cast<uintptr_t>(memory) + 63) & ~uintptr_t{63});

  // The circular buffer, then bits outside it: two unsent information columns, filler bits, unused parity.
  const bool repeats = count > bufferBits;
  const int kept = repeats ? bufferBits : count;
  if (repeats) combine(work.sums, bufferBits, llr, scrambling, count, bitsPerSymbol);
  const bool heard = quantise(work.rounded, repeats ? work.sums : llr, repeats ? nullptr : scrambling, kept);
  if (!heard) {
    std::memset(segment, 0, taken);
    return 0;
  }
  deinterleave(repeats ? 1 : bitsPerSymbol, work.buffer, work.rounded, kept);
  const int punctured = 2 * z, front = kept < sentInformation ? kept : sentInformation;
  std::memset(work.posterior, 0, static_cast<size_t>(columns) * z);
  std::memcpy(work.posterior + punctured, work.buffer, front);
  std::memcpy(work.posterior + used + filler, work.buffer + front, kept - front);
  std::memset(work.posterior + used, CERTAIN, filler);
  for (int c = 0; c < columns; c++) {
    std::memcpy(work.strip(c), work.posterior + c * z, z);
    work.origins[c] = 0;
  }

  size_t entries = 0;
  Row row = first;
  for (int r = 0; r < rows; r++, row = row.next()) entries += row.degree();
  std::memset(work.messages, 0, entries * padded(z));

  bool valid = false, finished = false;
  int done = 0;
  while (!finished && done < iterations) {
    iterate(work, first, rows, z);
    const bool last = ++done == iterations;
    if (!early && !last) continue;
    const bool news = decide(work, used, z) || done == 1 || !early;
    if (news) valid = crcRest(crc, reinterpret_cast<const uint8_t*>(work.packed), used >> 3) == 0;
    // A CRC of 16 bits would pass one wrong word in 65536 at each look, so the core checks must hold as well.
    finished = valid ? crc != CRC16 || last || holds(work, first, rows, CORE_ROWS, columns, z)
                     : !news && holds(work, first, rows, rows, columns, z);
  }
  for (int c = 0; c * z < taken; c++) {
    const int8_t* const values = work.rotate(c, 0, z);
    uint8_t* const to = segment + c * z;
    const int end = taken - c * z < z ? taken - c * z : z;
    for (int j = 0; j < end; j++) to[j] = values[j] < 0;
  }
  return done | (valid ? 0x10000 : 0);
}
