"""Trains a policy that shares the power of an OFDM symbol between a receiver and an echo.

`draw` is source.isac_ofdm_scenario with its order of draws (training/population.json, which a test compares). The network maps
the features of the subcarriers, |g_c|^2/N0, |g_s|^2/N0, sensing weight w and mean power, to a score of each; it has the same
weights for all subcarriers and their mean and maximum as context, so it takes any number of them. The operation projects the
scores on the budget; so does the training.

Loss: minus the utility (1-w)·R/R_max + w·S/S_max, with the formulas of lib/numeric/antenna/isac.ts; no optimal powers are used.
Rule: least mean loss of utility to the optimum on validation examples. Candidates are two trainings that differ in the seed.
Bound: the concave maximum, which the operation's scalarized_reference finds exactly.

    PYTHONPATH=<torch> python3 recipes/models/isac-power-policy-v1/training/train.py
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
from simplex import project  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"validation": 162, "evaluation": 163, "population": 164}
STEPS, BATCH, LEARNING_RATE = 8000, 256, 3e-3
SNR_RANGE_DB, SIZES = (-5.0, 25.0), (8, 12, 16, 24, 32)
CANDIDATES = {"seed_161": {"hidden": 48, "seed": 161}, "seed_171": {"hidden": 48, "seed": 171}}
GRID = [(12, snr, w) for snr in (0.0, 10.0, 20.0) for w in (0.2, 0.4, 0.6, 0.8)]
UNSEEN = [(48, 10.0, 0.4), (12, 35.0, 0.4), (12, -15.0, 0.4), (12, 10.0, 0.0), (12, 10.0, 1.0)]
Z = 1.959963984540054


def draw(rng, examples, subcarriers, snr_db, weight):
    """Features float32 [example, subcarrier, 4] for a total power of 1; snr_db and weight are numbers or [example, 1]."""
    shape = (examples, subcarriers)
    gains = [(rng.standard_normal((2, *shape)) ** 2).sum(0) / 2 for _ in range(2)]
    noise = 10 ** (-np.asarray(snr_db, float) / 10) / subcarriers
    rows = [*(g / noise for g in gains), np.broadcast_to(weight, shape), np.full(shape, 1 / subcarriers)]
    return np.stack(rows, 2).astype(np.float32)


class Policy(nn.Module):
    """Features [batch, subcarrier, 4] -> scores [batch, subcarrier]."""

    def __init__(self, hidden):
        super().__init__()
        self.own = nn.ModuleList([nn.Linear(5, hidden), nn.Linear(hidden, hidden)])
        self.joint = nn.ModuleList([nn.Linear(3 * hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)])

    def forward(self, features):
        rate, echo, weight, power = (features[:, :, k] for k in range(4))
        snr, echo = rate * power, echo * power
        y = torch.stack([torch.log(1 + snr), 1 / (1 + snr), torch.log(1 + echo),
                         echo / (echo.amax(1, keepdim=True) + 1e-9), weight], 2)
        for layer in self.own:
            y = torch.relu(layer(y))
        y = torch.cat([y, y.mean(1, keepdim=True).expand_as(y), y.amax(1, keepdim=True).expand_as(y)], 2)
        for layer in self.joint[:-1]:
            y = torch.relu(layer(y))
        return power * self.joint[-1](y).squeeze(2)


def to_onnx(policy) -> bytes:
    """features [batch, subcarrier, 4] -> power [batch, subcarrier]"""
    g = Graph("isac_power_policy")
    op, x = g.node, g.input("features", ["batch", "subcarrier", 4])
    rate, echo, weight, power = (op("Gather", [x, g.index(f"feature.{k}", k)], axis=2) for k in range(4))
    snr, echo = op("Mul", [rate, power]), op("Mul", [echo, power])
    one, last = g.constant("one", 1), g.integers("last", [2])
    peak = op("Add", [op("ReduceMax", [echo], axes=[1], keepdims=1), g.constant("tiny", 1e-9)])
    more = op("Add", [snr, one])
    parts = [op("Log", [more]), op("Div", [one, more]), op("Log", [op("Add", [echo, one])]), op("Div", [echo, peak]), weight]
    y = op("Concat", [op("Unsqueeze", [part, last]) for part in parts], axis=2)
    for i, layer in enumerate(policy.own):
        y = op("Relu", [g.linear(y, layer, f"own.{i}")])
    zeros = op("Mul", [y, g.constant("zero", 0)])
    pooled = [op("Add", [op(kind, [y], axes=[1], keepdims=1), zeros]) for kind in ("ReduceMean", "ReduceMax")]
    y = op("Concat", [y, *pooled], axis=2)
    for i, layer in enumerate(policy.joint):
        y = g.linear(y, layer, f"joint.{i}")
        if i + 1 < len(policy.joint):
            y = op("Relu", [y])
    op("Mul", [power, op("Squeeze", [y, last])], "power")
    g.output("power", ["batch", "subcarrier"])
    return g.bytes()


def rate_of(power, rate):
    return torch.log1p(rate * power).mean(1) / np.log(2)


def water_filling(features):
    """The powers of R_max for a total power of 1."""
    rate = features[:, :, 0].double().clamp(min=1e-12)
    return project(-1 / rate, torch.ones(len(rate), 1, dtype=rate.dtype))


class Utility:
    """U of examples, and its limits R_max and S_max."""

    def __init__(self, features):
        features = torch.from_numpy(features)
        self.features, self.filled = features, water_filling(features)
        self.rate, self.echo, self.weight = (features[:, :, k].double() for k in range(3))
        self.most_rate, self.most_echo = rate_of(self.filled, self.rate), self.echo.amax(1)

    def at(self, power):
        power, weight = power.double(), self.weight[:, 0]
        return (1 - weight) * rate_of(power, self.rate) / self.most_rate + weight * (self.echo * power).sum(1) / self.most_echo

    def by(self, policy):
        return project(policy(self.features).double(), torch.ones(len(self.features), 1, dtype=torch.double))

    def optimum(self):
        """Powers of the largest U, by bisection of the price (scalarizedAllocation of isac.ts; w < 1)."""
        weight, count = self.weight[:, :1], self.rate.shape[1]
        alpha, beta = (1 - weight) / self.most_rate[:, None] / (np.log(2) * count), weight / self.most_echo[:, None]
        behind = beta * (self.most_echo[:, None] - self.echo)
        low, high = torch.full_like(weight, 1e-15), alpha * self.rate.amax(1, keepdim=True)
        power = lambda price: torch.relu(alpha / (price + behind) - 1 / self.rate.clamp(min=1e-12))  # noqa: E731
        for _ in range(200):
            middle = (low + high) / 2
            over = power(middle).sum(1, keepdim=True) > 1
            low, high = torch.where(over, middle, low), torch.where(over, high, middle)
        return project(power(high), torch.ones_like(weight))


def strongest_echo(utility):
    return nn.functional.one_hot(utility.echo.argmax(1), utility.echo.shape[1]).double()


def loss_on(population):
    def objective(policy):
        with torch.no_grad():
            return float(np.mean([(best - utility.at(utility.by(policy))).mean() for utility, best in population]))
    return objective


def evaluate(models, examples=10000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for point in GRID + UNSEEN:
        utility = Utility(draw(rng, examples, *point))
        with torch.no_grad():
            methods = {"equal_power": torch.full_like(utility.rate, 1 / point[0]), "communications_water_filling": utility.filled,
                       **{name: utility.by(model) for name, model in models.items()},
                       "scalarized_reference": strongest_echo(utility) if point[2] == 1 else utility.optimum()}
        row = dict(zip(("subcarriers", "snr_db", "sensing_weight"), point))
        best = utility.at(methods["scalarized_reference"]).numpy()
        for name, power in methods.items():
            own = utility.at(power).numpy()
            row[name] = [float(own.mean()), float(Z * own.std(ddof=1) / np.sqrt(examples))]
            if name in models:
                behind = best - own
                row[f"{name}_below_optimum"] = [float(behind.mean()), float(Z * behind.std(ddof=1) / np.sqrt(examples))]
        rows.append(row)
        print({k: round(v[0], 5) if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    return rows


def main():
    rng = np.random.default_rng(SEEDS["validation"])
    drawn = [draw(rng, 1000, *point) for point in GRID]
    population = [(utility, utility.at(utility.optimum())) for utility in map(Utility, drawn)]
    objective, models = loss_on(population), {}

    def train(name, configuration, curve):
        torch.manual_seed(configuration["seed"])
        own = np.random.default_rng(configuration["seed"])

        def loss(policy):
            utility = Utility(draw(own, BATCH, int(own.choice(SIZES)), own.uniform(*SNR_RANGE_DB, (BATCH, 1)),
                                   own.uniform(0, 1, (BATCH, 1))))
            return -utility.at(utility.by(policy)).mean()

        models[name] = fit(name, Policy(configuration["hidden"]), loss, objective, curve, steps=STEPS, rate=LEARNING_RATE,
                           every=1000)
        return models[name]

    chosen = select(HERE, "allocator", CANDIDATES, train, objective, to_onnx)
    (HERE / "candidates" / f"{chosen['selected']}.onnx").unlink()
    keep(HERE, chosen, objective="mean loss of utility to the optimum over the grid", population_sha256=digest(*drawn),
         inputs={"features": draw(np.random.default_rng(7), 4, 12, 10.0, 0.4)}, output="power", matrix=evaluate(models))
    own = draw(np.random.default_rng(SEEDS["population"]), 2, 12, 10.0, 0.4)
    write_json(HERE / "population.json", {"seed": SEEDS["population"], "subcarriers": 12, "snr_db": 10.0,
                                          "sensing_weight": 0.4, "features": own.ravel().tolist()})


if __name__ == "__main__":
    main()
