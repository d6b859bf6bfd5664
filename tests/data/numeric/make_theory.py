"""Writes theory.json: reference values of special functions, statistics and bit error rates (tests/lib/numeric).

Run with SciPy 1.10 and mpmath 1.2: python3 make_theory.py

The error rates are not evaluated from the closed forms under test: each part of a constellation is taken level by level,
the probability that noise carries it into the decision region of every other level is weighted with the bits that
differ, and fading is integrated numerically.
"""

import json
from pathlib import Path

import numpy as np
from mpmath import erfc, exp, inf, mp, mpf, quad, sqrt
from scipy import special, stats

mp.dps = 40

# Levels of one part in units of half the least distance, with their Gray labels (TS 38.211 section 5.1), ascending.
PARTS = {
    "bpsk": [(-1, "1"), (1, "0")],
    "qpsk": [(-1, "1"), (1, "0")],
    "qam16": [(-3, "11"), (-1, "10"), (1, "00"), (3, "01")],
    "qam64": [(-7, "111"), (-5, "110"), (-3, "100"), (-1, "101"), (1, "001"), (3, "000"), (5, "010"), (7, "011")],
}
MEAN_POWER = {"bpsk": 1, "qpsk": 2, "qam16": 10, "qam64": 42}


def upper(x):
    """P(N(0, 1) > x)"""
    return erfc(x / sqrt(2)) / 2


def awgn(modulation, gamma):
    """Noise of variance N0/2 in the part, levels scaled by sqrt(Es / mean power)."""
    levels = PARTS[modulation]
    step = sqrt(2 * gamma / MEAN_POWER[modulation])
    total = mpf(0)
    for level, label in levels:
        for index, (other, other_label) in enumerate(levels):
            low = -inf if index == 0 else (other - 1 - level) * step
            high = inf if index + 1 == len(levels) else (other + 1 - level) * step
            mass = (upper(low) if low != -inf else 1) - (upper(high) if high != inf else 0)
            total += mass * sum(a != b for a, b in zip(label, other_label))
    return total / len(levels) / len(levels[0][1])


def rayleigh(modulation, gamma):
    cuts = [0, 0.01 / gamma, 0.1 / gamma, 1 / gamma, 5 / gamma, 20 / gamma, 100 / gamma, 400 / gamma]
    cuts = [mpf(c) for c in cuts if c < 60] + [mpf(60), mpf(150)]
    return quad(lambda u: awgn(modulation, gamma * u) * exp(-u), cuts)


def main():
    points = [-6, -3.3, -1, -0.5, 0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 1.5, 1.99, 2, 2.01, 2.5, 3, 4.2, 6, 9, 14, 20, 25, 26]
    chances = [1e-300, 1e-100, 1e-20, 1e-9, 1e-4, 0.01, 0.025, 0.1, 0.3, 0.4999, 0.5, 0.6, 0.9, 0.975, 0.99, 0.9999]
    values = np.random.default_rng(7).normal(3, 2, 37)
    wilson = []
    for k, n in [(0, 10), (1, 10), (5, 10), (10, 10), (123, 10**6), (3, 77)]:
        for confidence in (0.9, 0.95, 0.99):
            interval = stats.binomtest(k, n).proportion_ci(confidence, method="wilson")
            wilson.append([k, n, confidence, interval.low, interval.high])
    result = {
        "erfc": [[x, float(erfc(mpf(x)))] for x in points],
        "gaussian_tail": [[x, float(upper(mpf(x)))] for x in [-5, -1, 0, 0.3, 1, 2.8, 3, 5, 8, 20, 37]],
        "normal_quantile": [[p, float(special.ndtri(p))] for p in chances],
        "values": values.tolist(),
        "mean": float(values.mean()),
        "variance": float(values.var(ddof=1)),
        "population_variance": float(values.var()),
        "quantiles": [[q, float(np.quantile(values, q))] for q in (0, 0.05, 0.1, 0.25, 0.5, 0.77, 0.9, 1)],
        "wilson": wilson,
        "awgn": [[m, db, float(awgn(m, mpf(10) ** (mpf(db) / 10)))] for m in PARTS for db in (-5, 0, 3, 6, 10, 14, 18)],
        "rayleigh": [[m, db, float(rayleigh(m, mpf(10) ** (mpf(db) / 10)))] for m in PARTS for db in (-5, 0, 10, 20, 40)],
    }
    text = ",\n".join('"%s": %s' % (key, json.dumps(value)) for key, value in result.items())
    Path(__file__).with_name("theory.json").write_text("{\n%s\n}\n" % text)


if __name__ == "__main__":
    main()
