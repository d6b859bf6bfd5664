"""Trains an encoder and a decoder of precoder reports of 24 latents: 16 ports of two polarisations, 32 subcarriers of 360 kHz.

The channels are those of source.csi_dataset (export_csi.ts): CDL-A and CDL-C, azimuths turned by up to 60 degrees; CDL-B is held out. After
CsiNet the network works on the angular-delay domain, here the first 20 and the last 4 of 32 delays: a convolution and dense layers in the
encoder, dense layers and a residual block of convolutions in the decoder, beside linear maps that start from principal components. A report carries neither scale nor common phase: the encoder scales a channel
to mean power 1 and turns its largest coefficient to phase 0. Latents pass tanh and, in training, the quantiser of
channel.csi_feedback_link at 1 to 6 bits with a straight-through gradient.

Candidates are two trainings: by the squared error of the channel, as CsiNet, and by 1 - SGCS of the subcarriers. Rule: least 1 - SGCS on
validation channels, mean over 1, 2 and 4 bits.

    PYTHONPATH=<torch> python3 recipes/models/csi-feedback-24-v1/training/train.py
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
TX, SUBCARRIERS, LATENTS, HIDDEN = 16, 32, 24, 80
DELAYS = [*range(20), *range(28, 32)]
SIZE = 2 * TX * len(DELAYS)
STEPS, BATCH, LEARNING_RATE, EVERY = 5000, 64, 2e-3, 500
BITS = (1, 2, 3, 4, 6)
CANDIDATES = {"squared_error": {"loss": "squared_error", "seed": 41}, "sgcs": {"loss": "sgcs", "seed": 42}}


def populations():
    found = {}
    base = {"azimuth_range_deg": 60, "tx_antennas": TX, "ofdm_fft_size": SUBCARRIERS, "normalize": "none"}
    for split, seed, count in (("train", 1000, 2000), ("validation", 2000, 125)):
        for i, model in enumerate("AC"):
            for j, spread in enumerate((30, 100, 200, 300)):
                found[f"{split}_{model}{spread}"] = {**base, "sample_count": count, "cdl_model": model,
                                                     "delay_spread_ns": spread, "seed": seed + 4 * i + j}
    for j, (model, spread) in enumerate((("A", 100), ("C", 100), ("C", 300), ("B", 100), ("C", 600))):
        found[f"test CDL-{model}, {spread} ns"] = {**base, "sample_count": 1000, "cdl_model": model, "delay_spread_ns": spread,
                                                   "seed": 3000 + j}
    return found


def channels():
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "csi.npz")
        command = ["deno", "run", "-A", "-q", str(HERE / "export_csi.ts"), file, json.dumps(populations())]
        subprocess.run(command, check=True)
        with np.load(file) as arrays:
            return {name: real(normalised(arrays[name])) for name in arrays.files}


def normalised(h):
    return h / np.sqrt(np.mean(np.abs(h) ** 2, (1, 2), keepdims=True))


def real(h):
    """complex [row, tx, subcarrier] -> float32 [row, 2, tx, subcarrier]."""
    return np.stack([h.real, h.imag], 1).astype(np.float32)


def real_map(matrix):
    """The real matrix of a complex one, for row vectors of all real, then all imaginary parts."""
    return np.block([[matrix.real, matrix.imag], [-matrix.imag, matrix.real]]).astype(np.float32)


K = np.arange(SUBCARRIERS)
DELAY_MAP = real_map(np.exp(2j * np.pi * np.outer(K, DELAYS) / SUBCARRIERS) / np.sqrt(SUBCARRIERS))
HALF = np.arange(TX // 2)
ANGLE_MAP = real_map(np.kron(np.eye(2), np.exp(-2j * np.pi * np.outer(HALF, HALF) / (TX // 2)) / np.sqrt(TX // 2)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1)
        self.first, self.last = nn.Linear(SIZE, HIDDEN), nn.Linear(HIDDEN, LATENTS)
        self.direct = nn.Linear(SIZE, LATENTS)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, csi_ri):
        y = self.angular_delay(csi_ri)
        return torch.tanh(self.direct(y.flatten(1)) + self.last(torch.relu(self.first(torch.relu(self.conv(y)).flatten(1)))))

    def angular_delay(self, csi_ri):
        x = csi_ri / torch.sqrt(2 * csi_ri.square().mean((1, 2, 3), keepdim=True) + 1e-12)
        a = x.transpose(1, 2).flatten(2) @ torch.from_numpy(DELAY_MAP)  # [row, tx, 2 delay]
        a = a.reshape(-1, TX, 2, len(DELAYS)).permute(0, 3, 2, 1).flatten(2) @ torch.from_numpy(ANGLE_MAP)  # [row, delay, 2 angle]
        a = a.reshape(-1, len(DELAYS), 2, TX).permute(0, 2, 3, 1).flatten(2)  # [row, 2, angle delay]
        largest = a.square().sum(1).argmax(1, keepdim=True)  # [row, 1]
        c = torch.gather(a, 2, largest[:, None].expand(-1, 2, -1))  # [row, 2, 1]
        c = c / torch.sqrt(c.square().sum(1, keepdim=True) + 1e-12)
        re, im, cr, ci = a[:, 0:1], a[:, 1:2], c[:, 0:1], c[:, 1:2]
        a = torch.cat([re * cr + im * ci, im * cr - re * ci], 1)
        return a.reshape(-1, 2, TX, len(DELAYS))


class Refine(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Conv2d(2, 8, 3, padding=1), nn.Conv2d(8, 2, 3, padding=1)
        nn.init.zeros_(self.narrow.weight)
        nn.init.zeros_(self.narrow.bias)

    def forward(self, x):
        return x + self.narrow(torch.relu(self.wide(x)))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.direct = nn.Linear(LATENTS, SIZE)
        self.first, self.last = nn.Linear(LATENTS, HIDDEN), nn.Linear(HIDDEN, SIZE)
        self.refine = Refine()
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, code):
        a = (self.direct(code) + self.last(torch.relu(self.first(code)))).reshape(-1, 2, TX, len(DELAYS))
        a = self.refine(a)
        a = a.permute(0, 3, 1, 2).flatten(2) @ torch.from_numpy(ANGLE_MAP.T.copy())
        a = a.reshape(-1, len(DELAYS), 2, TX).permute(0, 3, 2, 1).flatten(2) @ torch.from_numpy(DELAY_MAP.T.copy())
        return a.reshape(-1, TX, 2, SUBCARRIERS).transpose(1, 2)


def to_onnx(half) -> bytes:
    encoder, delays = isinstance(half, Encoder), len(DELAYS)
    g = HalfGraph("csi_encoder" if encoder else "csi_decoder")

    def shape(x, form, order=None, then=None):
        x = g.node("Reshape", [x, g.integers("form_" + "_".join(map(str, form)).replace("-", "m"), form)])
        x = x if order is None else g.node("Transpose", [x], perm=order)
        return x if then is None else shape(x, then)

    if encoder:
        x = g.input("csi_ri", ["batch", 2, TX, SUBCARRIERS])
        power = g.node("ReduceMean", [g.node("Mul", [x, x])], axes=[1, 2, 3], keepdims=1)
        power = g.node("Add", [g.node("Mul", [power, g.constant("two", 2)]), g.constant("eps", 1e-12)])
        x = g.node("Div", [x, g.node("Sqrt", [power])])
        x = shape(g.node("Transpose", [x], perm=[0, 2, 1, 3]), [-1, TX, 2 * SUBCARRIERS])
        a = g.node("MatMul", [x, full(g, "delay_map", DELAY_MAP)])
        a = shape(a, [-1, TX, 2, delays], [0, 3, 2, 1], [-1, delays, 2 * TX])
        a = g.node("MatMul", [a, full(g, "angle_map", ANGLE_MAP)])
        a = shape(a, [-1, delays, 2, TX], [0, 2, 3, 1], [-1, 2, TX * delays])
        power = g.node("ReduceSum", [g.node("Mul", [a, a]), g.integers("axis_1", [1])], keepdims=1)  # [row, 1, angle delay]
        largest = g.node("ArgMax", [power], axis=2, keepdims=1)  # [row, 1, 1]
        c = g.node("GatherElements", [a, g.node("Concat", [largest, largest], axis=1)], axis=2)
        norm = g.node("ReduceSum", [g.node("Mul", [c, c]), "axis_1"], keepdims=1)
        c = g.node("Div", [c, g.node("Sqrt", [g.node("Add", [norm, "eps"])])])
        halves = g.integers("halves", [1, 1])
        names = [[f"{t}_{part}" for part in ("re", "im")] for t in "ac"]
        for tensor, outputs in zip((a, c), names):
            split(g, tensor, halves, outputs)
        mul = lambda x, y: g.node("Mul", [x, y])  # noqa: E731
        a = g.node("Concat", [g.node("Add", [mul("a_re", "c_re"), mul("a_im", "c_im")]),
                              g.node("Sub", [mul("a_im", "c_re"), mul("a_re", "c_im")])], axis=1)
        y = shape(a, [-1, 2, TX, delays])
        seen = g.node("Flatten", [g.node("Relu", [g.conv(y, half.conv, "conv")])], axis=1)
        y = g.node("Flatten", [y], axis=1)
        hidden = g.node("Relu", [g.linear(seen, half.first, "first")])
        g.node("Tanh", [g.node("Add", [g.linear(y, half.direct, "direct"), g.linear(hidden, half.last, "last")])], "feedback_code")
        g.output("feedback_code", ["batch", LATENTS])
        return g.bytes()
    x = g.input("feedback_code", ["batch", LATENTS])
    hidden = g.node("Relu", [g.linear(x, half.first, "first")])
    a = shape(g.node("Add", [g.linear(x, half.direct, "direct"), g.linear(hidden, half.last, "last")]), [-1, 2, TX, delays])
    refined = g.conv(g.node("Relu", [g.conv(a, half.refine.wide, "wide")]), half.refine.narrow, "narrow")
    a = g.node("Add", [a, refined])
    a = shape(g.node("Transpose", [a], perm=[0, 3, 1, 2]), [-1, delays, 2 * TX])
    a = g.node("MatMul", [a, full(g, "angle_map", ANGLE_MAP.T)])
    a = shape(a, [-1, delays, 2, TX], [0, 3, 2, 1], [-1, TX, 2 * delays])
    a = g.node("MatMul", [a, full(g, "delay_map", DELAY_MAP.T)])
    a = shape(a, [-1, TX, 2, SUBCARRIERS])
    g.node("Transpose", [a], "csi_hat_ri", perm=[0, 2, 1, 3])
    g.output("csi_hat_ri", ["batch", 2, TX, SUBCARRIERS])
    return g.bytes()


def full(g, name, value):
    """A constant that stays in single precision: half precision would make the transforms inexact."""
    return super(HalfGraph, g).constant(name, value)


def split(g, tensor, sizes, names):
    from onnx import helper
    g.nodes.append(helper.make_node("Split", [tensor, sizes], names, name=f"split_{names[0]}", axis=1))


def quantised(code, bits):
    """channel.csi_feedback_link with clip_value 1."""
    step = 2.0 / 2 ** bits
    return (torch.clamp(torch.floor((code + 1) / step), max=2 ** bits - 1) + 0.5) * step - 1


def sgcs(found, h):
    """Squared cosine of each subcarrier, [row, subcarrier], from [row, 2, tx, subcarrier]."""
    fr, fi, hr, hi = found[:, 0], found[:, 1], h[:, 0], h[:, 1]
    inner = (fr * hr + fi * hi).sum(1).square() + (fr * hi - fi * hr).sum(1).square()
    return inner / (found.square().sum((1, 2)) * h.square().sum((1, 2)) + 1e-9)


def score(h, bits, encoder, decoder):
    with torch.no_grad():
        return float(torch.cat([sgcs(decoder(quantised(encoder(x), bits)), x) for x in torch.from_numpy(h).split(500)]).mean())


def trained(name, configuration, train, objective, curve):
    torch.manual_seed(configuration["seed"])
    rng = np.random.default_rng(configuration["seed"])
    encoder, decoder = Encoder(), Decoder()
    with torch.no_grad():
        y = encoder.angular_delay(torch.from_numpy(train[rng.choice(len(train), 4000, replace=False)])).flatten(1).double().numpy()
    values, vectors = np.linalg.eigh(y.T @ y / len(y))
    basis, deviation = vectors[:, ::-1][:, :LATENTS].T, np.sqrt(values[::-1][:LATENTS])
    encoder.direct.weight.data = torch.from_numpy(basis / (2 * deviation[:, None])).float()
    decoder.direct.weight.data = torch.from_numpy(basis.T * (2 * deviation)).float()
    for half in (encoder, decoder):
        nn.init.zeros_(half.direct.bias)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.1)
    running = 0.0
    for step in range(1, STEPS + 1):
        x = torch.from_numpy(train[rng.integers(len(train), size=BATCH)])
        code = encoder(x)
        bits = torch.from_numpy(rng.choice(BITS, (BATCH, 1)).astype(np.float32))
        sent = quantised(code, bits).detach()
        found = decoder(code + (sent - code).detach())
        if configuration["loss"] == "sgcs":
            loss = 1 - sgcs(found, x).mean()
        else:
            # Squared error at the common phase that fits best, over the power of a channel.
            turn = torch.complex((found[:, 0] * x[:, 0] + found[:, 1] * x[:, 1]).sum((1, 2)),
                                 (found[:, 0] * x[:, 1] - found[:, 1] * x[:, 0]).sum((1, 2)))
            loss = ((found.square().sum((1, 2, 3)) + x.square().sum((1, 2, 3)) - 2 * turn.abs()) / (TX * SUBCARRIERS)).mean()
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
    validation = split["validation"]

    def objective(encoder, decoder):
        return 1 - float(np.mean([score(validation, bits, encoder, decoder) for bits in (1, 2, 4)]))

    curve, networks, objectives = [], {}, {}
    (HERE / "candidates").mkdir(exist_ok=True)
    for name, configuration in CANDIDATES.items():
        networks[name] = trained(name, configuration, split["train"], objective, curve)
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
            matrix.append({"population": name, "bits_per_latent": bits,
                           "sgcs": {candidate: score(h, bits, *pair) for candidate, pair in networks.items()}})
            print(matrix[-1], flush=True)
    x = 1.5 * found["test CDL-C, 100 ns"][:2]
    with torch.no_grad():
        code = encoder(torch.from_numpy(x))
        write_reference(HERE / "reference.encoder.json", {"csi_ri": x}, {"feedback_code": code})
        write_reference(HERE / "reference.decoder.json", {"feedback_code": code}, {"csi_hat_ri": decoder(code)})
    write_json(HERE / "evaluation.json", {
        "objective": "1 - SGCS on validation channels, mean over 1, 2 and 4 bits per latent", "selected": selected,
        "candidates": objectives, "population_sha256": digest(validation),
        "parameters": sum(p.numel() for half in (encoder, decoder) for p in half.parameters()), "matrix": matrix,
    })


if __name__ == "__main__":
    main()
