"""16QAM on four layers of OFDM grids of 64 x 14 over TDL-C to four antennas, unbiased MMSE, LLRs. Arguments as of ofdm.py."""
import json
import sys
import numpy as np

count, profile, points = int(sys.argv[1]), json.loads(sys.argv[2]), [float(text) for text in sys.argv[3:]]
WIDTH, ROWS, LAYERS = 64, 14, 4
generator = np.random.default_rng(23)
delays = 100e-9 * np.array(profile["delays"])
amplitudes = 10 ** (np.array(profile["powers_db"]) / 20)
amplitudes /= np.sqrt(np.sum(amplitudes**2))
turns = np.exp(-2j * np.pi * np.outer(delays, (np.arange(WIDTH) - WIDTH // 2) * 15e3)).astype(np.complex64)
unit = np.float32(1 / np.sqrt(10))


def normal(*shape):
    return generator.standard_normal((*shape, 2), dtype=np.float32).view(np.complex64)[..., 0] * np.float32(np.sqrt(0.5))


for snr_db in points:
    noise = np.float32(10 ** (-snr_db / 10))
    bits = generator.integers(0, 2, count, dtype=np.uint8)
    # Real and imaginary part of a symbol take every other bit: first the sign, then the inner or outer level.
    pairs = bits.reshape(-1, 2, 2).astype(np.float32)
    symbols = np.ascontiguousarray((1 - 2 * pairs[:, 0]) * (1 + 2 * pairs[:, 1]) * unit).view(np.complex64)[:, 0]
    grids = -(-symbols.size // (WIDTH * ROWS * LAYERS))
    sent = np.zeros(grids * WIDTH * ROWS * LAYERS, np.complex64)
    sent[: symbols.size] = symbols
    # [grid, subcarrier, layer, row]
    sent = sent.reshape(grids, ROWS, WIDTH, LAYERS).transpose(0, 2, 3, 1)
    taps = normal(grids, LAYERS, LAYERS, len(delays)) * amplitudes.astype(np.complex64)
    gains = np.ascontiguousarray((taps @ turns).transpose(0, 3, 1, 2)) / np.float32(np.sqrt(LAYERS))
    received = gains @ sent + np.sqrt(noise) * normal(grids, WIDTH, LAYERS, ROWS)
    adjoint = np.conj(gains.transpose(0, 1, 3, 2))
    inverse = np.linalg.inv(adjoint @ gains + noise * np.eye(LAYERS, dtype=np.complex64))
    bias = noise * np.diagonal(inverse, axis1=2, axis2=3).real
    filtered = (inverse @ (adjoint @ received)) / (1 - bias)[..., None]
    variance = bias / (1 - bias)
    estimate = np.ascontiguousarray(filtered.transpose(0, 3, 1, 2)).reshape(-1)[: symbols.size]
    spread = np.ascontiguousarray(np.broadcast_to(variance[:, None], (grids, ROWS, WIDTH, LAYERS))).reshape(-1)[: symbols.size]
    parts, scale = estimate.view(np.float32).reshape(-1, 2), (4 * unit / spread)[:, None]
    # The piecewise linear max-log LLRs of both bits of a part.
    size = np.abs(parts)
    first = scale * np.where(size > 2 * unit, 2 * np.sign(parts) * (size - unit), parts)
    second = scale * (2 * unit - size)
    decided = np.stack([first < 0, second < 0], axis=1).reshape(-1)
    print(snr_db, np.count_nonzero(decided != bits) / count)
