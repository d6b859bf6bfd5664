"""Trains a beam policy for noisy channels of clustered users: 8 antennas, source.beamforming_scenario with clustered_ula.

The channel is h = g·a(θ), g ~ CN(0, 1), half-wavelength array, θ around -40°, 0° or 35° with a standard deviation of 5°. In training the
policy sees h + n, n ~ CN(0, σ²) with σ² of -20 to 10 dB, or h itself in a quarter of the examples, and is judged by the true h:
|hᴴw|²/‖h‖². Network: two hidden layers over the channel scaled to norm 1, added to that channel.

Baselines: maximum ratio on the seen channel, and the DFT beam of its largest gain. Bound: 1, maximum ratio on the true channel.
Loss: minus the share of the gain. Rule: greatest mean share on validation channels. Candidates are two trainings that differ in the seed.

    PYTHONPATH=<torch> python3 recipes/models/clustered-beam-policy-v1/training/train.py
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parents[1] / "training"))
from onnx_graph import Graph  # noqa: E402
from records import digest  # noqa: E402
from selection import fit, keep, select  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"validation": 122, "evaluation": 123}
STEPS, BATCH, LEARNING_RATE = 3000, 256, 3e-3
TX = 8
CANDIDATES = {"seed_121": {"hidden": 64, "seed": 121}, "seed_131": {"hidden": 64, "seed": 131}}
GRID = [None, -20.0, -10.0, 0.0, 10.0]  # noise of the seen channel in dB; None: the true channel


def draw(rng, examples, noise_db):
    """True and seen channels, complex [example, tx]; noise_db is a number, [example, 1] or None."""
    centre = np.array([-40.0, 0.0, 35.0])[rng.integers(0, 3, examples)] + 5 * rng.standard_normal(examples)
    g = rng.standard_normal((examples, 2)) @ np.array([1, 1j]) / np.sqrt(2)
    h = g[:, None] * np.exp(1j * np.pi * np.arange(TX) * np.sin(np.deg2rad(centre))[:, None])
    n = rng.standard_normal((examples, TX, 2)) @ np.array([1, 1j]) / np.sqrt(2)
    return h, h if noise_db is None else h + 10 ** (np.asarray(noise_db) / 20) * n


def planes(h):
    return np.stack([h.real, h.imag], 2).astype(np.float32)


class Policy(nn.Module):
    """channels [batch, tx, 2] -> weights [batch, tx, 2]."""

    def __init__(self, hidden):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2 * TX, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2 * TX)])

    def forward(self, channels_ri):
        x = channels_ri.reshape(-1, 2 * TX)
        x = x / torch.sqrt((x * x).sum(1, keepdim=True) + 1e-12)
        y = torch.relu(self.layers[1](torch.relu(self.layers[0](x))))
        return (x + self.layers[2](y)).reshape(-1, TX, 2)


def to_onnx(policy) -> bytes:
    g = Graph("beam_policy")
    x = g.node("Reshape", [g.input("channels_ri", ["batch", TX, 2]), g.integers("flat", [-1, 2 * TX])])
    norm = g.node("ReduceSum", [g.node("Mul", [x, x]), g.integers("axis", [1])], keepdims=1)
    x = g.node("Div", [x, g.node("Sqrt", [g.node("Add", [norm, g.constant("eps", 1e-12)])])])
    y = g.node("Relu", [g.linear(x, policy.layers[0], "layers.0")])
    y = g.node("Relu", [g.linear(y, policy.layers[1], "layers.1")])
    y = g.node("Add", [x, g.linear(y, policy.layers[2], "layers.2")])
    g.node("Reshape", [y, g.integers("form", [-1, TX, 2])], "weights_ri")
    g.output("weights_ri", ["batch", TX, 2])
    return g.bytes()


def shares(w, h):
    """|hᴴw|²/(‖h‖²‖w‖²) of each example."""
    return np.abs((h.conj() * w).sum(1)) ** 2 / ((np.abs(h) ** 2).sum(1) * (np.abs(w) ** 2).sum(1))


def by_codebook(seen):
    beams = np.exp(2j * np.pi * np.outer(np.arange(TX), np.arange(TX)) / TX)
    return beams[:, np.abs(seen.conj() @ beams).argmax(1)].T


def by_policy(policy, seen):
    with torch.no_grad():
        w = policy(torch.from_numpy(planes(seen))).numpy()
    return w[..., 0] + 1j * w[..., 1]


def main():
    rng = np.random.default_rng(SEEDS["validation"])
    population = [draw(rng, 2000, noise) for noise in GRID]
    objective = lambda p: -float(np.mean([shares(by_policy(p, seen), h).mean() for h, seen in population]))  # noqa: E731
    models = {}

    def train(name, configuration, curve):
        torch.manual_seed(configuration["seed"])
        own = np.random.default_rng(configuration["seed"])

        def loss(policy):
            noise = own.uniform(-20, 10, (BATCH, 1))
            noise[own.random(BATCH) < 0.25] = -np.inf
            h, seen = (torch.from_numpy(planes(v)) for v in draw(own, BATCH, noise))
            w = policy(seen)
            real = (h * w).sum((1, 2))
            imaginary = (h[..., 0] * w[..., 1] - h[..., 1] * w[..., 0]).sum(1)
            return -((real ** 2 + imaginary ** 2) / ((h * h).sum((1, 2)) * (w * w).sum((1, 2)) + 1e-9)).mean()

        models[name] = fit(name, Policy(configuration["hidden"]), loss, objective, curve, steps=STEPS, rate=LEARNING_RATE, every=500)
        return models[name]

    chosen = select(HERE, "beam_policy", CANDIDATES, train, objective, to_onnx)
    (HERE / "candidates" / f"{chosen['selected']}.onnx").unlink()
    rng = np.random.default_rng(SEEDS["evaluation"])
    matrix = []
    for noise in GRID:
        h, seen = draw(rng, 20000, noise)
        methods = {"maximum_ratio": seen, "dft_codebook": by_codebook(seen),
                   **{name: by_policy(model, seen) for name, model in models.items()}}
        row = {"noise_db": noise}
        for name, w in methods.items():
            own = shares(w, h)
            row[name] = [float(own.mean()), float(1.959963984540054 * own.std(ddof=1) / np.sqrt(len(own)))]
        matrix.append(row)
        print({k: round(v[0], 4) if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    _, seen = draw(np.random.default_rng(7), 4, -10.0)
    keep(HERE, chosen, objective="minus the mean share of the largest beam gain over the grid", output="weights_ri",
         population_sha256=digest(*(planes(v) for pair in population for v in pair)), inputs={"channels_ri": planes(seen)},
         matrix=matrix)


if __name__ == "__main__":
    main()
