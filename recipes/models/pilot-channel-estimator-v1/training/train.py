"""Trains an estimator of MIMO-OFDM channels from comb pilots that finds the delay profile by itself.

`draw` is source.ai_phy_channel_realization (mimo_ofdm and mimo_ofdm_3gpp_tdl), a comb of source.ai_phy_pilot_pattern and
wireless.pilot_observation with their orders of draws (training/population.json, which a test compares). The network sees
least-squares values at the pilots and the noise variance; neither the channel nor its profile.

The network is a mixture of linear MMSE estimators. Each of K profiles has trained tap powers at delays half a sample apart;
the evidence of the pilots of all antennas together weighs them, and the answer is the mean of the K estimates by those weights.
With P_k the powers and R_k their covariance, R_k = U·diag(l)·U^H at the pilots makes both closed forms for any noise variance:

    log w_k = log pi_k - sum |U^H h|^2/(l + N0) - sum log(l + N0),   h_k = R_k(all, pilots)·U·(U^H h/(l + N0))

Loss: log of the mean squared error of a batch, and a hundredth of minus its log evidence per pilot. Rule: least mean of
log10 NMSE over SNR and profiles. The bound is linear MMSE with the profile that was drawn, which no receiver knows.

Source of the shape: Koller, Fesl, Turan and Utschick, "An asymptotically MSE-optimal estimator based on Gaussian mixture
models", IEEE Trans. Signal Process. 70, 2022.

    PYTHONPATH=<torch> python3 recipes/models/pilot-channel-estimator-v1/training/train.py
"""

import json
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
SEEDS = {"training": 91, "validation": 92, "evaluation": 93, "population": 94}
STEPS, BATCH, LEARNING_RATE = 2400, 64, 4e-2
RX, TX, SUBCARRIERS, SPACING, BANDWIDTH = 2, 2, 64, 4, 64 * 30e3
PILOTS = SUBCARRIERS // SPACING
SNR_RANGE_DB, SNR_GRID_DB = (-8.0, 25.0), (-5.0, 0.0, 5.0, 10.0, 15.0, 20.0)
TAPS, MODELS, SPREAD_NS = (1, 8), ("A", "B", "C"), (30.0, 600.0)
GRID = [(snr, profile) for profile in (("taps", 4), ("C", 300.0)) for snr in SNR_GRID_DB]
CANDIDATES = {"mixture_1": {"profiles": 1}, "mixture_8": {"profiles": 8}}
DELAYS = np.arange(-4, 30) / 2
LEAST_NOISE = 1e-6
TABLES = json.loads((HERE.parents[3] / "lib/numeric/data/tdl_models.json").read_text())["models"]


def profile_of(kind, size):
    """Delays in samples and powers of sum 1, and the index of the first subcarrier: taps e^-l, or a TDL of a spread in ns."""
    if kind == "taps":
        powers = np.exp(-np.arange(size))
        return np.arange(size, dtype=float), powers / powers.sum(), 0
    powers = 10 ** (np.array(TABLES[kind]["powers_db"]) / 10)
    return np.array(TABLES[kind]["delays"]) * size * 1e-9 * BANDWIDTH, powers / powers.sum(), -(SUBCARRIERS // 2)


def response(delays, first=0, count=SUBCARRIERS):
    """exp(-j2pi k d/F), [tap, subcarrier]"""
    return np.exp(-2j * np.pi * (np.arange(count) + first) * delays[:, None] / SUBCARRIERS)


def complex_normal(rng, shape, variance):
    real, imaginary = rng.standard_normal(shape), rng.standard_normal(shape)
    return np.sqrt(variance / 2) * (real + 1j * imaginary)


def channels(rng, examples, profile):
    """[example, rx, tx, subcarrier]"""
    delays, powers, first = profile_of(*profile)
    taps = complex_normal(rng, (examples, RX, TX, len(powers)), 1) * np.sqrt(powers)
    return (taps @ response(delays, first)).astype(np.complex64)


def comb(rng):
    labels = rng.integers(0, 4, (TX, SUBCARRIERS))
    pilots = ((1 - 2 * (labels >> 1)) + 1j * (1 - 2 * (labels & 1))) / np.sqrt(2)
    return pilots * (np.arange(SUBCARRIERS) % SPACING == np.arange(TX)[:, None])


def observe(rng, channel, pilots, n0):
    """Least-squares values at the pilots, 0 elsewhere."""
    noise = complex_normal(rng, (len(channel), RX, SUBCARRIERS), n0)
    received = (np.einsum("nrtk,tk->nrk", channel, pilots) + noise).astype(np.complex64)
    power = abs(pilots) ** 2
    return received[:, :, None] * np.conj(pilots) / np.where(power > 0, power, 1)


def draw(rng, examples, snr_db, profile=None):
    """Examples of one SNR and one profile, or of a profile each."""
    if profile is None:
        parts = [channels(rng, 1, ("taps", int(rng.integers(TAPS[0], TAPS[1] + 1))) if rng.random() < 0.35
                          else (str(rng.choice(MODELS)), float(np.exp(rng.uniform(*np.log(SPREAD_NS))))))
                 for _ in range(examples)]
        channel = np.concatenate(parts)
    else:
        channel = channels(rng, examples, profile)
    n0 = 10 ** (-snr_db / 10)
    return {"channel": channel, "sparse": observe(rng, channel, comb(rng), n0), "n0": n0}


def at_pilots(sparse):
    """[example, rx, tx, pilot]"""
    return np.stack([sparse[:, :, t, t::SPACING] for t in range(TX)], 2)


# Between pilots and subcarriers only differences count: subcarriers -1 ... 63 as seen from the first pilot serve both antennas.
FIRST = 1 - TX
WINDOW = torch.tensor(response(DELAYS, FIRST, SUBCARRIERS - FIRST).T.copy())
COMB = torch.tensor(response(DELAYS)[:, ::SPACING].T.copy())


class Mixture(nn.Module):
    """As the slot calls it: real and imaginary part in the last axis; see the head of this file."""

    def __init__(self, profiles: int):
        super().__init__()
        start = torch.tensor(DELAYS)[None] * -torch.logspace(-1, 0.7, profiles)[:, None]
        self.power = nn.Parameter(torch.where(torch.tensor(DELAYS)[None] < 0, torch.tensor(-6.0), start).double())
        self.share = nn.Parameter(torch.zeros(profiles).double())

    def covariances(self):
        """R at the pilots [K, P, P], and from pilots to subcarriers [K, S, P]."""
        power = torch.softmax(self.power, 1).to(COMB.dtype)
        return (COMB * power[:, None]) @ COMB.mH, (WINDOW * power[:, None]) @ COMB.mH

    def estimate(self, pilots, n0):
        """For one noise variance: estimate [example, rx, tx, subcarrier] and log evidence [example]."""
        inner, across = self.covariances()
        factor = torch.linalg.cholesky(inner + n0 * torch.eye(PILOTS))
        white = torch.linalg.solve_triangular(factor[:, None], pilots.reshape(1, -1, PILOTS).mT[:, None], upper=False)[:, 0]
        whole = torch.linalg.solve_triangular(factor.mH, white, upper=True)
        shape = pilots.shape[:3]
        distance = (white.abs() ** 2).sum(1).reshape(-1, *shape).sum((2, 3))
        determinant = 2 * torch.log(torch.diagonal(factor, dim1=1, dim2=2).real).sum(1) * shape[1] * shape[2]
        evidence = torch.log_softmax(self.share, 0)[:, None] - distance - determinant[:, None]
        weights = torch.softmax(evidence, 0)
        each = (across @ whole).reshape(len(inner), -1, *shape)
        mixed = (each * weights[:, None, :, None, None]).sum(0)
        rows = [mixed[..., t].narrow(0, -FIRST - t, SUBCARRIERS) for t in range(TX)]
        return torch.stack(rows, -1).permute(1, 2, 3, 0), torch.logsumexp(evidence, 0)

    def forward(self, ls, noise, pilot_ls, mask):
        rows = []
        for own, n0 in zip(torch.view_as_complex(pilot_ls.double().contiguous()), noise[:, 0].double()):
            pilots = torch.tensor(at_pilots(own[None].numpy()))
            rows.append(torch.view_as_real(self.estimate(pilots, torch.clamp(n0, min=LEAST_NOISE))[0][0]))
        return torch.stack(rows).float()


def to_onnx(model: Mixture) -> bytes:
    """ls_estimate_ri, noise_variance, pilot_ls_ri, pilot_mask -> h_hat_ri"""
    with torch.no_grad():
        inner, across = (part.numpy() for part in model.covariances())
        share = torch.log_softmax(model.share, 0).numpy()
    count = len(inner)
    values, vectors = np.linalg.eigh(inner)
    values = np.maximum(values, 0)
    filters = across @ vectors
    graph = Graph("pilot_channel_estimator")
    grid = ["batch", "rx_antenna", TX, SUBCARRIERS, 2]
    graph.input("ls_estimate_ri", grid)
    noise = graph.input("noise_variance", ["batch", 1])
    sparse = graph.input("pilot_ls_ri", grid)
    mask = graph.input("pilot_mask", ["batch", TX, SUBCARRIERS])

    def op(kind, *inputs, **attributes):
        return graph.node(kind, list(inputs), **attributes)

    axis = {k: graph.integers(f"axis_{k}", [k]) for k in (1, 2, 3, 4)}
    known = op("Mul", sparse, op("Unsqueeze", mask, graph.integers("axes_14", [1, 4])))
    combs = [op("Gather", op("Gather", known, graph.index(f"antenna_{t}", t), axis=2),
                graph.integers(f"comb_{t}", np.arange(t, SUBCARRIERS, SPACING)), axis=2) for t in range(TX)]
    pilots = op("Concat", *(op("Unsqueeze", own, axis[2]) for own in combs), axis=2)
    hr, hi = (op("Gather", pilots, graph.index(f"part_{i}", i), axis=4) for i in (0, 1))
    # U of all profiles side by side, [pilot, K*P].
    side = np.concatenate(list(vectors), 1)
    ur, ui = graph.constant("basis.real", side.real), graph.constant("basis.imag", side.imag)
    zr = op("Add", op("MatMul", hr, ur), op("MatMul", hi, ui))
    zi = op("Sub", op("MatMul", hi, ur), op("MatMul", hr, ui))
    n0 = op("Max", noise, graph.constant("least_noise", LEAST_NOISE))
    level = op("Add", n0, graph.constant("values", values.reshape(-1)))  # [batch, K*P]
    spread = op("Unsqueeze", level, graph.integers("axes_12", [1, 2]))
    power = op("Div", op("Add", op("Mul", zr, zr), op("Mul", zi, zi)), spread)
    ones = op("ReduceMean", op("Mul", power, graph.constant("zero", 0.0)), axes=[3], keepdims=1)
    logs = op("Add", op("Unsqueeze", op("Log", level), graph.integers("axes_12", [1, 2])), ones)
    cost = op("ReduceSum", op("Add", power, logs), graph.integers("antennas", [1, 2]), keepdims=0)
    cost = op("Reshape", cost, graph.integers("by_profile", [-1, count, PILOTS]))
    evidence = op("Sub", graph.constant("share", share), op("ReduceSum", cost, axis[2], keepdims=0))
    weights = op("Softmax", evidence, axis=1)
    gain = op("Div", op("Reshape", op("Expand", op("Unsqueeze", weights, axis[2]), op("Shape", cost)),
                        graph.integers("flat", [-1, count * PILOTS])), level)
    gain = op("Unsqueeze", gain, graph.integers("axes_12", [1, 2]))
    zr, zi = op("Mul", zr, gain), op("Mul", zi, gain)
    stacked = np.concatenate(list(filters.transpose(0, 2, 1)), 0)  # [K*P, window]
    vr, vi = graph.constant("filter.real", stacked.real), graph.constant("filter.imag", stacked.imag)
    real = op("Sub", op("MatMul", zr, vr), op("MatMul", zi, vi))
    imaginary = op("Add", op("MatMul", zr, vi), op("MatMul", zi, vr))
    parts = []
    for part in (real, imaginary):
        rows = []
        for t in range(TX):
            own = op("Gather", part, graph.index(f"antenna_{t}", t), axis=2)
            at = [graph.integers(f"at_{k}", [k]) for k in (-FIRST - t, SUBCARRIERS - FIRST - t)]
            rows.append(op("Unsqueeze", op("Slice", own, *at, axis[2]), axis[2]))
        parts.append(op("Unsqueeze", op("Concat", *rows, axis=2), axis[4]))
    graph.node("Concat", parts, "h_hat_ri", axis=4)
    graph.output("h_hat_ri", grid)
    return graph.bytes()


def held_out(examples):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, examples, *point) for point in GRID] + [draw(rng, examples, snr) for snr in SNR_GRID_DB]


def estimated(model, drawn):
    with torch.no_grad():
        return model.estimate(torch.tensor(at_pilots(drawn["sparse"])), drawn["n0"])[0].numpy()


def nmse(estimate, channel):
    return np.sum(abs(estimate - channel) ** 2) / np.sum(abs(channel) ** 2)


def objective_on(population):
    return lambda model: float(np.mean([np.log10(nmse(estimated(model, d), d["channel"])) for d in population]))


def train(rng):
    def loss(model):
        drawn = draw(rng, BATCH, rng.uniform(*SNR_RANGE_DB))
        estimate, evidence = model.estimate(torch.tensor(at_pilots(drawn["sparse"])), drawn["n0"])
        error = (estimate - torch.tensor(drawn["channel"])).abs() ** 2
        return torch.log(error.mean()) - 0.01 * evidence.mean() / (RX * TX * PILOTS)

    watched = objective_on(held_out(64))

    def trained(name, configuration, curve):
        torch.manual_seed(SEEDS["training"])
        return fit(name, Mixture(**configuration), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE, every=120)

    return trained


def linear_mmse(drawn, profile, first_known=True):
    """R(all, pilots)·(R(pilots, pilots) + N0)^-1·h_LS of a profile."""
    delays, powers, first = profile_of(*profile)
    a = response(delays, first).T * np.sqrt(powers)
    rows = []
    for t in range(TX):
        own = a[t::SPACING]
        weights = a @ own.conj().T @ np.linalg.inv(own @ own.conj().T + drawn["n0"] * np.eye(PILOTS))
        rows.append(at_pilots(drawn["sparse"])[:, :, t] @ weights.T)
    return np.stack(rows, 2)


def interpolated(sparse):
    """least_squares of the slot."""
    full = np.empty_like(sparse)
    k = np.arange(SUBCARRIERS)
    for t in range(TX):
        at = k[t::SPACING]
        flat = sparse[:, :, t].reshape(-1, SUBCARRIERS)
        lines = [np.interp(k, at, row[at].real) + 1j * np.interp(k, at, row[at].imag) for row in flat]
        full[:, :, t] = np.reshape(lines, sparse[:, :, t].shape)
    return full


def evaluate(model, examples=1500):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for snr, profile in GRID + [(snr, p) for p in (("taps", 8), ("A", 100.0)) for snr in (0.0, 10.0, 20.0)]:
        drawn = draw(rng, examples, snr, profile)
        methods = {"least_squares": interpolated(drawn["sparse"]), "linear_mmse_4_taps": linear_mmse(drawn, ("taps", 4)),
                   "learned": estimated(model, drawn), "linear_mmse_true_profile": linear_mmse(drawn, profile)}
        row = {"snr_db": snr, "profile": f"{profile[0]} {profile[1]:g}", "examples": examples}
        for name, estimate in methods.items():
            # Examples are independent: the interval of the mean error over the mean energy.
            error = (abs(estimate - drawn["channel"]) ** 2).mean((1, 2, 3))
            half = 1.959963984540054 * error.std(ddof=1) / np.sqrt(examples)
            energy = (abs(drawn["channel"]) ** 2).mean()
            row[name] = [float(v / energy) for v in (error.mean(), error.mean() - half, error.mean() + half)]
        rows.append(row)
        print({k: f"{v[0]:.3e}" if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    return rows


def real_imaginary(values):
    return np.ascontiguousarray(np.stack([values.real, values.imag], -1), np.float32)


def main(names):
    population = held_out(500)
    chosen = select(HERE, "estimator", {n: CANDIDATES[n] for n in names}, train(np.random.default_rng(SEEDS["training"])),
                    objective_on(population), to_onnx)
    samples = [draw(np.random.default_rng(7), 1, 5.0, ("taps", 4)), draw(np.random.default_rng(8), 1, 15.0, ("C", 300.0))]
    sparse = np.concatenate([s["sparse"] for s in samples])
    mask = np.repeat((np.arange(SUBCARRIERS) % SPACING == np.arange(TX)[:, None])[None], 2, 0).astype(np.float32)
    keep(HERE, chosen, objective="mean of log10 NMSE over SNR and profiles",
         population_sha256=digest(*(d[k] for d in population for k in ("channel", "sparse"))),
         inputs={"ls_estimate_ri": real_imaginary(interpolated(sparse)),
                 "noise_variance": np.array([[s["n0"]] for s in samples], np.float32), "pilot_ls_ri": real_imaginary(sparse),
                 "pilot_mask": mask}, output="h_hat_ri", matrix=evaluate(chosen["model"]))
    seed = SEEDS["population"]
    stored = {"seeds": [seed, seed + 1, seed + 2], "snr_db": 7.0}
    for name, profile in (("taps", ("taps", 3)), ("tdl", ("B", 200.0))):
        channel = channels(np.random.default_rng(seed), 1, profile)
        own = observe(np.random.default_rng(seed + 2), channel, comb(np.random.default_rng(seed + 1)), 10 ** -0.7)
        stored[name] = {"channel": real_imaginary(channel).astype(float).ravel().round(7).tolist(),
                        "pilot_ls": real_imaginary(at_pilots(own)).astype(float).ravel().round(7).tolist()}
    write_json(HERE / "population.json", stored)


if __name__ == "__main__":
    main(sys.argv[1:] or list(CANDIDATES))
