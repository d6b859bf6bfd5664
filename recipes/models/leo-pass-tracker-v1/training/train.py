"""Trains a tracker that foretells Doppler and beam of a satellite five seconds ahead of six looks half a second apart.

`draw` is source.leo_ntn_tracking_scenario with its order of draws: for one SNR it gives the operation's own numbers
(training/population.json, which a test compares). The network sees the noisy looks alone, never their SNR. It adds what two
hidden layers make of the looks to a linear map of them.

Loss: log(1 + e^2/(s^2 + 1e-6)) of Doppler (over the largest) and of the beam position, s a sixth of the looks' deviation, so
that good looks count as much as bad ones. Rule: least mean of log10 of the beam position's RMSE plus log10 of the Doppler's over the SNR
grid. The bound is the posterior mean for known SNR: looks of these passes allow no smaller mean squared error.

    PYTHONPATH=<torch> python3 recipes/models/leo-pass-tracker-v1/training/train.py
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
SEEDS = {"training": 61, "validation": 62, "evaluation": 63, "population": 64}
STEPS, BATCH, LEARNING_RATE = 30000, 512, 3e-3
SNR_RANGE_DB, SNR_GRID_DB = (10.0, 50.0), (15.0, 25.0, 35.0, 45.0)
LOOKS, STEP, HORIZON, MAX_DOPPLER, BEAMS = 6, 0.5, 5.0, 48000.0, 9
CANDIDATES = {"hidden_48": {"hidden": 48}, "hidden_96": {"hidden": 96}}

# The pass of lib/numeric/leo_pass.ts.
EARTH, ORBIT = 6_371_000.0, 6_971_000.0
SPEED = np.sqrt(3.986004418e14 / ORBIT ** 3)


def central_angle(elevation_deg):
    elevation = np.deg2rad(elevation_deg)
    return np.arccos(EARTH * np.cos(elevation) / ORBIT) - elevation


HALF_PASS = central_angle(10.0)
PASS_SECONDS = 2 * HALF_PASS / SPEED
WATCHED = (LOOKS - 1) * STEP + HORIZON
EARLIEST, LATEST = WATCHED - PASS_SECONDS / 2, PASS_SECONDS / 2


def states(times, middles, peaks):
    """Doppler over the largest, elevation over 90 degrees and beam position; arguments broadcast."""
    psi, chi = SPEED * (times - middles), central_angle(peaks)
    cosine = np.cos(psi) * np.cos(chi)
    slant = np.sqrt(EARTH ** 2 + ORBIT ** 2 - 2 * EARTH * ORBIT * cosine)
    elevation = np.rad2deg(np.arcsin(np.clip((ORBIT * cosine - EARTH) / slant, -1, 1))) / 90
    doppler = -ORBIT * np.sin(psi) * np.cos(chi) / slant
    return np.stack(np.broadcast_arrays(doppler, elevation, (psi + HALF_PASS) / (2 * HALF_PASS) * BEAMS - 0.5), -1)


def draw(rng, examples, snr_db):
    """Looks [example, look, 3] and what is to come [example, 2]: Doppler over the largest, and beam position."""
    middles, peaks = rng.uniform(EARLIEST, LATEST, examples), rng.uniform(30, 90, examples)
    noise = rng.standard_normal((examples, LOOKS, 3))
    sigma = np.broadcast_to(10 ** (-np.asarray(snr_db, float) / 20), (examples,))
    looks = states(np.arange(LOOKS) * STEP, middles[:, None], peaks[:, None])
    looks = looks + sigma[:, None, None] * np.array([1, 0.1, 1]) * noise
    return {"looks": looks, "future": states(WATCHED, middles, peaks)[:, [0, 2]], "sigma": sigma}


class Tracker(nn.Module):
    """Looks [batch, 6, 3] -> Doppler in Hz and beam position [batch, 2]."""

    def __init__(self, hidden: int):
        super().__init__()
        self.through = nn.Linear(3 * LOOKS, 2)
        self.first, self.second = nn.Linear(3 * LOOKS, hidden), nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, 2)
        # Beams 0 ... 8 to about -1 ... 1, as the other two are.
        self.register_buffer("middle", torch.tensor([0.0, 0.5, 4.0] * LOOKS))
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 0.25] * LOOKS))
        self.register_buffer("unit", torch.tensor([MAX_DOPPLER, 4.0]))
        self.register_buffer("origin", torch.tensor([0.0, 4.0]))

    def forward(self, looks):
        x = (looks.reshape(-1, 3 * LOOKS) - self.middle) * self.scale
        hidden = torch.tanh(self.second(torch.tanh(self.first(x))))
        return (self.through(x) + self.last(hidden)) * self.unit + self.origin


def to_onnx(model: Tracker) -> bytes:
    """track_features [batch, 6, 3] -> decision [batch, 2]"""
    graph = Graph("leo_pass_tracker")
    looks = graph.input("track_features", ["batch", LOOKS, 3])
    x = graph.node("Reshape", [looks, graph.integers("flat", [-1, 3 * LOOKS])])
    x = graph.node("Sub", [x, graph.constant("middle", model.middle)])
    x = graph.node("Mul", [x, graph.constant("scale", model.scale)])
    hidden = graph.node("Tanh", [graph.linear(x, model.first, "first")])
    hidden = graph.node("Tanh", [graph.linear(hidden, model.second, "second")])
    y = graph.node("Add", [graph.linear(x, model.through, "through"), graph.linear(hidden, model.last, "last")])
    y = graph.node("Mul", [y, graph.constant("unit", model.unit)])
    graph.node("Add", [y, graph.constant("origin", model.origin)], "decision")
    graph.output("decision", ["batch", 2])
    return graph.bytes()


UNIT = np.array([MAX_DOPPLER, 1.0])


def held_out(examples):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, examples, snr) for snr in SNR_GRID_DB]


def foretold(model, drawn):
    with torch.no_grad():
        return model(torch.from_numpy(drawn["looks"].astype(np.float32))).numpy().astype(float) / UNIT


def rmse(errors):
    return np.sqrt(np.mean(errors ** 2, 0))


def objective_on(population):
    return lambda model: float(np.mean([np.log10(rmse(foretold(model, d) - d["future"])).sum() for d in population]))


def train(rng):
    def loss(model):
        drawn = draw(rng, BATCH, rng.uniform(*SNR_RANGE_DB, BATCH))
        y = model(torch.from_numpy(drawn["looks"].astype(np.float32))) / torch.tensor(UNIT).float()
        error = y - torch.from_numpy(drawn["future"]).float()
        return torch.log1p(error ** 2 / torch.from_numpy(drawn["sigma"] ** 2 / 36 + 1e-6).float()[:, None]).mean()

    watched = objective_on(held_out(2000))

    def trained(name, configuration, curve):
        torch.manual_seed(SEEDS["training"])
        return fit(name, Tracker(**configuration), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE, every=1500)

    return trained


LINE = np.linalg.pinv(np.stack([np.ones(LOOKS), np.arange(LOOKS) * STEP], 1)).T @ np.array([1, WATCHED])


def posterior_mean(looks, sigma):
    """E[future | looks] by sums over a lattice of middles and peaks around what the looks say."""
    times = np.arange(LOOKS) * STEP
    scale = sigma * np.array([1, 0.1, 1])
    # The beams alone give the middle with a deviation of sigma/sqrt(6) beams; the lattice then closes in on what it found.
    deviation = sigma / np.sqrt(LOOKS) * PASS_SECONDS / BEAMS
    centre = np.mean(times - ((looks[:, :, 2] + 0.5) / BEAMS - 0.5) * PASS_SECONDS, 1)
    out = np.empty((len(looks), 2))
    for i, own in enumerate(looks):
        spans = [(centre[i] - 6 * deviation, centre[i] + 6 * deviation), (30.0, 90.0)]
        for _ in range(4):
            low, high = zip(*spans)
            middles = np.linspace(max(EARLIEST, low[0]), min(LATEST, high[0]), 61)
            peaks = np.linspace(max(30.0, low[1]), min(90.0, high[1]), 61)
            modelled = states(times, middles[:, None, None], peaks[:, None])
            exponent = -0.5 * np.sum(((own - modelled) / scale) ** 2, (2, 3))
            weight = np.exp(exponent - exponent.max())
            weight /= weight.sum()
            spans = []
            for grid, share in ((middles, weight.sum(1)), (peaks, weight.sum(0))):
                mean = share @ grid
                reach = 6 * np.sqrt(share @ (grid - mean) ** 2) + 2 * (grid[1] - grid[0])
                spans.append((mean - reach, mean + reach))
        out[i] = np.tensordot(weight, states(WATCHED, middles[:, None], peaks)[..., [0, 2]], 2)
    return out


def evaluate(model, examples=20000, bounded=1000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for snr in SNR_GRID_DB:
        drawn = draw(rng, examples, snr)
        looks, future = drawn["looks"][:, :, [0, 2]], drawn["future"]
        methods = {"hold_last": looks[:, -1], "line": np.tensordot(LINE, looks, (0, 1)), "learned": foretold(model, drawn)}
        methods["posterior_mean"] = posterior_mean(drawn["looks"][:bounded], drawn["sigma"][0])
        row = {"snr_db": snr}
        for name, guess in methods.items():
            errors = guess - future[:len(guess)]
            bands = [[float(v) for v in interval(errors[:, k])] for k in (0, 1)]
            row[name] = {"doppler_rmse_hz": [v * MAX_DOPPLER for v in bands[0]], "beam_rmse": bands[1], "examples": len(guess)}
        rows.append(row)
        print(snr, {k: (round(v["doppler_rmse_hz"][0], 1), round(v["beam_rmse"][0], 5)) for k, v in row.items() if k != "snr_db"},
              flush=True)
    return rows


def interval(errors):
    """RMSE with its 95 % interval, from the scatter of the squares."""
    squares = errors ** 2
    half = 1.959963984540054 * squares.std(ddof=1) / np.sqrt(len(squares))
    return np.sqrt(squares.mean()), np.sqrt(max(squares.mean() - half, 0)), np.sqrt(squares.mean() + half)


def main(names):
    population = held_out(10000)
    chosen = select(HERE, "tracker", {n: CANDIDATES[n] for n in names}, train(np.random.default_rng(SEEDS["training"])),
                    objective_on(population), to_onnx)
    looks = draw(np.random.default_rng(7), 4, [15.0, 25.0, 35.0, 45.0])["looks"].astype(np.float32)
    keep(HERE, chosen, objective="mean over the SNR grid of log10 RMSE of Doppler plus log10 RMSE of beam position",
         population_sha256=digest(*(d[k] for d in population for k in ("looks", "future"))),
         inputs={"track_features": looks}, output="decision", matrix=evaluate(chosen["model"]))
    own = draw(np.random.default_rng(SEEDS["population"]), 3, 20.0)
    write_json(HERE / "population.json", {"seed": SEEDS["population"], "snr_db": 20.0, "prediction_horizon_s": HORIZON,
                                          "looks": own["looks"].ravel().tolist(), "future": own["future"].ravel().tolist()})


if __name__ == "__main__":
    main(sys.argv[1:] or list(CANDIDATES))
