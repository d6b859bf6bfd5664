"""Trains an estimator of range and angle from one snapshot of 32 antennas at 28 GHz with a source within 5 m.

`draw` is source.near_field_xl_mimo_scenario with its order of draws (training/population.json, which a test compares). The
network does not receive the SNR. It has two stages:

1. Fixed: correlation with plane waves under five curvatures c = cos^2(angle)/range (Fresnel approximation). The snapshot is
   multiplied by the conjugate of the strongest, and its mean phase and root mean square are removed.
2. Trained: two hidden layers from the 32 complex values that remain, the direction and the curvature of stage 1, to the range
   and to a correction of the sine of the angle.

Loss: e^2/s^2 of the range plus log(1 + e^2/(4 s^2)) of the angle, which outliers dominate less; s^2 is about the error that the
SNR allows, so that all SNR count alike. Rule: least mean over the SNR grid of log10 RMSE of range plus log10 RMSE of angle.
Reference: the posterior mean for known noise and unknown phase, on a lattice around the angle of the polar codebook. Where that
angle is no outlier, no estimator without absolute phase has a smaller mean square error; at -5 dB it shares its outliers.

    PYTHONPATH=<torch> python3 recipes/models/near-field-estimator-v1/training/train.py
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
SEEDS = {"validation": 142, "evaluation": 143, "population": 144}
STEPS, BATCH, LEARNING_RATE = 15000, 512, 3e-3
SNR_RANGE_DB, SNR_GRID_DB = (-8.0, 28.0), (-5.0, 5.0, 15.0, 25.0)
ANTENNAS, WAVELENGTH = 32, 299792458 / 28e9
NEAR, FAR, WIDEST = 0.5, 5.0, 55.0
CANDIDATES = {"seed_141": {"hidden": 96, "seed": 141}, "seed_151": {"hidden": 96, "seed": 151}}

# The array of lib/numeric/antenna/near_field.ts.
PLACE = (np.arange(ANTENNAS) - (ANTENNAS - 1) / 2) * WAVELENGTH / 2
WAVENUMBER = 2 * np.pi / WAVELENGTH
DIRECTIONS, CURVATURES = np.linspace(-0.84, 0.84, 109), np.linspace(0.1, 1.9, 5)


def sphere(ranges, sines):
    """exp(-j2pi r_m/wavelength); arguments broadcast, antennas last."""
    r, s = np.asarray(ranges)[..., None], np.asarray(sines)[..., None]
    return np.exp(-1j * WAVENUMBER * np.sqrt(np.maximum(0, r * r + PLACE ** 2 - 2 * r * PLACE * s)))


def draw(rng, examples, snr_db):
    """Snapshots [example, antenna], ranges in m and angles in degrees [example], noise variance."""
    angles, ranges = rng.uniform(-WIDEST, WIDEST, examples), rng.uniform(NEAR, FAR, examples)
    variance = np.broadcast_to(10 ** (-np.asarray(snr_db, float) / 10), (examples,))
    real, imaginary = rng.standard_normal((2, examples, ANTENNAS)) * np.sqrt(variance / 2)[:, None]
    received = sphere(ranges, np.sin(np.deg2rad(angles))) + real + 1j * imaginary
    return {"received": received, "range": ranges, "angle": angles, "variance": variance}


def pairs(received):
    return np.stack([received.real, received.imag], 2).astype(np.float32)


class Estimator(nn.Module):
    """Snapshots [batch, 32, 2] -> range in m and angle in degrees [batch, 2]."""

    def __init__(self, hidden):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2 * ANTENNAS + 2, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2)])
        # Conjugates of codewords [antenna, curvature·direction], curvature first.
        wave = np.exp(-1j * WAVENUMBER * PLACE[:, None] * DIRECTIONS)
        chirp = np.exp(1j * WAVENUMBER / 2 * PLACE[:, None] ** 2 * CURVATURES)
        for name, value in (("wave", wave), ("chirp", chirp)):
            self.register_buffer(f"{name}_re", torch.from_numpy(value.real.astype(np.float32)))
            self.register_buffer(f"{name}_im", torch.from_numpy(value.imag.astype(np.float32)))
        self.register_buffer("grid", torch.from_numpy(np.stack(
            [np.tile(DIRECTIONS, len(CURVATURES)), np.repeat(CURVATURES, len(DIRECTIONS))], 1).astype(np.float32)))

    def forward(self, array_ri):
        re, im = array_ri[:, :, 0], array_ri[:, :, 1]
        level = torch.sqrt((re * re + im * im).mean(1, keepdim=True) + 1e-12)
        re, im = re / level, im / level
        # [batch, curvature, antenna], then [batch, curvature, direction]
        cr, ci = self.chirp_re.T, self.chirp_im.T
        dr, di = re[:, None] * cr - im[:, None] * ci, re[:, None] * ci + im[:, None] * cr
        sr, si = dr @ self.wave_re - di @ self.wave_im, dr @ self.wave_im + di @ self.wave_re
        best = (sr * sr + si * si).flatten(1).argmax(1)
        found = self.grid[best]
        phase = WAVENUMBER * (found[:, 1:] * self.quadratic() - found[:, :1] * self.linear())
        cr, ci = torch.cos(phase), torch.sin(phase)
        re, im = re * cr - im * ci, re * ci + im * cr
        mr, mi = re.mean(1, keepdim=True), im.mean(1, keepdim=True)
        size = torch.sqrt(mr * mr + mi * mi + 1e-12)
        y = torch.cat([(re * mr + im * mi) / size, (im * mr - re * mi) / size, found], 1)
        for layer in self.layers[:-1]:
            y = torch.relu(layer(y))
        y = self.layers[-1](y)
        ranges = NEAR + (FAR - NEAR) * torch.sigmoid(y[:, :1])
        sines = torch.clamp(found[:, :1] + 0.05 * y[:, 1:], -0.9, 0.9)
        return torch.cat([ranges, torch.asin(sines) * (180 / np.pi)], 1)

    def linear(self):
        return torch.from_numpy(PLACE.astype(np.float32))

    def quadratic(self):
        return torch.from_numpy((PLACE ** 2 / 2).astype(np.float32))


def to_onnx(model) -> bytes:
    """array_ri [batch, 32, 2] -> range_angle [batch, 2]"""
    g = Graph("near_field_estimator")
    x = g.input("array_ri", ["batch", ANTENNAS, 2])
    op = g.node

    def product(a, b, c, d, sign):
        return op("Add" if sign > 0 else "Sub", [op("Mul", [a, b]), op("Mul", [c, d])])

    def size(a, b):
        return op("Sqrt", [op("Add", [product(a, a, b, b, 1), "tiny"])])

    g.constant("tiny", 1e-12)
    re, im = (op("Gather", [x, g.index(f"part.{k}", k)], axis=2) for k in (0, 1))
    level = op("ReduceMean", [product(re, re, im, im, 1)], axes=[1], keepdims=1)
    level = op("Sqrt", [op("Add", [level, "tiny"])])
    re, im = op("Div", [re, level]), op("Div", [im, level])
    one = g.integers("axis.1", [1])
    a, b = op("Unsqueeze", [re, one]), op("Unsqueeze", [im, one])
    cr, ci = g.constant("chirp_re", model.chirp_re.T.numpy()), g.constant("chirp_im", model.chirp_im.T.numpy())
    dr, di = product(a, cr, b, ci, -1), product(a, ci, b, cr, 1)
    wr, wi = g.constant("wave_re", model.wave_re.numpy()), g.constant("wave_im", model.wave_im.numpy())
    sr = op("Sub", [op("MatMul", [dr, wr]), op("MatMul", [di, wi])])
    si = op("Add", [op("MatMul", [dr, wi]), op("MatMul", [di, wr])])
    power = op("Reshape", [product(sr, sr, si, si, 1), g.integers("flat", [0, -1])])
    found = op("Gather", [g.constant("grid", model.grid.numpy()), op("ArgMax", [power], axis=1, keepdims=0)], axis=0)
    direction = op("Slice", [found, g.integers("0", [0]), g.integers("1", [1]), one])
    curvature = op("Slice", [found, "1", g.integers("2", [2]), one])
    phase = op("Sub", [op("Mul", [curvature, g.constant("quadratic", model.quadratic().numpy() * np.float32(WAVENUMBER))]),
                       op("Mul", [direction, g.constant("linear", model.linear().numpy() * np.float32(WAVENUMBER))])])
    cr, ci = op("Cos", [phase]), op("Sin", [phase])
    re, im = product(re, cr, im, ci, -1), product(re, ci, im, cr, 1)
    mr, mi = (op("ReduceMean", [v], axes=[1], keepdims=1) for v in (re, im))
    common = size(mr, mi)
    y = op("Concat", [op("Div", [product(re, mr, im, mi, 1), common]), op("Div", [product(im, mr, re, mi, -1), common]), found],
           axis=1)
    for i, layer in enumerate(model.layers):
        y = g.linear(y, layer, f"layers.{i}")
        if i + 1 < len(model.layers):
            y = op("Relu", [y])
    ranges = op("Sigmoid", [op("Slice", [y, "0", "1", one])])
    ranges = op("Add", [op("Mul", [ranges, g.constant("span", FAR - NEAR)]), g.constant("near", NEAR)])
    sines = op("Add", [direction, op("Mul", [op("Slice", [y, "1", "2", one]), g.constant("step", 0.05)])])
    sines = op("Min", [op("Max", [sines, g.constant("low", -0.9)]), g.constant("high", 0.9)])
    angles = op("Mul", [op("Asin", [sines]), g.constant("degrees", 180 / np.pi)])
    op("Concat", [ranges, angles], "range_angle", axis=1)
    g.output("range_angle", ["batch", 2])
    return g.bytes()


def estimated(model, drawn):
    with torch.no_grad():
        return model(torch.from_numpy(pairs(drawn["received"]))).numpy().astype(float)


def errors_of(estimate, drawn):
    n = len(estimate)
    return estimate - np.stack([drawn["range"][:n], drawn["angle"][:n]], 1)


def held_out(examples):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, examples, snr) for snr in SNR_GRID_DB]


def objective_on(population):
    return lambda model: float(np.mean([
        np.log10(np.sqrt(np.mean(errors_of(estimated(model, d), d) ** 2, 0))).sum() for d in population]))


def gains(estimate, drawn):
    """Share of the largest gain of a beam towards the estimate."""
    n = len(estimate)
    h = sphere(drawn["range"][:n], np.sin(np.deg2rad(drawn["angle"][:n])))
    w = sphere(estimate[:, 0], np.sin(np.deg2rad(estimate[:, 1])))
    return np.abs(np.sum(h * w.conj(), 1)) ** 2 / ANTENNAS ** 2


ANGLES = np.arange(-WIDEST, WIDEST + 1e-9, 0.25)


def polar_codebook(received, ranges):
    """The operation's search: angles 0.25 degrees apart and the given ranges."""
    angle, distance = np.repeat(ANGLES, len(ranges)), np.tile(ranges, len(ANGLES))
    words = sphere(distance, np.sin(np.deg2rad(angle))).conj().T
    best = np.concatenate([np.argmax(np.abs(part @ words), 1) for part in np.array_split(received, max(1, len(received) // 500))])
    return np.stack([distance[best], angle[best]], 1)


RANGES_40 = 1 / np.linspace(1 / NEAR, 1 / FAR, 40)


def far_field(received):
    words = np.exp(-1j * WAVENUMBER * np.sin(np.deg2rad(ANGLES))[:, None] * PLACE).T
    angle = ANGLES[np.argmax(np.abs(received @ words), 1)]
    return np.stack([np.full(len(angle), np.sqrt(NEAR * FAR)), angle], 1)


def scaled_bessel(x):
    """I0(x)·exp(-x): exact up to 300, the first terms of its expansion above."""
    small = np.minimum(x, 300.0)
    return np.where(x <= 300, np.i0(small) * np.exp(-small), (1 + 1 / (8 * x)) / np.sqrt(2 * np.pi * np.maximum(x, 1)))


def posterior_mean(received, variance):
    """E[range, angle | snapshot] near the codebook's angle, on a lattice that closes in twice; the phase is unknown."""
    starts, out = polar_codebook(received, RANGES_40), np.empty((len(received), 2))
    for i, own in enumerate(received):
        reach = 12 * np.rad2deg(np.sqrt(variance / ANTENNAS) / ANTENNAS) + 4
        spans = [(starts[i, 1] - reach, starts[i, 1] + reach), (NEAR, FAR)]
        for _ in range(3):
            (low, high), (near, far) = spans
            angles = np.linspace(max(-WIDEST, low), min(WIDEST, high), 61)
            ranges = np.linspace(max(NEAR, near), min(FAR, far), 61)
            fit_ = np.abs(sphere(ranges[:, None], np.sin(np.deg2rad(angles))) @ own.conj()) * 2 / variance
            exponent = fit_ + np.log(scaled_bessel(fit_))
            weight = np.exp(exponent - exponent.max())
            weight /= weight.sum()
            spans = []
            for grid, share in ((angles, weight.sum(0)), (ranges, weight.sum(1))):
                mean = share @ grid
                width = 6 * np.sqrt(share @ (grid - mean) ** 2) + 2 * (grid[1] - grid[0])
                spans.append((mean - width, mean + width))
        out[i] = weight.sum(1) @ ranges, weight.sum(0) @ angles
    return out


Z = 1.959963984540054


def rmse_interval(errors):
    """RMSE with its 95 % interval, from the scatter of the squares."""
    squares = errors ** 2
    half = Z * squares.std(ddof=1) / np.sqrt(len(squares))
    return [float(v) for v in (np.sqrt(squares.mean()), np.sqrt(max(squares.mean() - half, 0)), np.sqrt(squares.mean() + half))]


def evaluate(models, examples=10000, bounded=1000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for snr in SNR_GRID_DB:
        drawn = draw(rng, examples, snr)
        y = drawn["received"]
        methods = {"far_field_steering": far_field(y), "polar_codebook": polar_codebook(y, RANGES_40),
                   **{name: estimated(model, drawn) for name, model in models.items()},
                   "posterior_mean": posterior_mean(y[:bounded], drawn["variance"][0])}
        row = {"snr_db": snr}
        for name, estimate in methods.items():
            errors, gain = errors_of(estimate, drawn), gains(estimate, drawn)
            half = Z * gain.std(ddof=1) / np.sqrt(len(gain))
            row[name] = {"range_rmse_m": rmse_interval(errors[:, 0]), "angle_rmse_deg": rmse_interval(errors[:, 1]),
                         "focusing_gain": [float(v) for v in (gain.mean(), gain.mean() - half, gain.mean() + half)],
                         "examples": len(gain)}
        rows.append(row)
        for name in methods:
            print(snr, name, *(round(row[name][k][0], 4) for k in ("range_rmse_m", "angle_rmse_deg", "focusing_gain")), flush=True)
    return rows


def main():
    population, models = held_out(5000), {}
    watched = objective_on(held_out(1000))

    def train(name, configuration, curve):
        torch.manual_seed(configuration["seed"])
        own = np.random.default_rng(configuration["seed"])

        def loss(model):
            drawn = draw(own, BATCH, own.uniform(*SNR_RANGE_DB, BATCH))
            errors = model(torch.from_numpy(pairs(drawn["received"]))) - torch.from_numpy(
                np.stack([drawn["range"], drawn["angle"]], 1)).float()
            v = torch.from_numpy(np.array(drawn["variance"])).float()
            of_range = errors[:, 0] ** 2 / (1.2 * v / (v + 0.15) + 0.001)
            of_angle = torch.log1p(errors[:, 1] ** 2 / (0.4 * v + 1e-4))
            return (of_range + of_angle).mean()

        models[name] = fit(name, Estimator(configuration["hidden"]), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE,
                           every=1500)
        return models[name]

    chosen = select(HERE, "estimator", CANDIDATES, train, objective_on(population), to_onnx)
    (HERE / "candidates" / f"{chosen['selected']}.onnx").unlink()
    snapshots = pairs(draw(np.random.default_rng(7), 4, [-5.0, 5.0, 15.0, 25.0])["received"])
    keep(HERE, chosen, objective="mean over the SNR grid of log10 RMSE of range plus log10 RMSE of angle",
         population_sha256=digest(*(d[k] for d in population for k in ("received", "range", "angle"))),
         inputs={"array_ri": snapshots}, output="range_angle", matrix=evaluate(models))
    own = draw(np.random.default_rng(SEEDS["population"]), 3, 15.0)
    write_json(HERE / "population.json", {
        "seed": SEEDS["population"], "snr_db": 15.0, "received": pairs(own["received"]).ravel().tolist(),
        "truth": np.stack([own["range"], own["angle"]], 1).ravel().tolist()})


if __name__ == "__main__":
    main()
