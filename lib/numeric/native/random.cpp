/**
 * PCG64 (O'Neill 2014) and NumPy's ziggurat of standard normal values, with the bits of ../random.ts. The state is
 * passed in and returned after the last draw, so that both implementations can be used in turn on one generator.
 *
 * A step waits for the 128-bit product of the step before; four interleaved streams of fourfold steps overlap them. The
 * tables are those of ../data/ziggurat.json, written by the build.
 */
#include "bits.hpp"
#include "export.hpp"
#include "logarithm.hpp"
#include "ziggurat.inc"

namespace {

using u128 = unsigned __int128;

constexpr u128 wide(uint64_t high, uint64_t low) { return static_cast<u128>(high) << 64 | low; }

constexpr u128 MULTIPLIER = wide(0x2360ED051FC65DA4, 0x4385DF649FCCF645);
constexpr u128 MULTIPLIER_2 = MULTIPLIER * MULTIPLIER;
constexpr u128 MULTIPLIER_4 = MULTIPLIER_2 * MULTIPLIER_2;

/** XSL-RR. */
inline uint64_t outputOf(u128 state) {
  const uint64_t high = static_cast<uint64_t>(state >> 64), mixed = high ^ static_cast<uint64_t>(state);
  const unsigned turn = high >> 58;
  return mixed >> turn | mixed << (-turn & 63);
}

/** The raw outputs of a generator, formed in blocks ahead of their use. */
class Stream {
 public:
  /** @param words state and increment, each low word first */
  explicit Stream(uint64_t* words)
      : words_(words), blockStart_(wide(words[1], words[0])), blockEnd_(blockStart_), increment_(wide(words[3], words[2])) {}

  /** Stores the state after the last output that was used. */
  ~Stream() {
    u128 state = blockStart_;
    for (const uint64_t* raw = raw_; raw < cursor; raw++) state = state * MULTIPLIER + increment_;
    words_[0] = static_cast<uint64_t>(state);
    words_[1] = static_cast<uint64_t>(state >> 64);
  }

  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /** Forms the next block after the last one is used up: `wanted` outputs, rounded up, at most a full block. */
  void refill(size_t wanted) {
    blockStart_ = blockEnd_;
    const u128 add4 = (MULTIPLIER_2 + 1) * (MULTIPLIER + 1) * increment_;
    u128 a = blockStart_ * MULTIPLIER + increment_, b = a * MULTIPLIER + increment_;
    u128 c = b * MULTIPLIER + increment_, d = c * MULTIPLIER + increment_;
    uint64_t* const end = raw_ + (wanted < BLOCK ? (wanted + 3) & ~size_t{3} : BLOCK);
    for (uint64_t* raw = raw_; raw < end; raw += 4) {
      blockEnd_ = d;
      raw[0] = outputOf(a);
      raw[1] = outputOf(b);
      raw[2] = outputOf(c);
      raw[3] = outputOf(d);
      a = a * MULTIPLIER_4 + add4;
      b = b * MULTIPLIER_4 + add4;
      c = c * MULTIPLIER_4 + add4;
      d = d * MULTIPLIER_4 + add4;
    }
    cursor = raw_;
    limit = end;
  }

  uint64_t next() {
    if (cursor == limit) refill(8);
    return *cursor++;
  }

  /** binary64 in [0, 1). */
  double nextDouble() { return static_cast<double>(static_cast<int64_t>(next() >> 11)) * (1.0 / 9007199254740992.0); }

 private:
  static constexpr size_t BLOCK = 1024;
  uint64_t* words_;
  /** States before and after the outputs of the block. */
  u128 blockStart_, blockEnd_;
  u128 increment_;
  uint64_t raw_[BLOCK];

 public:
  /** The next output to use, and the end of the block. */
  const uint64_t* cursor = raw_;
  const uint64_t* limit = raw_;
};

struct Layer {
  /** Width over 2^52, negative for the sign bit. */
  double width;
  /** Magnitudes below this lie inside the layer. */
  uint64_t limit;
};

/** The layers, then the same with inverted sign. */
struct Layers {
  Layer of[512];
  Layers() {
    for (int i = 0; i < 512; i++) {
      const double width = doubleOf(NORMAL_W[i & 255]);
      of[i] = {i < 256 ? width : -width, NORMAL_K[i & 255]};
    }
  }
};
const Layers LAYERS;

/** A ziggurat draw outside the inner part of a layer. @returns whether the point is accepted */
__attribute__((noinline, cold)) bool onEdge(Stream& stream, uint64_t raw, double& x) {
  const unsigned layer = raw & 255;
  if (layer == 0) {
    for (;;) {
      const double far = -NORMAL_INVERSE_R * log1pExact(-stream.nextDouble());
      const double height = -log1pExact(-stream.nextDouble());
      if (height + height <= far * far) continue;
      x = raw >> 17 & 1 ? -(NORMAL_R + far) : NORMAL_R + far;
      return true;
    }
  }
  const double outer = doubleOf(NORMAL_F[layer]), inner = doubleOf(NORMAL_F[layer - 1]);
  // Exponentials of other libraries may differ in the last bit; only a draw that equals this bit exactly is affected.
  return (inner - outer) * stream.nextDouble() + outer < std::exp(-0.5 * x * x);
}

/** Calls `put(i, value)` with `count` standard normal values. */
template <class Put>
inline void normals(Stream& stream, size_t count, Put put) {
  for (size_t i = 0; i < count;) {
    if (stream.cursor == stream.limit) stream.refill(count - i);
    const uint64_t* at = stream.cursor;
    const uint64_t* const stop = static_cast<size_t>(stream.limit - at) < count - i ? stream.limit : at + (count - i);
    while (at < stop) {
      const uint64_t raw = *at++, magnitude = raw << 3 >> 12;
      const Layer& layer = LAYERS.of[raw & 511];
      double x = static_cast<double>(static_cast<int64_t>(magnitude)) * layer.width;
      if (magnitude >= layer.limit) {
        stream.cursor = at;
        if (onEdge(stream, raw, x)) put(i++, x);
        at = stream.cursor;
        break;
      }
      put(i++, x);
    }
    stream.cursor = at;
  }
}

}  // namespace

/**
 * symbols + scale · z, z standard normal: all real parts are drawn first, then all imaginary parts; sums in binary64.
 *
 * @param state four words of the generator, see Stream
 */
SVC_EXPORT(void, add_complex_normal)(
    uint64_t* state, const float* __restrict symbols, float* __restrict out, size_t count, double scale) {
  for (int part = 0; part < 2; part++) {
    Stream stream(state);
    normals(stream, count, [=](size_t i, double z) {
      out[2 * i + part] = static_cast<float>(symbols[2 * i + part] + scale * z);
    });
  }
}

/**
 * Uniform bits as `integers(0, 2, uint8)`: the highest bit of each byte of 32-bit words, the low word of an output first.
 * The rest of the last word is dropped, an unused high word is kept.
 *
 * @param state four words of the generator, then the kept word of 32 bits and whether there is one
 */
SVC_EXPORT(void, random_bits)(uint64_t* state, uint8_t* __restrict bits, size_t count) {
  uint32_t* const kept = reinterpret_cast<uint32_t*>(state + 4);
  Stream stream(state);
  size_t at = 0;
  const auto put = [&](uint64_t raw, size_t bytes) {
    const uint64_t word = raw >> 7 & LOW_BITS;
    std::memcpy(bits + at, &word, count - at < bytes ? count - at : bytes);
    at += bytes;
  };
  if (count > 0 && kept[1]) {
    put(kept[0], 4);
    kept[1] = 0;
  }
  while (at < count) {
    if (stream.cursor == stream.limit) stream.refill((count - at + 7) / 8);
    const uint64_t raw = *stream.cursor++;
    if (count - at <= 4) {
      kept[0] = static_cast<uint32_t>(raw >> 32);
      kept[1] = 1;
    }
    put(raw, 8);
  }
}
