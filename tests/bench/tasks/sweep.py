"""Points of an uncoded QPSK link of 1000 bits; each leaves its arrays, its metrics and their digests on the disk. Arguments: folder, points."""
import hashlib
import json
import os
import sys
import numpy as np

folder, points = sys.argv[1], int(sys.argv[2])
for point in range(points):
    snr_db = point / 10
    generator = np.random.default_rng(point)
    bits = generator.integers(0, 2, 1000, dtype=np.uint8)
    sent = ((1 - 2 * bits.astype(np.float32)) * np.float32(np.sqrt(0.5))).view(np.complex64)
    deviation = np.sqrt(10 ** (-snr_db / 10) / 2)
    received = (sent + deviation * (generator.standard_normal(500) + 1j * generator.standard_normal(500))).astype(np.complex64)
    decided = (received.view(np.float32) < 0).astype(np.uint8)
    place = os.path.join(folder, f"point_{point}")
    os.mkdir(place)
    digests = {}
    np.savez(os.path.join(place, "arrays.npz"), bits=bits, sent=sent, received=received, decided=decided)
    with open(os.path.join(place, "metrics.json"), "w") as file:
        json.dump({"snr_db": snr_db, "ber": float(np.mean(bits != decided))}, file)
    for name in ("arrays.npz", "metrics.json"):
        with open(os.path.join(place, name), "rb") as file:
            digests[name] = hashlib.sha256(file.read()).hexdigest()
            os.fsync(file.fileno())
    with open(os.path.join(place, "manifest.json"), "w") as file:
        json.dump(digests, file)
        file.flush()
        os.fsync(file.fileno())
