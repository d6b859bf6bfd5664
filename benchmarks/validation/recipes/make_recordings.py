"""Writes the SigMF recordings field_tones and field_chirp, and ../field_resampling.csv: powers behind scipy.signal.resample_poly.

Run: python3 make_recordings.py, with NumPy 1.24 and SciPy 1.10. Samples are ci16 at 1 MHz.
"""
import json
import pathlib

import numpy as np
import scipy.signal

here = pathlib.Path(__file__).parent
rate = 1_000_000


def write(name, samples):
    pairs = np.stack([samples.real, samples.imag], 1)
    data = np.round(pairs * 32768).astype("<i2")
    (here / f"{name}.sigmf-data").write_bytes(data.tobytes())
    meta = {"core:datatype": "ci16_le", "core:sample_rate": rate, "core:version": "1.2.0", "core:num_channels": 1}
    document = {"global": meta, "captures": [{"core:sample_start": 0}], "annotations": []}
    (here / f"{name}.sigmf-meta").write_text(json.dumps(document, indent=2) + "\n")
    return data[:, 0] / 32768 + 1j * data[:, 1] / 32768


# Five tones of amplitude 1/2, 2048 samples each.
tones = [62_500, 110_000, 125_000, 140_000, 200_000]
n = np.arange(2048)
written = write("field_tones", np.concatenate([np.exp(2j * np.pi * tone * n / rate) / 2 for tone in tones]))
# Eight sweeps over 200 kHz around 50 kHz, 1024 samples each.
sweep = 50_000 + 200_000 * ((np.arange(8192) % 1024 + 0.5) / 1024 - 0.5)
write("field_chirp", np.exp(2j * np.pi * np.cumsum(sweep) / rate) / 2)

rows = ["recording.first_sample,recording.target_sample_rate_hz,evaluation.segment_samples,metric,expected"]
for up, down in ((1, 4), (1, 5), (3, 4)):
    for k in range(len(tones)):
        signal = scipy.signal.resample_poly(written[2048 * k : 2048 * (k + 1)], up, down)
        window = scipy.signal.get_window("hann", 2048 * up // down)
        power = np.sum(np.abs(signal[: len(window)] * window) ** 2) / np.sum(window**2)
        rows.append(f"{2048 * k},{rate * up / down},{len(window)},spectrum.power_db,{10 * np.log10(power):.6g}")
(here / "../field_resampling.csv").write_text("\n".join(rows) + "\n")
