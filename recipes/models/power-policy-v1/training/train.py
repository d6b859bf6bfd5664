"""Trains a power policy that sees reported gains, budget and noise variance, but not how old or accurate the report is.

Channels: exponential profile of 6 taps over 16 to 64 subcarriers, mean gain 1. The true channel is a·h + sqrt(1 - a²)·w of the
reported h, with w of the same statistics and a between 0.5 and 1. A small network looks at each subcarrier, x_k = log(1 + P·g_k/N0),
beside mean and standard deviation of x and its ratio to the strongest one, and gives a score. The operation projects the scores on
the budget, Σ p_k = K·P, p_k ≥ 0; so does the training.

Loss: minus the sum rate log2(1 + p_k·g_k/N0) over the true gains. Rule: greatest mean rate on validation channels. Candidates are
two trainings that differ in the seed. Bound: water-filling over the true gains, which no transmitter knows for a < 1.

    PYTHONPATH=<torch> python3 recipes/models/power-policy-v1/training/train.py
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
from records import digest, write_json  # noqa: E402
from selection import fit, keep, select  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"validation": 102, "evaluation": 103}
STEPS, BATCH, LEARNING_RATE = 3000, 128, 4e-3
TAPS, SHRINKAGE = 6, 0.6
CANDIDATES = {"seed_101": {"hidden": 32, "seed": 101}, "seed_111": {"hidden": 32, "seed": 111}}
GRID = [(snr, a) for snr in (0.0, 10.0, 20.0) for a in (1.0, 0.9, 0.7, 0.5)]


def draw(rng, examples, subcarriers, snr_db, a):
    """Reported and true gains [example, subcarrier], noise variance [example, 1]; snr_db and a are numbers or [example, 1]."""
    power = np.exp(-np.arange(TAPS))
    taps = rng.standard_normal((2, examples, TAPS, 2)) @ np.array([1, 1j]) * np.sqrt(power / power.sum() / 2)
    reported, other = np.fft.fft(taps, subcarriers, axis=2)
    true = a * reported + np.sqrt(1 - np.asarray(a) ** 2) * other
    noise = np.broadcast_to(10 ** (-np.asarray(snr_db, float) / 10), (examples, 1))
    return np.abs(reported) ** 2, np.abs(true) ** 2, noise


class Policy(nn.Module):
    """budget P [batch, 1], gains [batch, subcarrier], N0 [batch, 1] -> scores [batch, subcarrier]."""

    def __init__(self, hidden):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)])

    def forward(self, average_power_budget, channel_gain, noise_variance):
        x = torch.log(1 + average_power_budget * channel_gain / noise_variance)
        mean = x.mean(1, keepdim=True)
        spread = torch.sqrt(((x - mean) ** 2).mean(1, keepdim=True) + 1e-6)
        ones = torch.ones_like(x)
        y = torch.stack([x, mean * ones, spread * ones, x / (x.amax(1, keepdim=True) + 1e-6)], 2)
        for layer in self.layers[:-1]:
            y = torch.relu(layer(y))
        return average_power_budget * self.layers[-1](y).squeeze(2)


def to_onnx(policy) -> bytes:
    g = Graph("power_policy")
    budget, gain, noise = (g.input(name, shape) for name, shape in (
        ("average_power_budget", ["batch", 1]), ("channel_gain", ["batch", "subcarrier"]), ("noise_variance", ["batch", 1])))
    snr = g.node("Div", [g.node("Mul", [budget, gain]), noise])
    x = g.node("Log", [g.node("Add", [snr, g.constant("one", 1)])])
    mean = g.node("ReduceMean", [x], axes=[1], keepdims=1)
    off = g.node("Sub", [x, mean])
    spread = g.node("ReduceMean", [g.node("Mul", [off, off])], axes=[1], keepdims=1)
    spread = g.node("Sqrt", [g.node("Add", [spread, g.constant("eps", 1e-6)])])
    ones = g.node("Add", [g.node("Mul", [x, g.constant("zero", 0)]), "one"])
    peak = g.node("Add", [g.node("ReduceMax", [x], axes=[1], keepdims=1), "eps"])
    last = g.integers("last", [2])
    parts = [x, g.node("Mul", [mean, ones]), g.node("Mul", [spread, ones]), g.node("Div", [x, peak])]
    y = g.node("Concat", [g.node("Unsqueeze", [part, last]) for part in parts], axis=2)
    for i, layer in enumerate(policy.layers):
        y = g.linear(y, layer, f"layers.{i}")
        if i + 1 < len(policy.layers):
            y = g.node("Relu", [y])
    g.node("Mul", [budget, g.node("Squeeze", [y, last])], "allocation_scores")
    g.output("allocation_scores", ["batch", "subcarrier"])
    return g.bytes()


def project(scores, total):
    """The nearest powers that are not negative and sum to `total`, row by row (Duchi et al., ICML 2008)."""
    ordered = scores.sort(1, descending=True).values
    sums = ordered.cumsum(1) - total
    count = torch.arange(1, scores.shape[1] + 1)
    kept = (ordered * count > sums).sum(1, keepdim=True)
    return torch.relu(scores - sums.gather(1, kept - 1) / kept)


def rates(powers, true, noise):
    return np.log2(1 + powers * true / noise).mean(1)


def water_filling(gains, noise):
    scores = torch.from_numpy(-noise / np.maximum(gains, 1e-12))
    return project(scores, gains.shape[1]).numpy()


def by_policy(policy, gains, noise):
    with torch.no_grad():
        budget = torch.ones(len(gains), 1)
        scores = policy(budget, torch.from_numpy(gains).float(), torch.from_numpy(np.array(noise)).float())
        return project(scores.double(), gains.shape[1]).numpy()


def mean_rate(policy, population):
    return float(np.mean([rates(by_policy(policy, reported, noise), true, noise).mean() for reported, true, noise in population]))


def main():
    rng = np.random.default_rng(SEEDS["validation"])
    population = [draw(rng, 1000, 32, *point) for point in GRID]
    models = {}

    def train(name, configuration, curve):
        torch.manual_seed(configuration["seed"])
        own = np.random.default_rng(configuration["seed"])

        def loss(policy):
            subcarriers = int(own.choice([16, 32, 64]))
            reported, true, noise = draw(own, BATCH, subcarriers, own.uniform(-5, 25, (BATCH, 1)), own.uniform(0.5, 1, (BATCH, 1)))
            reported, true, noise = (torch.from_numpy(np.array(v)).float() for v in (reported, true, noise))
            powers = project(policy(torch.ones(BATCH, 1), reported, noise), subcarriers)
            return -torch.log2(1 + powers * true / noise).mean()

        models[name] = fit(name, Policy(configuration["hidden"]), loss, lambda p: -mean_rate(p, population), curve,
                           steps=STEPS, rate=LEARNING_RATE, every=500)
        return models[name]

    chosen = select(HERE, "policy", CANDIDATES, train, lambda p: -mean_rate(p, population), to_onnx)
    (HERE / "candidates" / f"{chosen['selected']}.onnx").unlink()
    rng = np.random.default_rng(SEEDS["evaluation"])
    matrix = []
    for snr, a in GRID:
        reported, true, noise = draw(rng, 10000, 32, snr, a)
        shrunk = (1 - SHRINKAGE) * reported + SHRINKAGE * reported.mean(1, keepdims=True)
        methods = {"equal": np.ones_like(true), "observed_csi_water_filling": water_filling(reported, noise),
                   f"robust_csi_water_filling_{SHRINKAGE}": water_filling(shrunk, noise),
                   **{name: by_policy(model, reported, noise) for name, model in models.items()},
                   "true_csi_water_filling": water_filling(true, noise)}
        row = {"snr_db": snr, "correlation": a}
        for name, powers in methods.items():
            own = rates(powers, true, noise)
            row[name] = [float(own.mean()), float(1.959963984540054 * own.std(ddof=1) / np.sqrt(len(own)))]
        matrix.append(row)
        print({k: round(v[0], 4) if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    reported, _, noise = draw(np.random.default_rng(7), 4, 16, 10.0, 0.9)
    keep(HERE, chosen, objective="minus the mean rate in bit per subcarrier over the grid", output="allocation_scores",
         population_sha256=digest(*(np.array(v) for part in population for v in part)),
         inputs={"average_power_budget": np.ones((4, 1), np.float32), "channel_gain": reported.astype(np.float32),
                 "noise_variance": np.array(noise, np.float32)}, matrix=matrix)


if __name__ == "__main__":
    main()
