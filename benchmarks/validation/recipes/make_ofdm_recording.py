"""Writes the recording field_ofdm, and field_ofdm_bits.json, the bits that it sends.

Run: python3 make_ofdm_recording.py, with NumPy 1.24. Samples are ci8 at 1.92 MHz, twice the rate of 64 subcarriers of 15 kHz. Each of three
parts sends the same QPSK symbols, Gray as in TS 38.211, on 48 subcarriers around 210 kHz, in white noise of its own Eb/N0; it ends
with an OFDM symbol that no receiver reads, so that filters have samples behind the last.
"""
import hashlib
import json
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(44)
RATE, FFT, ACTIVE, PREFIX, OVER, ROWS, CARRIER, SNRS = 1_920_000, 64, 48, 8, 2, 121, 210_000, (0, 2, 4)

bits = rng.integers(2, size=(ROWS, ACTIVE, 2))
symbols = (1 - 2 * bits) @ [1, 1j] / np.sqrt(2)
# Element i of the active ones has the frequency (i - 24) * 15 kHz.
bins = np.zeros((ROWS, FFT * OVER), complex)
bins[:, (np.arange(ACTIVE) - ACTIVE // 2) % (FFT * OVER)] = symbols
bodies = np.fft.ifft(bins) * FFT * OVER / np.sqrt(FFT)
sent = np.concatenate([bodies[:, -PREFIX * OVER :], bodies], 1).ravel()
# An element has the energy 1 and the noise s / 2 for samples of noise variance s, so that Eb/N0 = 1 / s.
parts = [sent + rng.normal(size=(len(sent), 2)) @ [1, 1j] * np.sqrt(10 ** (-snr / 10) / 2) for snr in SNRS]
samples = np.concatenate(parts)
samples *= 0.2 * np.exp(2j * np.pi * CARRIER * np.arange(len(samples)) / RATE)

data = np.clip(np.round(np.stack([samples.real, samples.imag], 1) * 128), -128, 127).astype("i1")
meta = {"core:datatype": "ci8", "core:sample_rate": RATE, "core:version": "1.2.0"}
captures = [{"core:sample_start": 0, "core:frequency": 2_400_000_000}]
labels = [
    {"core:sample_start": at * len(sent), "core:sample_count": len(sent), "core:label": f"QPSK {snr} dB"}
    for at, snr in enumerate(SNRS)
]
(here / "field_ofdm.sigmf-data").write_bytes(data.tobytes())
document = {"global": meta, "captures": captures, "annotations": labels}
(here / "field_ofdm.sigmf-meta").write_text(json.dumps(document, indent=1) + "\n")

payload = np.packbits(bits[: ROWS - 1].ravel().astype("u1")).tobytes()
item = {
    "id": "sent",
    "bit_count": (ROWS - 1) * ACTIVE * 2,
    "bits_hex": payload.hex(),
    "sha256": hashlib.sha256(payload).hexdigest(),
}
manifest = {"schema_version": 1, "kind": "svc.bit_payload_manifest", "items": [item], "selections": {"all": ["sent"]}}
(here / "field_ofdm_bits.json").write_text(json.dumps(manifest, indent=1) + "\n")
print(len(sent), (ROWS - 1) * ACTIVE * 2)
