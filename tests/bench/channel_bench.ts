/**
 * The channel presets on 1e6 symbols, against the same draws and formulas in NumPy: `deno run -A tests/bench/channel_bench.ts`.
 * MIMO in NumPy is batched over all vectors; OFDM is one matrix product for all grids.
 */
import { Generator } from "../../lib/numeric/random/random.ts";
import { dataPlane } from "../../ops/_data_plane.ts";
import { type Preset, PRESETS, presetSettings } from "../../ops/wireless/_params.ts";
import { transmit } from "../../ops/wireless/_presets.ts";
import { row, sized } from "./measure.ts";
import { medianMs, numpyTimings, printComparison, type Timings } from "./numpy.ts";

const SYMBOLS = sized(1_000_000, 2_000);

const numpy = numpyTimings(`
n, n0 = ${SYMBOLS}, 0.1
x = np.full(n, (1 + 1j) / np.sqrt(2), np.complex64)

def normal(g, shape, variance):
    out = np.empty(shape, np.complex128)
    out.real = g.standard_normal(shape)
    out.imag = g.standard_normal(shape)
    out *= np.sqrt(variance / 2)
    return out

def awgn():
    return (x + normal(np.random.default_rng(1), n, n0)).astype(np.complex64)

def rayleigh():
    g = np.random.default_rng(1)
    h = normal(g, n, 1)
    y = h * x + normal(g, n, n0)
    return (y / h).astype(np.complex64), (n0 / (h.real ** 2 + h.imag ** 2)).astype(np.float32)

def mimo(tx):
    g = np.random.default_rng(1)
    h = normal(g, (n // tx, tx, tx), 1)
    y = (h @ x.reshape(-1, tx, 1)) / np.sqrt(tx) + normal(g, (n // tx, tx, 1), n0)
    matched = h.conj().transpose(0, 2, 1)
    inverse = np.linalg.inv(matched @ h)
    estimate = np.sqrt(tx) * (inverse @ (matched @ y))
    return estimate.reshape(-1).astype(np.complex64), (tx * n0 * np.einsum("vii->vi", inverse).real).astype(np.float32)

def ofdm():
    g = np.random.default_rng(1)
    f, s, taps = 64, 14, 23
    grids = -(-n // (f * s))
    h = normal(g, (grids, taps), 1 / taps) @ np.exp(-2j * np.pi * np.outer(np.linspace(0, 1e-6, taps), np.arange(f) * 15e3))
    h = np.repeat(h[:, None, :], s, axis=1).reshape(-1)[:n]
    y = h * x + normal(g, grids * s * f, n0)[:n]
    return (y / h).astype(np.complex64), (n0 / (h.real ** 2 + h.imag ** 2)).astype(np.float32)

measure("awgn", awgn, 5)
measure("flat_rayleigh", rayleigh, 5)
measure("mimo_flat 2x2", lambda: mimo(2), 5)
measure("mimo_flat 4x4", lambda: mimo(4), 5)
measure("ofdm_tdl", ofdm, 5)
`);

const symbols = new Float32Array(2 * SYMBOLS).fill(Math.SQRT1_2);

const plane = await dataPlane({ params: { data_plane_backend: "auto" }, backend: "numpy" });

function run(channel: Preset, antennas = 1): number {
  const settings = presetSettings({
    channel,
    noise_mode: "fixed_variance",
    noise_variance: 0.1,
    snr_db: 10,
    receiver_processing: "matched",
    interferers: 2,
    interference_sir_db: 10,
    tx_antennas: antennas,
    rx_antennas: antennas,
    ofdm_fft_size: 64,
    num_ofdm_symbols: 14,
    subcarrier_spacing_khz: 15,
    carrier_frequency_ghz: 3.5,
    mobility_kmh: 3,
    wireless_backend: "auto",
    data_plane_backend: "auto",
    seed: undefined,
    tdl_model: "A",
    delay_spread_ns: 100,
    normalize_channel: true,
  }, 1);
  return medianMs(() => transmit(symbols, settings, Generator.seeded(1), plane), 5);
}

const ours: Timings = {};
for (const preset of PRESETS) {
  for (const antennas of preset === "mimo_flat" ? [2, 4] : [1]) {
    ours[antennas === 1 ? preset : `${preset} ${antennas}x${antennas}`] = run(preset, antennas);
  }
}
printComparison(ours, numpy);
for (const [name, ms] of Object.entries(ours)) {
  row(`${name}, rate`, `${(SYMBOLS / ms / 1e3).toFixed(1)} Msymbol/s`);
}
