"""QPSK on OFDM grids of 72 x 14 over TDL-C, least squares from a comb of pilots, equaliser. Arguments: bits, delays and powers as JSON, SNRs."""
import json
import sys
import numpy as np

count, profile, points = int(sys.argv[1]), json.loads(sys.argv[2]), [float(text) for text in sys.argv[3:]]
WIDTH, ROWS, TIME = 72, 14, 2
generator = np.random.default_rng(23)
delays = 100e-9 * np.array(profile["delays"])
amplitudes = 10 ** (np.array(profile["powers_db"]) / 20)
amplitudes /= np.sqrt(np.sum(amplitudes**2))
turns = np.exp(-2j * np.pi * np.outer(delays, (np.arange(WIDTH) - WIDTH // 2) * 15e3)).astype(np.complex64)
comb = np.arange(0, WIDTH, 2)
# All rows but the one with pilots carry data.
rows = np.array([row for row in range(ROWS) if row != TIME])
per_grid = WIDTH * len(rows)


def normal(*shape):
    return generator.standard_normal((*shape, 2), dtype=np.float32).view(np.complex64)[..., 0] * np.float32(np.sqrt(0.5))


for snr_db in points:
    noise = 10 ** (-snr_db / 10)
    bits = generator.integers(0, 2, count, dtype=np.uint8)
    signs = (1 - 2 * bits.astype(np.float32)) * np.float32(np.sqrt(0.5))
    symbols = signs.view(np.complex64)
    grids = -(-symbols.size // per_grid)
    data = np.zeros(grids * per_grid, np.complex64)
    data[: symbols.size] = symbols
    sent = np.zeros((grids, ROWS, WIDTH), np.complex64)
    sent[:, rows] = data.reshape(grids, len(rows), WIDTH)
    pilots = ((1 - 2 * generator.integers(0, 2, (grids, comb.size, 2))).astype(np.float32) * np.float32(np.sqrt(0.5))).view(np.complex64)[..., 0]
    sent[:, TIME, comb] = pilots
    gains = (normal(grids, len(delays)) * amplitudes.astype(np.complex64)) @ turns
    received = gains[:, None] * sent + np.float32(np.sqrt(noise)) * normal(grids, ROWS, WIDTH)
    estimate = np.empty((grids, WIDTH), np.complex64)
    estimate[:, comb] = received[:, TIME, comb] / pilots
    estimate[:, 1:-1:2] = (estimate[:, 0:-2:2] + estimate[:, 2::2]) / 2
    estimate[:, -1] = estimate[:, -2]
    power = np.abs(estimate) ** 2
    equalised = (received[:, rows] * np.conj(estimate)[:, None] / power[:, None]).reshape(-1)[: symbols.size]
    variance = np.broadcast_to(((2 * noise) / power)[:, None], (grids, len(rows), WIDTH)).reshape(-1)[: symbols.size]
    llr = equalised.view(np.float32).reshape(-1, 2) * (np.float32(2 * np.sqrt(2)) / variance[:, None]).astype(np.float32)
    print(snr_db, np.count_nonzero((llr.reshape(-1) < 0) != bits) / count)
