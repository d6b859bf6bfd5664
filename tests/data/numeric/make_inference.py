"""Writes inference.json, what inference_test.ts compares with.

Run with SciPy 1.10 and mpmath 1.2: python3 make_inference.py
Student's t quantiles and tails, intervals of means, sign-flip permutation tests (all 2^n patterns) and paired t tests.
SciPy's quantile of t is good to nine digits only: mpmath polishes it with 40 digits.
Holm's correction is spelt out here, for SciPy 1.10 has none.
"""
import json
import os
import numpy as np
from mpmath import betainc, findroot, mp, mpf
from scipy import stats

mp.dps = 40


def quantile(p, v):
    """The t with P(T < t) = p."""
    p, v, start = mpf(p), mpf(v), mpf(float(stats.t.ppf(p, v)))

    def excess(t):
        tail = betainc(v / 2, 0.5, 0, v / (v + t * t), regularized=True) / 2
        return (tail if t < 0 else 1 - tail) - p

    return float(findroot(excess, (start, start * (1 + mpf("1e-8")))))


rng = np.random.default_rng(7)
quantiles = [[p, v, quantile(p, v)]
             for v in (1, 2, 3, 4, 5, 7, 10, 19, 30, 99, 150, 999, 1e5, 1e7)
             for p in (1e-6, 0.005, 0.025, 0.05, 0.3, 0.499, 0.6, 0.9, 0.975, 0.995, 0.999999)]
tails = [[t, v, float(2 * stats.t.sf(t, v))]
         for v in (1, 2, 3, 4.5, 9, 24, 99, 250, 1e4, 1e6)
         for t in (1e-9, 1e-3, 0.1, 0.9, 1, 1.5, 2.3, 5, 12, 30)]

means = []
for n in (2, 3, 5, 20, 200):
    values = rng.normal(3, 2, n)
    for confidence in (0.9, 0.95, 0.999):
        reach = quantile(0.5 + confidence / 2, n - 1) * stats.sem(values)
        low, high = values.mean() - reach, values.mean() + reach
        means.append({"values": values.tolist(), "confidence": confidence, "low": low, "high": high})

paired = []
for n, shift in ((2, 1), (5, 0.4), (8, 1), (12, 0.2), (14, -1), (21, 0.3), (60, 0.1)):
    values = rng.normal(shift, 1, n)
    if n <= 20:
        p = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    else:
        p = stats.ttest_1samp(values, 0).pvalue
    paired.append({"values": values.tolist(), "p": float(p)})
# Ties: 0.1 + 0.2 and 0.3 are the same distance, whatever their last bits say.
paired.append({"values": [0.1, 0.2, 0.3, -0.3], "p": 0.75})


def holm(p):
    order = sorted(range(len(p)), key=lambda i: p[i])
    out, floor = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        floor = max(floor, min(1.0, (len(p) - rank) * p[i]))
        out[i] = floor
    return out


p_values = [[0.01, 0.04, 0.03, 0.005], [0.5], [], [0.2, 0.2, 0.001, 1.0, 0.9]]
with open(os.path.join(os.path.dirname(__file__), "inference.json"), "w") as file:
    rows = {"quantiles": quantiles, "tails": tails, "means": means, "paired": paired,
            "holm": [[p, holm(p)] for p in p_values]}
    file.write("{\n" + ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in rows.items()) + "\n}\n")
