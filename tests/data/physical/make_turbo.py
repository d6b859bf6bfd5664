"""Turbo code words of TS 36.212, 5.1.3.2 and 5.1.4.1, written from the standard: shift registers, and the matrix of the sub-block
interleaver with NULL for its dummy bits. Prints the vectors of turbo.json."""
import json, numpy as np

COLUMNS = [0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, 1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31]
QPP = {40: (3, 10), 64: (7, 16), 512: (31, 64)}
NULL = 2

def register(bits):
    d1 = d2 = d3 = 0
    out, tail = [], []
    for bit in bits:
        a = bit ^ d2 ^ d3
        out.append(a ^ d1 ^ d3)
        d1, d2, d3 = a, d1, d2
    for _ in range(3):
        bit = d2 ^ d3
        tail.append((bit, d1 ^ d3))
        d1, d2, d3 = 0, d1, d2
    return out, tail

def streams(bits):
    k, (f1, f2) = len(bits), QPP[len(bits)]
    z, t = register(bits)
    w, u = register([bits[(f1 * i + f2 * i * i) % k] for i in range(k)])
    return [list(bits) + [t[0][0], t[1][1], u[0][0], u[1][1]],
            z + [t[0][1], t[2][0], u[0][1], u[2][0]],
            w + [t[1][0], t[2][1], u[1][0], u[2][1]]]

def matched(d, count, version):
    length = len(d[0])
    rows = -(-length // 32)
    padded = [np.array([NULL] * (rows * 32 - length) + list(s)) for s in d]
    v0, v1 = [p.reshape(rows, 32)[:, COLUMNS].T.reshape(-1) for p in padded[:2]]
    v2 = np.array([padded[2][(COLUMNS[k // rows] + 32 * (k % rows) + 1) % (rows * 32)] for k in range(rows * 32)])
    w = np.concatenate([v0, np.stack([v1, v2], 1).reshape(-1)])
    k0 = rows * (2 * -(-len(w) // (8 * rows)) * version + 2)
    out, j = [], 0
    while len(out) < count:
        bit = w[(k0 + j) % len(w)]
        j += 1
        if bit != NULL:
            out.append(int(bit))
    return out

rng = np.random.default_rng(5)
cases = []
for k, count, version in [(40, 132, 0), (40, 100, 2), (64, 90, 1), (64, 700, 3), (512, 1000, 0)]:
    bits = [int(b) for b in rng.integers(0, 2, k)]
    text = lambda values: "".join(map(str, values))
    cases.append({"bits": text(bits), "redundancy_version": version, "coded": text(matched(streams(bits), count, version))})
print(json.dumps({"source": "make_turbo.py, NumPy", "cases": cases}, indent=2))
