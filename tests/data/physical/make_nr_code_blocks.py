"""Code words of single code blocks of 5G NR, written from TS 38.212 V16.2.0 in NumPy: base graph 7.2.2, lifting size 5.2.2, parity bits
by solving H·c = 0 (Gaussian elimination on the parity columns), bit selection 5.4.2.1, interleaver 5.4.2.2. Reads the tables of the
standard as the program ships them; prints the vectors of nr_code_blocks.json."""
import hashlib, json, pathlib
import numpy as np

DATA = pathlib.Path(__file__).parents[3] / "lib/numeric/coding/nr_ldpc/base_graphs.json"
TABLES = json.loads(DATA.read_text())

def message(k):
    i = np.arange(k, dtype=np.uint64)
    return ((i * i * 13 + i * 7 + 5) % 1009 % 2).astype(np.uint8)

def choose(k, n):
    return 2 if k <= 292 or (k <= 3824 and k / n <= 0.67) or k / n <= 0.25 else 1

def size(graph, k):
    columns = 22 if graph == 1 else 10 if k > 640 else 9 if k > 560 else 8 if k > 192 else 6
    return min(z for zs in TABLES["lifting_sizes"] for z in zs if columns * z >= k)

def matrix(graph, z):
    rows = TABLES[f"base_graph_{graph}"]
    information = 22 if graph == 1 else 10
    index = next(i for i, zs in enumerate(TABLES["lifting_sizes"]) if z in zs)
    h = np.zeros((len(rows) * z, (information + len(rows)) * z), np.uint8)
    for r, row in enumerate(rows):
        for column, *shifts in row:
            h[r * z:(r + 1) * z, column * z:(column + 1) * z] ^= np.roll(np.eye(z, dtype=np.uint8), shifts[index] % z, 1)
    return h, information * z

def solve(a, b):
    """x of a·x = b over GF(2), rows packed into bytes."""
    work, rank = np.packbits(np.column_stack([a, b]), axis=1), 0
    for column in range(a.shape[1]):
        ones = work[:, column >> 3] >> (7 - (column & 7)) & 1
        pivot = rank + np.flatnonzero(ones[rank:])[0]
        work[[rank, pivot]] = work[[pivot, rank]]
        ones[[rank, pivot]] = ones[[pivot, rank]]
        ones[rank] = 0
        work[ones == 1] ^= work[rank]
        rank += 1
    return np.unpackbits(work, axis=1)[:a.shape[1], a.shape[1]]

def encode(k, n, qm, graph, z):
    h, information = matrix(graph, z)
    bits = np.zeros(information, np.uint8)
    bits[:k] = message(k)
    core, first = 4 * z, h[:4 * z]
    parity = solve(first[:, information:information + core], first[:, :information] @ bits % 2)
    word = np.concatenate([bits, parity])
    # Each further check ends with its own parity bit.
    word = np.concatenate([word, h[core:, :information + core] @ word % 2])
    assert not (h.astype(np.int32) @ word % 2).any()
    buffer = np.concatenate([word[2 * z:k], word[information:]])
    return np.resize(buffer, n).reshape(qm, -1).T.ravel()

CASES = [(20, 60, 1, 0, 0), (100, 300, 1, 0, 0), (64, 128, 2, 0, 0), (500, 700, 1, 0, 0), (600, 1200, 4, 0, 0), (1024, 2048, 1, 0, 0),
         (1000, 1200, 6, 0, 0), (3824, 5712, 8, 0, 0), (1024, 2048, 1, 1, 0), (400, 3000, 1, 2, 52), (257, 900, 1, 1, 14),
         (4000, 6000, 1, 0, 0)]
words = []
for k, n, qm, graph, z in CASES:
    g = graph or choose(k, n)
    s = z or size(g, k)
    words.append({"message_bits": k, "coded_bits": n, "num_bits_per_symbol": qm, "base_graph": graph, "lifting_size": z,
                  "used": [g, s], "sha256": hashlib.sha256(encode(k, n, qm, g, s).tobytes()).hexdigest()})
print(json.dumps({"source": "make_nr_code_blocks.py, NumPy", "words": words}))
