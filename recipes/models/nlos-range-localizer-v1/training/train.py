"""Trains a localiser for ranges of which some are too long because the line of sight is blocked.

`draw` is source.localization_geometry and wireless.range_observation with their orders of draws: for one SNR, probability and
detour it gives the operations' own numbers (training/population.json, which a test compares). The network sees ranges and
anchors alone: neither noise, nor detour, nor which links are blocked.

The network is Gauss-Newton with learned weights: from the anchors' centroid, five steps of weighted least squares on what the
ranges leave, r_i - |p - a_i|. A small network of each step looks at every link (its residual and distance, beside mean, spread and
least of all residuals) and gives it a weight and a detour to take off. Anchors may be as many as one likes, in any order.

Loss: squared error over sigma^2 + 0.1 m^2. Rule: least mean of log10 RMSE over the grid of SNR and probability. The bound is
maximum likelihood on the same ranges with the detours taken off, which no receiver knows.

    PYTHONPATH=<torch> python3 recipes/models/nlos-range-localizer-v1/training/train.py
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parent.parent / "training"))
from onnx_graph import Graph  # noqa: E402
from records import digest, write_json  # noqa: E402
from selection import fit, keep, select  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 71, "validation": 72, "evaluation": 73, "population": 74}
STEPS, BATCH, LEARNING_RATE = 6000, 512, 4e-3
AREA, NOISE_FLOOR = 20.0, 0.05
SNR_RANGE_DB, PROBABILITY_RANGE, DETOUR_RANGE, ANCHORS = (0.0, 30.0), (0.0, 0.5), (0.5, 5.0), (5, 6, 7, 8, 9, 10)
GRID = [(8, snr, probability, 3.0) for snr in (5.0, 15.0, 25.0) for probability in (0.0, 0.15, 0.3, 0.45)]
CANDIDATES = {"hidden_16": {"hidden": 16, "steps": 5}, "hidden_32": {"hidden": 32, "steps": 5}}
FEATURES = 6


def perimeter_anchors(count):
    along = 4 * np.arange(count) / count
    edge = np.floor(along).astype(int)
    rest = (along - edge) * AREA
    x = np.choose(edge, [rest, np.full(count, AREA), AREA - rest, np.zeros(count)])
    y = np.choose(edge, [np.zeros(count), rest, np.full(count, AREA), AREA - rest])
    return np.stack([x, y], 1)


def draw(place, noise, examples, anchor_count, snr_db, probability, detour):
    """Scenes from the generator `place`, ranges from `noise`; the last three are numbers or arrays [example, 1]."""
    positions = AREA * place.random((examples, 2))
    anchors = np.broadcast_to(perimeter_anchors(anchor_count), (examples, anchor_count, 2))
    sigma = np.sqrt(NOISE_FLOOR ** 2 + 10 ** (-np.asarray(snr_db, float) / 10))
    blocked = noise.random((examples, anchor_count)) < probability
    error = detour * blocked + sigma * noise.standard_normal((examples, anchor_count))
    true = np.hypot(*np.moveaxis(positions[:, None] - anchors, 2, 0))
    return {"anchors": anchors, "ranges": true + error, "positions": positions, "sigma": np.broadcast_to(sigma, (examples, 1)),
            "detours": detour * blocked}


class Localizer(nn.Module):
    """anchors [batch, anchor, 2], ranges [batch, anchor] -> positions [batch, 2], metres."""

    def __init__(self, hidden: int, steps: int):
        super().__init__()
        self.links = nn.ModuleList(
            nn.ModuleList([nn.Linear(FEATURES, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2)])
            for _ in range(steps))

    def forward(self, anchors, ranges):
        position = anchors.mean(1)
        for first, second, last in self.links:
            away = position[:, None] - anchors
            distance = torch.sqrt((away * away).sum(2) + 1e-6)
            unit = away / distance[..., None]
            left = ranges - distance
            mean = left.mean(1, keepdim=True)
            spread = torch.sqrt(((left - mean) ** 2).mean(1, keepdim=True) + 1e-6)
            least = left.min(1, keepdim=True).values
            rows = [left, left - least, distance / AREA, mean, spread, least]
            features = torch.stack([row.expand_as(left) for row in rows], 2)
            said = last(torch.relu(second(torch.relu(first(features)))))
            weight = nn.functional.softplus(said[..., 0]) + 1e-4
            pull = weight * (left - nn.functional.softplus(said[..., 1]))
            ux, uy = unit[..., 0], unit[..., 1]
            xx, xy, yy = ((weight * a * b).sum(1) for a, b in ((ux, ux), (ux, uy), (uy, uy)))
            x, y = (pull * ux).sum(1), (pull * uy).sum(1)
            # The ridge keeps the step finite where all links point one way.
            xx, yy = xx + 0.01, yy + 0.01
            determinant = xx * yy - xy * xy
            position = position + torch.stack([(yy * x - xy * y) / determinant, (xx * y - xy * x) / determinant], 1)
        return position


def to_onnx(model: Localizer) -> bytes:
    """The same, node by node."""
    graph = Graph("nlos_range_localizer")
    anchors = graph.input("anchors", ["batch", "anchor", 2])
    ranges = graph.input("ranges", ["batch", "anchor"])
    one, two, tiny = graph.integers("axis_1", [1]), graph.integers("axis_2", [2]), graph.constant("tiny", 1e-6)

    def op(kind, *inputs, **attributes):
        return graph.node(kind, list(inputs), **attributes)

    def total(x, axis=one, keep=0):
        return op("ReduceSum", x, axis, keepdims=keep)

    def column(x, i, axis):
        return op("Gather", x, graph.index(f"index_{i}", i), axis=axis)

    position = op("ReduceMean", anchors, axes=[1], keepdims=0)
    for k, (first, second, last) in enumerate(model.links):
        away = op("Sub", op("Unsqueeze", position, one), anchors)
        distance = op("Sqrt", op("Add", total(op("Mul", away, away), two), tiny))
        unit = op("Div", away, op("Unsqueeze", distance, two))
        left = op("Sub", ranges, distance)
        mean = op("ReduceMean", left, axes=[1], keepdims=1)
        centred = op("Sub", left, mean)
        spread = op("Sqrt", op("Add", op("ReduceMean", op("Mul", centred, centred), axes=[1], keepdims=1), tiny))
        least = op("ReduceMin", left, axes=[1], keepdims=1)
        shape = op("Shape", left)
        rows = [left, op("Sub", left, least), op("Div", distance, graph.constant("area", AREA)),
                *(op("Expand", row, shape) for row in (mean, spread, least))]
        hidden = op("Concat", *(op("Unsqueeze", row, two) for row in rows), axis=2)
        for name, layer in (("first", first), ("second", second)):
            hidden = op("Relu", graph.linear(hidden, layer, f"links.{k}.{name}"))
        said = graph.linear(hidden, last, f"links.{k}.last")
        weight = op("Add", op("Softplus", column(said, 0, 2)), graph.constant("least_weight", 1e-4))
        pull = op("Mul", weight, op("Sub", left, op("Softplus", column(said, 1, 2))))
        ux, uy = column(unit, 0, 2), column(unit, 1, 2)
        xx, xy, yy = (total(op("Mul", op("Mul", weight, a), b)) for a, b in ((ux, ux), (ux, uy), (uy, uy)))
        x, y = total(op("Mul", pull, ux)), total(op("Mul", pull, uy))
        ridge = graph.constant("ridge", 0.01)
        xx, yy = op("Add", xx, ridge), op("Add", yy, ridge)
        determinant = op("Sub", op("Mul", xx, yy), op("Mul", xy, xy))
        steps = [op("Div", op("Sub", op("Mul", a, b), op("Mul", xy, c)), determinant) for a, b, c in ((yy, x, y), (xx, y, x))]
        step = op("Concat", *(op("Unsqueeze", s, one) for s in steps), axis=1)
        position = graph.node("Add", [position, step], "positions" if k == len(model.links) - 1 else None)
    graph.output("positions", ["batch", 2])
    return graph.bytes()


def feeds(drawn):
    return [torch.from_numpy(np.ascontiguousarray(drawn[key], np.float32)) for key in ("anchors", "ranges")]


def located(model, drawn):
    """As the operation cuts it: to the square."""
    with torch.no_grad():
        return np.clip(model(*feeds(drawn)).numpy().astype(float), 0, AREA)


def squares(positions, drawn):
    return ((positions - drawn["positions"]) ** 2).sum(1)


def maximum_likelihood(drawn, ranges):
    """model.trilateration_localizer: the linear system, then Gauss-Newton."""
    anchors = drawn["anchors"]
    rows = 2 * (anchors[:, 1:] - anchors[:, :1])
    power = (anchors ** 2).sum(2)
    right = power[:, 1:] - power[:, :1] - ranges[:, 1:] ** 2 + ranges[:, :1] ** 2
    position = np.linalg.solve(np.einsum("nij,nik->njk", rows, rows), np.einsum("nij,ni->nj", rows, right)[..., None])[..., 0]
    for _ in range(20):
        away = position[:, None] - anchors
        distance = np.sqrt((away ** 2).sum(2))
        unit = away / distance[..., None]
        normal = np.einsum("nij,nik->njk", unit, unit)
        position = position + np.linalg.solve(normal, np.einsum("nij,ni->nj", unit, ranges - distance)[..., None])[..., 0]
    return np.clip(position, 0, AREA)


def held_out(examples):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, rng, examples, *point) for point in GRID]


def objective_on(population):
    return lambda model: float(np.mean([np.log10(squares(located(model, d), d).mean()) / 2 for d in population]))


def train(rng):
    def loss(model):
        point = [rng.uniform(*span, (BATCH, 1)) for span in (SNR_RANGE_DB, PROBABILITY_RANGE, DETOUR_RANGE)]
        drawn = draw(rng, rng, BATCH, int(rng.choice(ANCHORS)), *point)
        error = model(*feeds(drawn)) - torch.from_numpy(drawn["positions"]).float()
        return ((error ** 2).sum(1) / torch.from_numpy(drawn["sigma"][:, 0] ** 2 + 0.1).float()).mean()

    watched = objective_on(held_out(1000))

    def trained(name, configuration, curve):
        torch.manual_seed(SEEDS["training"])
        return fit(name, Localizer(**configuration), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE, every=500)

    return trained


def evaluate(model, examples=20000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for point in GRID:
        drawn = draw(rng, rng, examples, *point)
        methods = {"trilateration": maximum_likelihood(drawn, drawn["ranges"]), "learned": located(model, drawn),
                   "known_detours": maximum_likelihood(drawn, drawn["ranges"] - drawn["detours"])}
        row = dict(zip(("anchors", "snr_db", "nlos_probability", "nlos_bias_m"), point))
        for name, positions in methods.items():
            own = squares(positions, drawn)
            half = 1.959963984540054 * own.std(ddof=1) / np.sqrt(examples)
            row[name] = [float(np.sqrt(v)) for v in (own.mean(), own.mean() - half, own.mean() + half)]
        rows.append(row)
        print({k: round(v[0], 4) if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    return rows


def main(names):
    population = held_out(10000)
    chosen = select(HERE, "localizer", {n: CANDIDATES[n] for n in names}, train(np.random.default_rng(SEEDS["training"])),
                    objective_on(population), to_onnx)
    rng = np.random.default_rng(7)
    sample = draw(rng, rng, 6, 8, 15.0, 0.3, 3.0)
    keep(HERE, chosen, objective="mean of log10 RMSE in metres over the grid",
         population_sha256=digest(*(d[k] for d in population for k in ("anchors", "ranges", "positions"))),
         inputs={key: np.ascontiguousarray(sample[key], np.float32) for key in ("anchors", "ranges")}, output="positions",
         matrix=evaluate(chosen["model"]))
    seed = SEEDS["population"]
    own = draw(np.random.default_rng(seed), np.random.default_rng(seed + 1), 4, 6, 12.0, 0.4, 2.5)
    write_json(HERE / "population.json", {"seeds": [seed, seed + 1], "anchor_count": 6, "snr_db": 12.0, "nlos_probability": 0.4,
                                          "nlos_bias_m": 2.5, "positions": own["positions"].ravel().tolist(),
                                          "ranges": own["ranges"].ravel().tolist()})


if __name__ == "__main__":
    main(sys.argv[1:] or list(CANDIDATES))
