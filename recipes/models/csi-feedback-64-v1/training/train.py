"""Trains an encoder and a decoder of channel reports of 64 latents: 8 antennas, 32 subcarriers of 30 kHz.

The channels are those of wireless.miso_ofdm_csi (export_csi.ts). The encoder scales each row to mean power 1, since no report
carries its scale. Encoder: a linear map from the principal components of the training channels plus a hidden layer; decoder alike. In
training the latents are clipped to [-1, 1] and quantised to 3 to 8 bits, with a straight-through gradient, as
channel.csi_feedback_link does at its defaults.

Baselines with the same 64 latents and bits: truncated_angular_delay of the operation (computed here), and the principal
components alone, each scaled to 3 standard deviations. Candidates are two trainings that differ in the seed. Loss: squared error
over power. Rule: least NMSE in dB on validation channels, mean over 4 bits and no quantisation.

    PYTHONPATH=<torch> python3 recipes/models/csi-feedback-64-v1/training/train.py
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
from onnx_graph import HalfGraph, halve  # noqa: E402
from records import digest, write_components, write_curve, write_json, write_reference  # noqa: E402

torch.set_num_threads(1)
TX, SUBCARRIERS, LATENTS = 8, 32, 64
SIZE = 2 * TX * SUBCARRIERS
STEPS, BATCH, LEARNING_RATE, EVERY = 3000, 128, 1e-3, 500
BITS = (2, 3, 4, 6, 8, None)
CANDIDATES = {"seed_81": {"hidden": 80, "seed": 81}, "seed_91": {"hidden": 80, "seed": 91}}


def populations():
    """Training and validation vary profile, delay spread and correlation; the test populations are fixed."""
    found = {}
    for split, seed, count in (("train", 1000, 500), ("validation", 2000, 40)):
        for i, tdl in enumerate("ABC"):
            for j, spread in enumerate((50, 100, 200)):
                for k, correlation in enumerate((0.5, 0.7, 0.9)):
                    found[f"{split}_{i}{j}{k}"] = {"sample_count": count, "tdl_model": tdl, "delay_spread_ns": spread,
                                                   "tx_correlation_coefficient": correlation, "seed": seed + 9 * i + 3 * j + k}
    found["test default"] = {"sample_count": 2000, "seed": 3000}
    found["test TDL-C, 200 ns"] = {"sample_count": 2000, "tdl_model": "C", "delay_spread_ns": 200, "seed": 3001}
    found["test TDL-C, 400 ns"] = {"sample_count": 2000, "tdl_model": "C", "delay_spread_ns": 400, "seed": 3002}
    found["test correlation 0"] = {"sample_count": 2000, "tx_correlation_coefficient": 0, "seed": 3003}
    return found


def channels():
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "csi.npz")
        command = ["deno", "run", "-A", "-q", str(HERE / "export_csi.ts"), file, json.dumps(populations())]
        subprocess.run(command, check=True)
        with np.load(file) as arrays:
            return {name: normalised(arrays[name].reshape(-1, TX, SUBCARRIERS)) for name in arrays.files}


def normalised(h):
    return h / np.sqrt(np.mean(np.abs(h) ** 2, (1, 2), keepdims=True))


def real(h):
    """complex [row, tx, subcarrier] -> float32 [row, 2, tx, subcarrier]."""
    return np.stack([h.real, h.imag], 1).astype(np.float32)


class Encoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.linear = nn.Linear(SIZE, LATENTS)
        self.first, self.last = nn.Linear(SIZE, hidden), nn.Linear(hidden, LATENTS)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, csi_ri):
        x = csi_ri.flatten(1)
        x = x / torch.sqrt(2 * (x * x).mean(1, keepdim=True) + 1e-12)
        return self.linear(x) + self.last(torch.relu(self.first(x)))


class Decoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.linear = nn.Linear(LATENTS, SIZE)
        self.first, self.last = nn.Linear(LATENTS, hidden), nn.Linear(hidden, SIZE)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, code):
        return (self.linear(code) + self.last(torch.relu(self.first(code)))).reshape(-1, 2, TX, SUBCARRIERS)


def to_onnx(half) -> bytes:
    encoder = isinstance(half, Encoder)
    g = HalfGraph("csi_encoder" if encoder else "csi_decoder")
    if encoder:
        x = g.node("Flatten", [g.input("csi_ri", ["batch", 2, TX, SUBCARRIERS])], axis=1)
        power = g.node("ReduceMean", [g.node("Mul", [x, x])], axes=[1], keepdims=1)
        power = g.node("Add", [g.node("Mul", [power, g.constant("two", 2)]), g.constant("eps", 1e-12)])
        x = g.node("Div", [x, g.node("Sqrt", [power])])
    else:
        x = g.input("feedback_code", ["batch", LATENTS])
    hidden = g.node("Relu", [g.linear(x, half.first, "first")])
    parts = [g.linear(x, half.linear, "linear"), g.linear(hidden, half.last, "last")]
    if encoder:
        g.node("Add", parts, "feedback_code")
        g.output("feedback_code", ["batch", LATENTS])
    else:
        g.node("Reshape", [g.node("Add", parts), g.integers("form", [-1, 2, TX, SUBCARRIERS])], "csi_hat_ri")
        g.output("csi_hat_ri", ["batch", 2, TX, SUBCARRIERS])
    return g.bytes()


def quantised(code, bits):
    """channel.csi_feedback_link with clip_value 1; None is ideal_noiseless."""
    if bits is None:
        return code
    step = 2.0 / 2 ** bits
    clipped = np.clip(code, -1, 1)
    return (np.minimum(np.floor((clipped + 1) / step), 2 ** bits - 1) + 0.5) * step - 1


def nmse_db(found, h):
    """Rows scaled to mean power 1 on both sides, as metrics.csi_feedback does."""
    return float(10 * np.log10(np.sum(np.abs(normalised(found) - h) ** 2) / np.sum(np.abs(h) ** 2)))


def by_truncation(h, bits):
    a = np.fft.fft(np.fft.ifft(h, axis=2), axis=1).transpose(0, 2, 1).reshape(len(h), -1)  # [row, delay · angle]
    kept = a[:, :LATENTS // 2]
    kept = kept / np.abs(kept).max(1, keepdims=True)
    sent = quantised(kept.real, bits) + 1j * quantised(kept.imag, bits)
    a = np.zeros_like(a)
    a[:, :LATENTS // 2] = sent
    return np.fft.fft(np.fft.ifft(a.reshape(-1, SUBCARRIERS, TX).transpose(0, 2, 1), axis=1), axis=2)


def principal(h):
    """Rows of the LATENTS largest principal components of real vectors, and their standard deviations."""
    x = real(h).reshape(len(h), SIZE).astype(np.float64)
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    return vectors[:, ::-1][:, :LATENTS].T, np.sqrt(values[::-1][:LATENTS])


def by_components(h, bits, basis, deviation):
    code = real(h).reshape(len(h), SIZE) @ basis.T / (3 * deviation)
    return complex_of((quantised(code, bits) * (3 * deviation)) @ basis)


def complex_of(x):
    x = x.reshape(-1, 2, TX, SUBCARRIERS)
    return x[:, 0] + 1j * x[:, 1]


def by_network(h, bits, encoder, decoder):
    with torch.no_grad():
        code = encoder(torch.from_numpy(real(h))).numpy()
        return complex_of(decoder(torch.from_numpy(quantised(code, bits).astype(np.float32))).numpy())


def trained(name, configuration, train, basis, deviation, objective, curve):
    torch.manual_seed(configuration["seed"])
    rng = np.random.default_rng(configuration["seed"])
    encoder, decoder = Encoder(configuration["hidden"]), Decoder(configuration["hidden"])
    encoder.linear.weight.data = torch.from_numpy(basis / (3 * deviation[:, None])).float()
    decoder.linear.weight.data = torch.from_numpy(basis.T * (3 * deviation)).float()
    for half in (encoder, decoder):
        nn.init.zeros_(half.linear.bias)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.1)
    running = 0.0
    for step in range(1, STEPS + 1):
        x = torch.from_numpy(train[rng.integers(len(train), size=BATCH)])
        code = encoder(x)
        bits = torch.from_numpy(rng.integers(3, 9, (BATCH, 1)).astype(np.float32))
        width = 2.0 / 2 ** bits
        clipped = code.clamp(-1, 1)
        sent = ((torch.minimum(torch.floor((clipped + 1) / width), 2 ** bits - 1) + 0.5) * width - 1).detach()
        # The gradient of a clipped latent pulls it back into the range.
        loss = (decoder(code + (sent - code).detach()) - x).square().mean() * 2 + (code - clipped).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % EVERY == 0:
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / EVERY:.6f}",
                          "validation_objective": f"{objective(encoder, decoder):.6f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return halve(encoder), halve(decoder)


def main():
    found = channels()
    split = {name: np.concatenate([h for key, h in found.items() if key.startswith(name)]) for name in ("train", "validation")}
    basis, deviation = principal(split["train"])
    train, validation = real(split["train"]), split["validation"]

    def objective(encoder, decoder):
        return float(np.mean([nmse_db(by_network(validation, bits, encoder, decoder), validation) for bits in (4, None)]))

    curve, networks, objectives = [], {}, {}
    (HERE / "candidates").mkdir(exist_ok=True)
    for name, configuration in CANDIDATES.items():
        networks[name] = trained(name, configuration, train, basis, deviation, objective, curve)
        objectives[name] = objective(*networks[name])
        write_json(HERE / "candidates" / f"{name}.json", {"candidate": name, "configuration": configuration})
    selected = min(sorted(objectives), key=objectives.get)
    encoder, decoder = networks[selected]
    for name in set(networks) - {selected}:
        roles = zip(("csi_feedback_encoder", "csi_feedback_decoder"), map(to_onnx, networks[name]))
        write_components(HERE / "candidates" / f"{name}.components.json", dict(roles))
    (HERE.parent / "encoder.onnx").write_bytes(to_onnx(encoder))
    (HERE.parent / "decoder.onnx").write_bytes(to_onnx(decoder))
    write_curve(HERE / "loss_curve.csv", curve)

    matrix = []
    for name, h in found.items():
        if not name.startswith("test"):
            continue
        for bits in BITS:
            row = {"population": name, "bits_per_latent": bits, "nmse_db": {
                "truncated_angular_delay": nmse_db(by_truncation(h, bits), h),
                "principal_components": nmse_db(by_components(h, bits, basis, deviation), h),
                **{candidate: nmse_db(by_network(h, bits, *pair), h) for candidate, pair in networks.items()}}}
            matrix.append(row)
            print(name, bits, {k: round(v, 2) for k, v in row["nmse_db"].items()}, flush=True)
    x = real(1.5 * found["test default"][:2])
    with torch.no_grad():
        code = encoder(torch.from_numpy(x))
        write_reference(HERE / "reference.encoder.json", {"csi_ri": x}, {"feedback_code": code})
        write_reference(HERE / "reference.decoder.json", {"feedback_code": code}, {"csi_hat_ri": decoder(code)})
    write_json(HERE / "evaluation.json", {
        "objective": "NMSE in dB on validation channels, mean over 4 bits per latent and no quantisation", "selected": selected,
        "candidates": objectives, "population_sha256": digest(validation),
        "parameters": sum(p.numel() for half in (encoder, decoder) for p in half.parameters()), "matrix": matrix,
    })


if __name__ == "__main__":
    main()
