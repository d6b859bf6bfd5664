"""Writes vectors.json: the converse bound for codes of equal power over the real AWGN channel.

No code of n real channel uses, every word of power nP, and block error probability eps has a rate above
-log2(beta)/n, where beta is the least error of the second kind of a test between N(x, 1) and N(0, 1 + P) that errs with
eps: Polyanskiy, Poor and Verdu, "Channel coding rate in the finite blocklength regime", IEEE Trans. Inf. Theory 56,
2010, theorem 41. Both statistics are noncentral chi-square: with t so that P[chi2_n(n/P) <= t] = 1 - eps,
beta = P[chi2_n(n(1 + 1/P)) <= t/(1 + P)], here summed as a Poisson mixture in logarithms, since beta lies far below the
range of binary64.

Run as `python3 make_vectors.py` in this folder; made with NumPy 2.4.6 and SciPy.
"""
import json

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc, gammaln, logsumexp


def log_lower_gamma(a, x):
    """Logarithm of the regularised lower incomplete gamma function, for an array of a."""
    out = np.empty_like(a)
    large = a < x + 5 * np.sqrt(x)
    out[large] = np.log(gammainc(a[large], x))
    b = a[~large]
    term = np.ones_like(b)
    total = np.ones_like(b)
    k = 0
    while len(b) and term.max() >= 1e-17:
        k += 1
        term = term * x / (b + k)
        total += term
    out[~large] = b * np.log(x) - x - gammaln(b + 1) + np.log(total)
    return out


def log_noncentral_cdf(x, freedom, noncentrality):
    half = noncentrality / 2
    j = np.arange(0, int(half + 60 * np.sqrt(half) + 100), dtype=float)
    return logsumexp(-half + j * np.log(half) - gammaln(j + 1) + log_lower_gamma(freedom / 2 + j, x / 2))


def converse_rate(n, power, eps):
    shift = n / power
    mean, deviation = n + shift, np.sqrt(2 * (n + 2 * shift))
    t = brentq(
        lambda t: np.exp(log_noncentral_cdf(t, n, shift)) - (1 - eps),
        max(1e-3, mean - 10 * deviation),
        mean + 12 * deviation,
        xtol=1e-10,
        rtol=1e-14,
    )
    return -log_noncentral_cdf(t / (1 + power), n, n * (1 + 1 / power)) / np.log(2) / n


rows = [
    {"power": power, "block_error_rate": eps, "blocklength": n, "rate": float(converse_rate(n, power, eps))}
    for power, eps in ((1.0, 1e-3), (100.0, 1e-6))
    for n in (200, 500, 1000, 2000, 2800)
]
with open("vectors.json", "w") as file:
    json.dump({"converse": rows}, file, indent=1)
    file.write("\n")
