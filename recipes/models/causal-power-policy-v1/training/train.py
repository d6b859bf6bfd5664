"""Trains a power policy that sees four noisy reports of a moving channel, the mean power and N0.

`draw` is wireless.ofdm_channel_state and wireless.ofdm_delayed_csi with their order of draws (training/population.json, which a
test compares): TDL channels whose taps vary as sums of sinusoids, four reports with an error, use from five OFDM symbols after
the last report on for 24 OFDM symbols, of which every third is scored. The network receives neither the speed, the delay
spread nor the accuracy of the reports.

Network: eight linear filters over the four reports and nine neighbouring subcarriers, edges repeated, the same for real and
imaginary part, so that a common phase does not matter. Each subcarrier then has eight values log(1 + P|g|^2/N0); with their
means over the subcarriers, the deviation of the first and the correlation of reports one to three symbols apart, two hidden
layers give its score. The operation projects the scores on the budget; so does the training.

Loss: minus the mean rate log2(1 + p·|h|^2/N0) over the later channel. Rule: greatest mean rate on validation channels.
Candidates are two trainings that differ in the seed. Bound: water-filling over the later channel itself, in each OFDM symbol.

    PYTHONPATH=<torch> python3 recipes/models/causal-power-policy-v1/training/train.py
"""

import json
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
SEEDS = {"validation": 182, "evaluation": 183, "population": 184}
STEPS, BATCH, LEARNING_RATE = 3000, 64, 4e-3
HISTORY, DELAY, USED = 4, 5, 24
SCORED = HISTORY - 1 + DELAY + np.arange(0, USED, 3)
SYMBOL_S, SPACING_HZ, CARRIER_HZ, SINUSOIDS = 1e-3 / 14, 15e3, 3.5e9, 20
FILTERS, TAPS = 8, 9
CANDIDATES = {"seed_181": {"hidden": 32, "seed": 181}, "seed_191": {"hidden": 32, "seed": 191}}
# SNR in dB, speed in km/h, accuracy of a report in dB; TDL-C of 300 ns, 64 subcarriers.
GRID = [(snr, *scene) for snr in (0.0, 10.0) for scene in ((30.0, 20.0), (3.0, 10.0), (30.0, 0.0), (120.0, 20.0), (250.0, 10.0))]
# Of other profiles and sizes: model, spread in ns, subcarriers.
UNSEEN = [((0.0, 30.0, 20.0), "C", 2000.0, 64), ((0.0, 30.0, 20.0), "A", 100.0, 256), ((20.0, 30.0, 20.0), "C", 300.0, 64)]
SHRINKAGE, CONFIDENCE, BOX = 0.6, 0.4, (0.1, 1.9)
Z = 1.959963984540054
TABLES = json.loads((HERE.parents[3] / "lib/numeric/data/tdl_models.json").read_text())["models"]


def draw(rng, grids, subcarriers, snr_db, speed_kmh, accuracy_db, model="C", spread_ns=300.0, errors=None):
    """Reports [grid, 4, subcarrier] and later channel [grid, 8, subcarrier], complex, N0 [grid, 1] for a mean power of 1; snr_db,
    speed and accuracy are numbers or [grid, 1]. The errors are of `errors`, or of `rng` as the rest."""
    delays, powers = np.array(TABLES[model]["delays"]) * spread_ns * 1e-9, 10 ** (np.array(TABLES[model]["powers_db"]) / 10)
    shape = (grids, len(delays), SINUSOIDS)
    angles = 2 * np.pi * (np.arange(SINUSOIDS) + rng.random(shape)) / SINUSOIDS
    phases = 2 * np.pi * rng.random(shape)
    doppler = np.broadcast_to(np.asarray(speed_kmh, float) / 3.6 * CARRIER_HZ / 299792458, (grids, 1))
    turn = 2 * np.pi * SYMBOL_S * doppler[:, :, None] * np.cos(angles)
    times = np.concatenate([np.arange(HISTORY), SCORED])
    waves = np.exp(1j * (times[:, None, None] * turn[:, None] + phases[:, None])).mean(3) * np.sqrt(SINUSOIDS)
    taps = waves * np.sqrt(powers / powers.sum())
    places = np.arange(subcarriers) - subcarriers // 2
    h = taps @ np.exp(-2j * np.pi * SPACING_HZ * np.multiply.outer(delays, places))
    reports, later = h[:, :HISTORY], h[:, HISTORY:]
    real, imaginary = (errors or rng).standard_normal((2, *reports.shape))
    relative = 10 ** (-np.broadcast_to(np.asarray(accuracy_db, float), (grids, 1)) / 10)
    scale = np.sqrt(np.mean(np.abs(reports) ** 2, (1, 2))[:, None] * relative / 2)
    noise = np.array(np.broadcast_to(10 ** (-np.asarray(snr_db, float) / 10), (grids, 1)))
    return reports + scale[:, :, None] * (real + 1j * imaginary), later, noise


def pairs(reports):
    return np.stack([reports.real, reports.imag], 3).astype(np.float32)


class Policy(nn.Module):
    """P [batch, 1], reports [batch, 4, subcarrier, 2], N0 [batch, 1] -> scores [batch, subcarrier]."""

    def __init__(self, hidden):
        super().__init__()
        self.filters = nn.Conv1d(HISTORY, FILTERS, TAPS, bias=False)
        with torch.no_grad():
            self.filters.weight.mul_(0.1)
            self.filters.weight[0, -1, TAPS // 2] += 1  # the last report itself
            self.filters.weight[1:4] += 1 / (HISTORY * TAPS)
        self.layers = nn.ModuleList([nn.Linear(2 * FILTERS + 4, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)])

    def forward(self, average_power_budget, csi_history, noise_variance):
        re, im = csi_history[:, :, :, 0], csi_history[:, :, :, 1]
        edge = (TAPS // 2, TAPS // 2)
        a, b = (self.filters(nn.functional.pad(v, edge, mode="replicate")) for v in (re, im))
        x = torch.log(1 + (a * a + b * b) * (average_power_budget / noise_variance)[:, :, None])
        mean = x.mean(2)
        off = x[:, 0] - mean[:, :1]
        spread = torch.sqrt((off * off).mean(1, keepdim=True) + 1e-6)
        energy = (re * re + im * im).mean((1, 2))[:, None] + 1e-9
        alike = [self.correlation(re, im, lag) / energy for lag in (1, 2, 3)]
        context = torch.cat([mean, spread, *alike], 1)[:, None]
        y = torch.cat([x.transpose(1, 2), context.expand(-1, x.shape[2], -1)], 2)
        for layer in self.layers[:-1]:
            y = torch.relu(layer(y))
        return average_power_budget * self.layers[-1](y).squeeze(2)

    @staticmethod
    def correlation(re, im, lag):
        """|mean of h_t·conj(h_{t-lag})| over reports and subcarriers, [batch, 1]."""
        ar, ai, br, bi = re[:, lag:], im[:, lag:], re[:, :-lag], im[:, :-lag]
        real, imaginary = (ar * br + ai * bi).mean((1, 2)), (ai * br - ar * bi).mean((1, 2))
        return torch.sqrt(real * real + imaginary * imaginary + 1e-12)[:, None]


def to_onnx(policy) -> bytes:
    g = Graph("causal_power_policy")
    op = g.node
    budget, history, noise = (g.input(name, shape) for name, shape in (
        ("average_power_budget", ["batch", 1]), ("csi_history", ["batch", HISTORY, "subcarrier", 2]),
        ("noise_variance", ["batch", 1])))
    re, im = (op("Gather", [history, g.index(f"part.{k}", k)], axis=3) for k in (0, 1))
    edge, one, two = g.integers("edge", [0, 0, TAPS // 2, 0, 0, TAPS // 2]), g.integers("1", [1]), g.integers("2", [2])
    a, b = (g.conv(op("Pad", [v, edge], mode="edge"), policy.filters, "filters") for v in (re, im))

    def product(p, q, r, s, sign=1):
        return op("Add" if sign > 0 else "Sub", [op("Mul", [p, q]), op("Mul", [r, s])])

    def mean(v, axes, keepdims=1):
        return op("ReduceMean", [v], axes=axes, keepdims=keepdims)

    ratio = op("Unsqueeze", [op("Div", [budget, noise]), two])
    x = op("Log", [op("Add", [op("Mul", [product(a, a, b, b), ratio]), g.constant("one", 1)])])
    means = mean(x, [2], 0)
    first = op("Squeeze", [op("Slice", [x, g.integers("0", [0]), one, one]), one])
    off = op("Sub", [first, op("Slice", [means, "0", one, one])])
    spread = op("Sqrt", [op("Add", [mean(op("Mul", [off, off]), [1]), g.constant("least", 1e-6)])])
    energy = op("Add", [op("Unsqueeze", [mean(product(re, re, im, im), [1, 2], 0), one]), g.constant("weak", 1e-9)])
    context = [means, spread]
    for lag in (1, 2, 3):
        late, early = g.integers(f"late.{lag}", [lag]), g.integers(f"early.{lag}", [HISTORY - lag])
        ar, ai = (op("Slice", [v, late, g.integers("history", [HISTORY]), one]) for v in (re, im))
        br, bi = (op("Slice", [v, "0", early, one]) for v in (re, im))
        real, imaginary = (mean(v, [1, 2], 0) for v in (product(ar, br, ai, bi), product(ai, br, ar, bi, -1)))
        size = op("Sqrt", [op("Add", [product(real, real, imaginary, imaginary), g.constant("tiny", 1e-12)])])
        context.append(op("Div", [op("Unsqueeze", [size, one]), energy]))
    zeros = op("Mul", [op("Unsqueeze", [first, two]), g.constant("zero", 0)])
    y = op("Concat", [op("Transpose", [x], perm=[0, 2, 1]), op("Add", [op("Unsqueeze", [op("Concat", context, axis=1), one]), zeros])],
           axis=2)
    for i, layer in enumerate(policy.layers):
        y = g.linear(y, layer, f"layers.{i}")
        if i + 1 < len(policy.layers):
            y = op("Relu", [y])
    op("Mul", [budget, op("Squeeze", [y, two])], "allocation_scores")
    g.output("allocation_scores", ["batch", "subcarrier"])
    return g.bytes()


def rates(powers, later, noise):
    """Mean bit per subcarrier of each grid; powers [grid, subcarrier], or [grid, 8, subcarrier]."""
    powers = powers if powers.ndim == 3 else powers[:, None]
    return np.log2(1 + powers * np.abs(later) ** 2 / noise[:, :, None]).mean((1, 2))


def water_filling(gains, noise):
    return project(torch.from_numpy(-noise / np.maximum(gains, 1e-12)), gains.shape[1]).numpy()


def predicted(reports):
    """The gains of causal_ar_water_filling: per subcarrier one coefficient of modulus at most 1."""
    now, before = reports[:, 1:], reports[:, :-1]
    power = np.sum(np.abs(before) ** 2, 1)
    squared = np.minimum(np.abs(np.sum(now * before.conj(), 1)) ** 2 / power ** 2, 1)
    return np.abs(reports[:, -1]) ** 2 * (CONFIDENCE * squared ** DELAY + 1 - CONFIDENCE)


def box_water_filling(gains, noise):
    """Powers between the limits of the box whose mean is 1, by bisection of the level."""
    floors = noise / np.maximum(gains, 1e-12)
    low, high = floors.min(1, keepdims=True), floors.max(1, keepdims=True) + BOX[1]
    for _ in range(100):
        level = (low + high) / 2
        over = np.clip(level - floors, *BOX).mean(1, keepdims=True) > 1
        low, high = np.where(over, low, level), np.where(over, level, high)
    return np.clip(high - floors, *BOX)


def by_policy(policy, reports, noise):
    with torch.no_grad():
        scores = policy(torch.ones(len(reports), 1), torch.from_numpy(pairs(reports)), torch.from_numpy(noise).float())
        return project(scores.double(), reports.shape[2]).numpy()


def mean_rate(policy, population):
    return float(np.mean([rates(by_policy(policy, reports, noise), later, noise).mean() for reports, later, noise in population]))


def evaluate(models, grids=4000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for (snr, speed, accuracy), model, spread, subcarriers in [(point, "C", 300.0, 64) for point in GRID] + UNSEEN:
        reports, later, noise = draw(rng, grids, subcarriers, snr, speed, accuracy, model, spread)
        last, ahead = np.abs(reports[:, -1]) ** 2, predicted(reports)
        shrunk = (1 - SHRINKAGE) * last + SHRINKAGE * last.mean(1, keepdims=True)
        true = np.abs(later) ** 2
        known = water_filling(true.reshape(-1, subcarriers), np.repeat(noise, true.shape[1], 0)).reshape(true.shape)
        methods = {"equal": np.ones_like(last), "observed_csi_water_filling": water_filling(last, noise),
                   "robust_csi_water_filling": water_filling(shrunk, noise),
                   "causal_ar_water_filling": water_filling(ahead, noise),
                   "causal_ar_box_water_filling": box_water_filling(ahead, noise),
                   **{name: by_policy(network, reports, noise) for name, network in models.items()},
                   "later_channel_water_filling": known}
        row = {"snr_db": snr, "speed_kmh": speed, "accuracy_db": accuracy, "model": model, "delay_spread_ns": spread,
               "subcarriers": subcarriers}
        reached = {name: rates(powers, later, noise) for name, powers in methods.items()}
        for name, own in reached.items():
            row[name] = [float(own.mean()), float(Z * own.std(ddof=1) / np.sqrt(grids))]
        # The channels are the same: differences are more certain than rates.
        for name in models:
            for rule in ("equal", "observed_csi_water_filling", "robust_csi_water_filling", "causal_ar_box_water_filling"):
                more = reached[name] - reached[rule]
                row[f"{name}_over_{rule}"] = [float(more.mean()), float(Z * more.std(ddof=1) / np.sqrt(grids))]
        rows.append(row)
        print({k: round(v[0], 4) if isinstance(v, list) else v for k, v in row.items() if "_over_" not in k}, flush=True)
    return rows


def main():
    rng = np.random.default_rng(SEEDS["validation"])
    population = [draw(rng, 500, 64, *point) for point in GRID]
    models = {}

    def train(name, configuration, curve):
        torch.manual_seed(configuration["seed"])
        own = np.random.default_rng(configuration["seed"])

        def loss(policy):
            subcarriers, model = int(own.choice([32, 64, 128])), str(own.choice(["A", "B", "C"]))
            scene = [own.uniform(*span, (BATCH, 1)) for span in ((-5, 20), (0, 300), (-3, 25))]
            reports, later, noise = draw(own, BATCH, subcarriers, *scene, model, np.exp(own.uniform(np.log(30), np.log(600))))
            noise = torch.from_numpy(noise).float()
            powers = project(policy(torch.ones(BATCH, 1), torch.from_numpy(pairs(reports)), noise), subcarriers)
            gains = torch.from_numpy(np.abs(later) ** 2).float()
            return -torch.log2(1 + powers[:, None] * gains / noise[:, :, None]).mean()

        models[name] = fit(name, Policy(configuration["hidden"]), loss, lambda p: -mean_rate(p, population), curve,
                           steps=STEPS, rate=LEARNING_RATE, every=500)
        return models[name]

    chosen = select(HERE, "policy", CANDIDATES, train, lambda p: -mean_rate(p, population), to_onnx)
    (HERE / "candidates" / f"{chosen['selected']}.onnx").unlink()
    matrix = evaluate(models)
    reports, _, noise = draw(np.random.default_rng(7), 4, 16, 10.0, 30.0, 20.0)
    keep(HERE, chosen, objective="minus the mean rate in bit per subcarrier over the grid", output="allocation_scores",
         population_sha256=digest(*(v for part in population for v in part)),
         inputs={"average_power_budget": np.ones((4, 1), np.float32), "csi_history": pairs(reports),
                 "noise_variance": noise.astype(np.float32)}, matrix=matrix)
    seeds = [SEEDS["population"], SEEDS["population"] + 1]
    reports, later, _ = draw(np.random.default_rng(seeds[0]), 2, 8, 10.0, 30.0, 20.0, errors=np.random.default_rng(seeds[1]))
    write_json(HERE / "population.json", {
        "seeds": seeds, "speed_kmh": 30.0, "accuracy_db": 20.0, "delay_spread_ns": 300.0, "subcarriers": 8,
        "reports": pairs(reports).ravel().tolist(), "later": pairs(later).ravel().tolist()})


if __name__ == "__main__":
    main()
