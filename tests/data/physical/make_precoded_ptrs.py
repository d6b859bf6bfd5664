"""Phase-tracking pilots of transform precoding, TS 38.211 6.4.1.2.2.2, written for the test: python3 make_precoded_ptrs.py

The Gold sequence is not shifted out of registers. Bit n of a register is the sum of the starting bits that the residue of x^n by its
polynomial has over GF(2), computed by squaring on integers. Places follow table 6.4.1.2.2.2-1 as it is printed, and the orthogonal
sequences are a table.
"""
import json
import pathlib

import numpy as np

FIRST = 1 << 31 | 1 << 3 | 1
SECOND = 1 << 31 | 1 << 3 | 1 << 2 | 1 << 1 | 1
WALSH = {2: np.array([[1, 1], [1, -1]]),
         4: np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])}


def product(a, b, polynomial):
    out = 0
    while b:
        out ^= a if b & 1 else 0
        a, b = a << 1, b >> 1
        a ^= polynomial if a >> 31 else 0
    return out


def power(n, polynomial):
    out, square = 1, 2
    while n:
        out = product(out, square, polynomial) if n & 1 else out
        square, n = product(square, square, polynomial), n >> 1
    return out


def gold(seed, n):
    parts = power(n + 1600, FIRST) & 1, power(n + 1600, SECOND) & seed
    return sum(bin(part).count("1") for part in parts) % 2


def places(size, groups, samples):
    if samples == 2:
        return [s * size // (2 * groups) + k - 1 for s in range(1, 2 * groups, 2) for k in (0, 1)]
    found = [0, 1, 2, 3]
    for s in range(1, groups - 1):
        found += [s * size // groups + size // (2 * groups) + k for k in (-2, -1, 0, 1)]
    return found + [size + k for k in (-4, -3, -2, -1)]


def values(where, samples, n_id, rnti, slot, symbol):
    seed = (2**17 * (14 * slot + symbol + 1) * (2 * n_id + 1) + 2 * n_id) % 2**31
    bits = np.array([gold(seed, m) for m in range(len(where))])
    where = np.array(where)
    # pi/2-BPSK of the bits, turned by the parity of the place.
    points = np.exp(1j * np.pi / 2 * (where % 2)) / np.sqrt(2) * ((1 - 2 * bits) + 1j * (1 - 2 * bits))
    return points * np.tile(WALSH[samples][rnti % samples], len(where) // samples)


cases = []
for size, groups, samples, n_id, rnti, slot, symbol in [
    (96, 2, 2, 0, 0, 0, 0), (144, 2, 4, 1007, 3, 19, 3), (300, 4, 2, 501, 65535, 7, 1), (240, 4, 4, 77, 2, 159, 13),
    (1200, 8, 4, 1, 1, 0, 0), (3240, 8, 4, 1006, 40002, 73, 2),
]:
    where = places(size, groups, samples)
    signs = "".join("+" if part > 0 else "-"
                    for value in values(where, samples, n_id, rnti, slot, symbol) for part in (value.real, value.imag))
    cases.append({"active": size, "groups": groups, "samples": samples, "n_id": n_id, "rnti": rnti, "slot": slot,
                  "symbol": symbol, "places": where, "signs": signs})
text = ",\n".join("  " + json.dumps(case) for case in cases)
pathlib.Path(__file__).with_name("precoded_ptrs.json").write_text(f"[\n{text}\n]\n")
