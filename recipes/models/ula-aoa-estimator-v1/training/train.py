"""Trains an estimator of the bearing of one source at a linear array of eight antennas that stays calm in strong noise.

`draw` is source.aoa_scene and wireless.ula_array_observation with their orders of draws (training/population.json, which a test
compares). The network sees the snapshots alone: neither noise nor bearing.

All that a covariance says of the bearing of one source in white noise is its Bartlett spectrum p(angle) over the total power.
Unknown signal and noise powers leave the likelihood (1 - p)^(-N(M-1))·p^(-N); its maximum, which MUSIC finds as well, jumps anywhere
once noise wins. The network is a mean of the angles of a grid instead, weighted by softmax of a score that starts as this
likelihood and is trained: two small networks, one of a grid point, one of the whole spectrum for the sharpness, also learn what
the grid leaves of a narrow peak.

Loss: log of the mean squared error of a batch of one SNR and one number of snapshots. Rule: least mean of log10 RMSE over the SNR
grid.

    PYTHONPATH=<torch> python3 recipes/models/ula-aoa-estimator-v1/training/train.py
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
SEEDS = {"training": 101, "validation": 102, "evaluation": 103, "population": 104}
STEPS, BATCH, LEARNING_RATE = 2500, 384, 5e-3
ANTENNAS, SNAPSHOTS, LIMIT = 8, 16, 60.0
SNAPSHOTS_RANGE, SNR_RANGE_DB = (4, 64), (-20.0, 20.0)
SNR_GRID_DB = (-15.0, -10.0, -5.0, 0.0, 5.0, 10.0, 15.0)
CANDIDATES = {"step_1": {"step": 1.0, "hidden": 16}, "step_half": {"step": 0.5, "hidden": 16}}
TINY = 1e-9
# Where a direction holds less than its share of white noise, the likeliest source there has no power at all.
LEAST, MOST, KNEE = 1 / ANTENNAS, 1 - 1e-6, 2.5


def steering(degrees):
    """[..., antenna]"""
    return np.exp(1j * np.pi * np.arange(ANTENNAS) * np.sin(np.deg2rad(degrees))[..., None])


def complex_normal(rng, shape, variance):
    real, imaginary = rng.standard_normal(shape), rng.standard_normal(shape)
    return np.sqrt(variance / 2) * (real + 1j * imaginary)


def draw(scene, channel, examples, snapshots, snr_db):
    """Snapshots [example, antenna, snapshot] and bearings; `snr_db` is a number or an array [example]."""
    angles = -LIMIT + 2 * LIMIT * scene.random(examples)
    n0 = np.broadcast_to(10 ** (-np.asarray(snr_db, float) / 10), (examples,))
    signal = complex_normal(channel, (examples, snapshots), 1)
    noise = complex_normal(channel, (examples, ANTENNAS, snapshots), 1) * np.sqrt(n0)[:, None, None]
    received = steering(angles)[:, :, None] * signal[:, None] + noise
    return {"received": received.astype(np.complex64), "angles": angles, "n0": n0, "bound": cramer_rao(angles, snapshots, n0)}


def cramer_rao(angles, snapshots, n0):
    """Degrees squared: bearingCramerRao of lib/numeric/direction_finding.ts."""
    slope = np.pi * np.cos(np.deg2rad(angles)) * np.pi / 180
    return 6 * n0 / (snapshots * ANTENNAS * (ANTENNAS ** 2 - 1)) * (1 + n0 / ANTENNAS) / slope ** 2


def real_imaginary(values):
    return np.ascontiguousarray(np.stack([values.real, values.imag], -1), np.float32)


def lag_matrices():
    """From Re R and Im R, flat, to the lags of the spectrum: [64, 8] and [64, 7]."""
    rows, columns = np.divmod(np.arange(ANTENNAS ** 2), ANTENNAS)
    lags = np.arange(ANTENNAS)
    apart = rows - columns
    real = (np.abs(apart)[:, None] == lags).astype(float)
    imaginary = np.sign(apart)[:, None] * (np.abs(apart)[:, None] == lags[1:])
    return real, imaginary


class Estimator(nn.Module):
    """snapshots_ri [batch, 8, snapshot, 2] -> angles_deg [batch]"""

    def __init__(self, step: float, hidden: int):
        super().__init__()
        grid = np.arange(-LIMIT - 3, LIMIT + 3 + step / 2, step)
        turn = np.pi * np.sin(np.deg2rad(grid)) * np.arange(ANTENNAS)[:, None]
        self.register_buffer("grid", torch.tensor(grid).float())
        # aRa/M = sum over lags; the covariance is Hermitian, so lags of both signs are taken together.
        self.register_buffer("cosines", torch.tensor(np.cos(turn) / ANTENNAS).float())
        self.register_buffer("sines", torch.tensor(np.sin(turn[1:]) / ANTENNAS).float())
        real, imaginary = lag_matrices()
        self.register_buffer("real_lags", torch.tensor(real).float())
        self.register_buffer("imaginary_lags", torch.tensor(imaginary).float())
        self.point, self.point_out = nn.Linear(3, hidden), nn.Linear(hidden, 1)
        self.whole, self.whole_out = nn.Linear(3, hidden), nn.Linear(hidden, 1)
        for layer in (self.point_out, self.whole_out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, snapshots):
        xr, xi = snapshots[..., 0], snapshots[..., 1]
        real = xr @ xr.mT + xi @ xi.mT
        imaginary = xi @ xr.mT - xr @ xi.mT
        lags = real.flatten(1) @ self.real_lags
        spectrum = lags @ self.cosines + imaginary.flatten(1) @ self.imaginary_lags @ self.sines
        share = torch.clamp(spectrum / (lags[:, :1] + TINY), LEAST, MOST)
        count = torch.log(torch.tensor(float(snapshots.shape[2])))
        empty, full = -torch.log(1 - share), torch.log(share)
        score = torch.exp(count) * ((ANTENNAS - 1) * empty - full)
        most = empty.max(1, keepdim=True).values
        rows = torch.stack([empty, empty - most, torch.full_like(empty, count)], -1)
        own = self.point_out(torch.relu(self.point(rows)))[..., 0]
        facts = torch.cat([most, empty.mean(1, keepdim=True), torch.full_like(most, count)], 1)
        sharpness = torch.exp(self.whole_out(torch.tanh(self.whole(facts))) - torch.nn.functional.softplus(most + count - KNEE))
        weights = torch.softmax(score * sharpness + own, 1)
        return weights @ self.grid


def to_onnx(model: Estimator) -> bytes:
    """The same, node by node."""
    graph = Graph("ula_aoa_estimator")
    snapshots = graph.input("snapshots_ri", ["batch", ANTENNAS, "snapshot", 2])

    def op(kind, *inputs, **attributes):
        return graph.node(kind, list(inputs), **attributes)

    xr, xi = (op("Gather", snapshots, graph.index(f"part_{i}", i), axis=3) for i in (0, 1))
    tr, ti = (op("Transpose", x, perm=[0, 2, 1]) for x in (xr, xi))
    flat = graph.integers("flat", [-1, ANTENNAS ** 2])
    real = op("Reshape", op("Add", op("MatMul", xr, tr), op("MatMul", xi, ti)), flat)
    imaginary = op("Reshape", op("Sub", op("MatMul", xi, tr), op("MatMul", xr, ti)), flat)
    lags = op("MatMul", real, graph.constant("real_lags", model.real_lags))
    crossed = op("MatMul", op("MatMul", imaginary, graph.constant("imaginary_lags", model.imaginary_lags)),
                 graph.constant("sines", model.sines))
    spectrum = op("Add", op("MatMul", lags, graph.constant("cosines", model.cosines)), crossed)
    total = op("Gather", lags, graph.integers("first", [0]), axis=1)
    share = op("Div", spectrum, op("Add", total, graph.constant("tiny", TINY)))
    share = op("Max", op("Min", share, graph.constant("most", MOST)), graph.constant("least", LEAST))
    size = op("Cast", op("Gather", op("Shape", snapshots), graph.integers("axis_2", [2]), axis=0), to=1)
    count = op("Log", size)
    empty, full = op("Neg", op("Log", op("Sub", graph.constant("one", 1.0), share))), op("Log", share)
    score = op("Mul", size, op("Sub", op("Mul", empty, graph.constant("others", ANTENNAS - 1.0)), full))

    def wide(like):
        return op("Expand", count, op("Shape", like))

    last = graph.integers("axis_m1", [-1])
    most = op("ReduceMax", empty, axes=[1], keepdims=1)
    rows = op("Concat", *(op("Unsqueeze", x, last) for x in (empty, op("Sub", empty, most), wide(empty))), axis=-1)
    own = op("Squeeze", graph.linear(op("Relu", graph.linear(rows, model.point, "point")), model.point_out, "point_out"), last)
    facts = op("Concat", most, op("ReduceMean", empty, axes=[1], keepdims=1), wide(most), axis=1)
    sharpness = graph.linear(op("Tanh", graph.linear(facts, model.whole, "whole")), model.whole_out, "whole_out")
    bend = op("Softplus", op("Sub", op("Add", most, count), graph.constant("knee", KNEE)))
    sharpness = op("Exp", op("Sub", sharpness, bend))
    weights = op("Softmax", op("Add", op("Mul", score, sharpness), own), axis=1)
    graph.node("MatMul", [weights, graph.constant("grid", model.grid)], "angles_deg")
    graph.output("angles_deg", ["batch"])
    return graph.bytes()


def estimated(model, drawn):
    with torch.no_grad():
        parts = np.array_split(real_imaginary(drawn["received"]), max(1, len(drawn["angles"]) // 1000))
        return np.concatenate([model(torch.from_numpy(part)).numpy() for part in parts]).astype(float)


def held_out(examples):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, rng, examples, SNAPSHOTS, snr) for snr in SNR_GRID_DB]


def objective_on(population):
    return lambda model: float(np.mean([np.log10(np.mean((estimated(model, d) - d["angles"]) ** 2)) / 2 for d in population]))


def train(rng):
    def loss(model):
        snapshots = int(np.exp(rng.uniform(*np.log(SNAPSHOTS_RANGE))))
        drawn = draw(rng, rng, BATCH, snapshots, rng.uniform(*SNR_RANGE_DB))
        error = model(torch.from_numpy(real_imaginary(drawn["received"]))) - torch.from_numpy(drawn["angles"]).float()
        return torch.log((error ** 2).mean())

    watched = objective_on(held_out(500))

    def trained(name, configuration, curve):
        torch.manual_seed(SEEDS["training"])
        return fit(name, Estimator(**configuration), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE, every=125)

    return trained


def searched(drawn, music):
    """Bartlett and MUSIC of the slot: a grid of 0.25 degrees, a parabola through the best three."""
    grid = np.arange(-90, 90.125, 0.25)
    a, x = steering(grid), drawn["received"].astype(complex)
    r = x @ x.conj().transpose(0, 2, 1)
    if music:
        vectors = np.linalg.eigh(r)[1][:, :, :-1]
        r = -vectors @ vectors.conj().transpose(0, 2, 1)
    value = np.concatenate([np.einsum("gi,nij,gj->ng", a.conj(), part, a, optimize=True).real
                            for part in np.array_split(r, max(1, len(r) // 500))])
    best = np.clip(value.argmax(1), 1, len(grid) - 2)
    n = np.arange(len(best))
    before, at, after = value[n, best - 1], value[n, best], value[n, best + 1]
    return grid[best] + 0.25 * np.clip(0.5 * (before - after) / (before - 2 * at + after), -1, 1)


def evaluate(model, examples=10000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for snr in SNR_GRID_DB:
        drawn = draw(rng, rng, examples, SNAPSHOTS, snr)
        methods = {"bartlett": searched(drawn, False), "music": searched(drawn, True), "learned": estimated(model, drawn)}
        row = {"snr_db": snr, "snapshots": SNAPSHOTS, "examples": examples, "cramer_rao": float(np.sqrt(drawn["bound"].mean()))}
        for name, angles in methods.items():
            squares = (angles - drawn["angles"]) ** 2
            half = 1.959963984540054 * squares.std(ddof=1) / np.sqrt(examples)
            row[name] = [float(np.sqrt(max(v, 0))) for v in (squares.mean(), squares.mean() - half, squares.mean() + half)]
        rows.append(row)
        print({k: round(v[0], 4) if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    return rows


def main(names):
    population = held_out(5000)
    chosen = select(HERE, "estimator", {n: CANDIDATES[n] for n in names}, train(np.random.default_rng(SEEDS["training"])),
                    objective_on(population), to_onnx)
    rng = np.random.default_rng(7)
    sample = real_imaginary(draw(rng, rng, 6, 12, np.array([-15.0, -8.0, -2.0, 4.0, 10.0, 18.0]))["received"])
    keep(HERE, chosen, objective="mean of log10 RMSE in degrees over the SNR grid",
         population_sha256=digest(*(d[k] for d in population for k in ("received", "angles"))),
         inputs={"snapshots_ri": sample}, output="angles_deg", matrix=evaluate(chosen["model"]))
    seed = SEEDS["population"]
    own = draw(np.random.default_rng(seed), np.random.default_rng(seed + 1), 2, 5, -3.0)
    write_json(HERE / "population.json", {"seeds": [seed, seed + 1], "snapshots": 5, "snr_db": -3.0,
                                          "angles": own["angles"].tolist(),
                                          "received": real_imaginary(own["received"]).astype(float).ravel().round(7).tolist()})


if __name__ == "__main__":
    main(sys.argv[1:] or list(CANDIDATES))
