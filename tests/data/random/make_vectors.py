"""Writes vectors.json: what NumPy's Generator draws, for bit-exact comparison (tests/lib/numeric/random_test.ts).

Run with NumPy 2.4.6 on glibc 2.36, x86-64 with fused multiply-add: python3 make_vectors.py

Arrays are the hexadecimal bytes of their little-endian elements; indices (permutation, shuffle, choice) are int32.
  values:    every call on a fresh generator, 200 or more elements
  sequences: many small calls on one generator, so that buffered halves are carried between them
  digests:   SHA-256 of the bytes of a long draw
  log1p:     SHA-256 of the C library's log1p(-u), u = random(count), and of small and of nearly 1 u, see log1p_arguments
"""

import hashlib
import json
import math
import random
from pathlib import Path

import numpy as np

SEEDS = [0, 1, 23, 23001, 2**40 + 7, 2**64 + 5]
FLOATS = ["random", "random_float32", "standard_normal", "standard_exponential"]
RANGES = {
    "bool": [(0, 2)],
    "int8": [(-128, 128), (-3, 7), (5, 6)],
    "uint8": [(0, 2), (0, 256), (10, 210)],
    "int16": [(-32768, 32768), (-1000, 777)],
    "uint16": [(0, 65536), (0, 3), (9, 40000)],
    "int32": [(-(2**31), 2**31), (-5, 2**31 - 7)],
    "uint32": [(0, 2**32), (0, 2), (1, 3 * 2**30)],
    "int64": [(-(2**63), 2**63), (0, 4), (-7, 2**32 - 7), (-(2**61), 2**61 + 2**60)],
    "uint64": [(0, 2**64), (0, 2**32 + 1), (3, 3 * 2**62)],
}


def probabilities(n):
    weights = np.arange(1, n + 1, dtype=np.float64) % 7
    return (weights / weights.sum()).tolist()


def draw(generator, call):
    name, *args = call
    if name == "integers":
        low, high, size, dtype = args
        return generator.integers(int(low), int(high), size, dtype=dtype)
    if name == "random_float32":
        return generator.random(args[0], dtype=np.float32)
    if name == "permutation":
        return generator.permutation(args[0]).astype(np.int32)
    if name == "shuffle":
        array = np.arange(args[0])
        generator.shuffle(array)
        return array.astype(np.int32)
    if name == "choice":
        n, size, replace, weighted = args
        p = probabilities(n) if weighted else None
        return generator.choice(n, size, replace=replace, p=p).astype(np.int32)
    if name in ("complex_normal", "add_complex_normal"):
        size, variance = args
        noise = np.empty(size, np.complex128)
        noise.real = generator.standard_normal(size)
        noise.imag = generator.standard_normal(size)
        noise *= np.sqrt(variance / 2)
        if name == "add_complex_normal":
            noise += (np.arange(size) % 3 - 1) * np.float32(0.7) + 1j * np.float32(0.1)
        return noise.astype(np.complex64)
    return getattr(generator, name)(*args)


def value_calls():
    calls = [[name, 200] for name in FLOATS]
    calls += [["uniform", -2.5, 0.1, 200], ["normal", 0.3, 2.7, 200]]
    calls += [["permutation", 200], ["shuffle", 257]]
    calls += [["choice", 300, 200, True, False], ["choice", 300, 200, False, False]]
    calls += [["choice", 300, 200, True, True], ["choice", 300, 200, False, True]]
    calls += [["complex_normal", 100, 0.1], ["add_complex_normal", 100, 0.02]]
    calls += [
        ["integers", str(low), str(high), 200, dtype]
        for dtype, ranges in RANGES.items()
        for low, high in ranges
    ]
    return calls


def sequence_calls(seed, length):
    pick = random.Random(seed)
    calls = []
    for _ in range(length):
        kind = pick.choice(["integers"] * 6 + FLOATS + ["permutation", "shuffle", "choice"])
        size = pick.choice([0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 31, 33])
        if kind == "integers":
            dtype = pick.choice(list(RANGES))
            low, high = pick.choice(RANGES[dtype])
            calls.append([kind, str(low), str(high), size, dtype])
        elif kind == "choice":
            calls.append([kind, 40, size, pick.random() < 0.5, pick.random() < 0.5])
        else:
            calls.append([kind, size])
    return calls


def long_calls():
    n = 1_000_003
    return [
        ["random", n],
        ["random_float32", n],
        ["standard_normal", 4 * n],
        ["standard_exponential", 2 * n],
        ["permutation", n],
        ["choice", 20000, 15000, False, False],
        ["choice", 1_000_000, 5000, False, False],
        ["complex_normal", n, 0.5],
        ["add_complex_normal", n, 0.1],
    ] + [
        ["integers", str(low), str(high), n, dtype]
        for dtype, ranges in RANGES.items()
        for low, high in ranges[-1:]
    ]


def log1p_arguments(count):
    """u, u·2^-10, u·2^-40 and 1 - u·2^-20 rounded to multiples of 2^-53: all that a draw can give."""
    u = np.random.default_rng(4).random(count)
    parts = [u, u * 2.0**-10, u * 2.0**-40, 1 - u * 2.0**-20]
    return -np.floor(np.concatenate(parts) * 2.0**53) * 2.0**-53


def log1p_digest(count):
    values = np.array([math.log1p(x) for x in log1p_arguments(count).tolist() if x > -1])
    return {"count": count, "sha256": hashlib.sha256(values.tobytes()).hexdigest()}


def row(call, result):
    return {"call": call, "hex": result.tobytes().hex()}


def main():
    values, sequences, digests = [], [], []
    for seed in SEEDS:
        values.append({"seed": str(seed), "rows": [row(c, draw(np.random.default_rng(seed), c)) for c in value_calls()]})
    for seed in (5, 2**64 + 5):
        generator = np.random.default_rng(seed)
        sequences.append({"seed": str(seed), "rows": [row(c, draw(generator, c)) for c in sequence_calls(seed, 250)]})
    for seed in (23, 23001):
        generator = np.random.default_rng(seed)
        for call in long_calls():
            result = draw(generator, call)
            digests.append({"seed": str(seed), "call": call, "sha256": hashlib.sha256(result.tobytes()).hexdigest()})
    lines = ['{"numpy": "%s",' % np.__version__]
    for name, groups in (("values", values), ("sequences", sequences)):
        lines.append('"%s": [' % name)
        for index, group in enumerate(groups):
            lines.append('{"seed": "%s", "rows": [' % group["seed"])
            lines.append(",\n".join(json.dumps(r) for r in group["rows"]))
            lines.append("]}" + ("," if index + 1 < len(groups) else ""))
        lines.append("],")
    lines.append('"digests": [')
    lines.append(",\n".join(json.dumps(d) for d in digests))
    lines.append("],")
    lines.append('"log1p": %s}' % json.dumps(log1p_digest(100_000)))
    Path(__file__).with_name("vectors.json").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
