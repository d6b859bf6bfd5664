"""Mean squared error of patches whose labels have bit errors, as an expectation. Writes ../token_labels.csv.

Run: python3 measure_token_labels.py, with NumPy 1.24, SciPy 1.10, Pillow 9.4.0. A label b becomes b' with the probability p^d (1 - p)^(8 - d) for
the Hamming distance d, and p is the bit error rate of BPSK, Q(sqrt(2 Es/N0)). The error of a patch x is the mean of |x - c(b')|^2
over all 256 labels. No noise is drawn.
"""
import base64
import json
import pathlib

import numpy as np
from PIL import Image
from scipy.special import erfc

here = pathlib.Path(__file__).parent
codebook = json.loads((here / "../../../ops/codec/_toy_codebook.json").read_text())["rgb"]["256"]
words = np.frombuffer(base64.b64decode(codebook), np.uint8).reshape(256, 192).astype(float)
order = np.arange(256)
labels = {"natural": order, "gray": order ^ order >> 1, "random": np.random.default_rng(1).permutation(256)}
weight = np.array([bin(i).count("1") for i in range(256)])

distances = []  # of every patch to every codeword
for path in sorted((here / "../../../recipes/photographs").glob("*.png")):
    pixels = np.asarray(Image.open(path).convert("RGB"), float)
    patches = pixels.reshape(32, 8, 32, 8, 3).transpose(0, 2, 1, 3, 4).reshape(1024, 192)
    distances.append((patches**2).sum(1)[:, None] - 2 * patches @ words.T + (words**2).sum(1))
distances = np.concatenate(distances)
assert len(distances) == 12 * 1024
sent = distances.argmin(1)

rows = ["snr_db,labels,metric,expected"]
for snr_db in (0, 3, 6):
    p = erfc(np.sqrt(10 ** (snr_db / 10))) / 2
    for name, label in labels.items():
        differing = weight[label[sent][:, None] ^ label[None, :]]
        error = (p**differing * (1 - p) ** (8 - differing) * distances).sum(1).mean() / 192
        rows.append(f"{snr_db:.1f},{name},quality.mse,{error:.6g}")
(here / "../token_labels.csv").write_text("\n".join(rows) + "\n")
