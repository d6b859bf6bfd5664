"""Uncoded QPSK over AWGN in blocks of float32. Arguments: bits a point, Es/N0 in dB of each point."""
import sys
import numpy as np

BLOCK = 1 << 16
count, points = int(sys.argv[1]), [float(text) for text in sys.argv[2:]]
generator = np.random.default_rng(23)
for snr_db in points:
    scale, amplitude, errors = np.float32(np.sqrt(10 ** (-snr_db / 10) / 2)), np.float32(np.sqrt(0.5)), 0
    for first in range(0, count, BLOCK):
        bits = generator.integers(0, 2, min(BLOCK, count - first), dtype=np.uint8)
        received = amplitude * (1 - 2 * bits.astype(np.float32)) + scale * generator.standard_normal(bits.size, dtype=np.float32)
        llr = received * np.float32(4 * amplitude / (2 * scale * scale))
        errors += int(np.count_nonzero((llr < 0) != bits))
    print(snr_db, errors / count)
