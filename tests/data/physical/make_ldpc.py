"""LDPC code words and decoded values, written from the standards. IEEE Std 802.11-2020, annex F: the message sums of all rows give the
first parity block, the double diagonal the others. ETSI EN 302 307-1, 5.3.2: accumulators. Decoders hold messages as matrices over the
checks. Reads the tables of the standards as the program ships them; prints the vectors of ldpc.json."""
import hashlib, json, pathlib
import numpy as np

DATA = pathlib.Path(__file__).parents[3] / "lib/numeric/data"
IEEE = json.loads((DATA / "ieee80211_ldpc.json").read_text())["codes"]
DVB = json.loads((DATA / "dvb_s2_ldpc.json").read_text())["codes"]

def message(k):
    i = np.arange(k, dtype=np.uint64)
    return ((i * i * 13 + i * 7 + 5) % 1009 % 2).astype(np.uint8)

def ieee(name, bits):
    rows = [[None if s == "-" else int(s) for s in row.split()] for row in IEEE[name]]
    z = int(name.split("_")[0]) // 24
    blocks = bits.reshape(-1, z)
    sums = []
    for row in rows:
        total = np.zeros(z, np.uint8)
        for block, shift in zip(blocks, row):
            if shift is not None:
                total ^= np.roll(block, -shift)
        sums.append(total)
    first = np.bitwise_xor.reduce(sums)
    parity = [first, sums[0] ^ np.roll(first, -1)]
    for i in range(1, len(rows) - 1):
        parity.append(parity[-1] ^ sums[i] ^ (first if i == len(rows) // 2 else 0))
    return np.concatenate([bits, *parity])

def dvb(name, bits):
    n = 64800 if name.startswith("normal") else 16200
    m = n - len(bits)
    parity = np.zeros(m, np.uint8)
    for i, bit in enumerate(bits):
        for address in DVB[name][i // 360].split():
            parity[(int(address, 36) + i % 360 * (m // 360)) % m] ^= bit
    return np.concatenate([bits, np.bitwise_xor.accumulate(parity)])

def checks(name):
    z, rows = int(name.split("_")[0]) // 24, IEEE[name]
    m = len(rows)
    h = np.zeros((m * z, 24 * z), bool)
    def put(i, j, shift):
        for t in range(z):
            h[i * z + t, j * z + (t + shift) % z] = True
    for i, row in enumerate(rows):
        for j, shift in enumerate(row.split()):
            if shift != "-":
                put(i, j, int(shift))
    for i, shift in ((0, 1), (m // 2, 0), (m - 1, 1)):
        put(i, 24 - m, shift)
    for j in range(1, m):
        put(j - 1, 24 - m + j, 0)
        put(j, 24 - m + j, 0)
    return h

def told(values, rule):
    """What a check tells each of its bits."""
    out = np.empty(len(values))
    for i in range(len(values)):
        others = np.delete(values, i)
        if rule == "sum_product":
            out[i] = 2 * np.arctanh(np.prod(np.tanh(others / 2)))
            continue
        least = np.abs(others).min()
        least = {"min_sum": least, "normalized_min_sum": 0.75 * least, "offset_min_sum": max(least - 0.5, 0)}[rule]
        out[i] = least * np.prod(np.where(others < 0, -1, 1))
    return out

def decode(h, llr, schedule, rule, iterations):
    messages, values = np.zeros(h.shape), llr.copy()
    for _ in range(iterations):
        before = values.copy()
        for i, row in enumerate(h):
            base = before if schedule == "flooding" else values
            own = base[row] - messages[i, row]
            new = told(own, rule)
            if schedule == "layered":
                values[row] = own + new
            messages[i, row] = new
        if schedule == "flooding":
            values = llr + messages.sum(0)
    return values

words = []
for prefix, codes, encode in (("ieee80211n_", IEEE, ieee), ("dvb_s2_", DVB, dvb)):
    for name, rows in codes.items():
        k = 360 * len(rows) if encode is dvb else int(name.split("_")[0]) // 24 * (24 - len(rows))
        word = encode(name, message(k))
        words.append({"code": prefix + name, "bits": len(word), "message_bits": k, "sha256": hashlib.sha256(word.tobytes()).hexdigest()})

rng = np.random.default_rng(11)
word = ieee("648_3_4", message(486))
llr = np.round(2 * (1 - 2.0 * word + 0.55 * rng.standard_normal(648)) / 0.55**2, 2)
decoded = []
for schedule in ("layered", "flooding"):
    for rule in ("min_sum", "normalized_min_sum", "offset_min_sum", "sum_product"):
        values = decode(checks("648_3_4"), llr, schedule, rule, 3)
        decoded.append({"schedule": schedule, "check_rule": rule, "wrong_bits": int(((values < 0) != (word == 1)).sum()),
                        "values": [round(float(v), 4) for v in values[:648:9]]})
print(json.dumps({"source": "make_ldpc.py, NumPy", "words": words, "code": "ieee80211n_648_3_4", "llr": llr.tolist(), "decoded": decoded}))
