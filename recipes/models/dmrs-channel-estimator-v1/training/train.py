"""Trains an estimator of OFDM channels from the DM-RS of one port on one OFDM symbol that finds the delay profile by itself.

Channels are those of wireless.channel (ofdm_tdl, 72 subcarriers 30 kHz apart): independent complex normal taps of a delay
profile, of mean power 1. Pilots are every second subcarrier (DM-RS type 1, port 0); the network sees their least-squares
values and the noise variance, neither the channel nor its profile.

The network is a mixture of linear MMSE estimators. Each of K profiles has trained tap powers at delays half a sample apart;
the evidence of the pilots of all receive antennas together weighs them. Mean and variance of the mixture leave:

    log w_k = log pi_k - sum |L^-1 h|^2 - 2 sum log diag L        with L L^H = R_k(pilots, pilots) + N0 I
    h = sum w_k h_k,  h_k = R_k(all, pilots) L^-H L^-1 h_LS       v = sum w_k (c_k + |h_k|^2) - |h|^2,  c_k its posterior variance

Loss: log of the mean squared error of a batch, and a hundredth of minus its log evidence per pilot. Rule: least mean of
log10 NMSE over SNR and profiles. The bound is linear MMSE with the profile that was drawn, which no receiver knows.

Source of the shape: Koller, Fesl, Turan and Utschick, "An asymptotically MSE-optimal estimator based on Gaussian mixture
models", IEEE Trans. Signal Process. 70, 2022.

    PYTHONPATH=<torch> python3 recipes/models/dmrs-channel-estimator-v1/training/train.py
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
from records import digest  # noqa: E402
from selection import fit, keep, select  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 95, "validation": 96, "evaluation": 97}
STEPS, BATCH, LEARNING_RATE = 1200, 64, 4e-2
RX, SUBCARRIERS, SPACING_HZ = 1, 72, 30e3
PILOTS = np.arange(0, SUBCARRIERS, 2)
SNR_RANGE_DB, SNR_GRID_DB = (-8.0, 25.0), (-5.0, 0.0, 5.0, 10.0, 15.0, 20.0)
MODELS, SPREAD_NS = ("A", "B", "C"), (30.0, 600.0)
GRID = [(snr, profile) for profile in (("A", 100.0), ("C", 300.0)) for snr in SNR_GRID_DB]
OUTSIDE = [(snr, profile) for profile in (("exponential", 300.0), ("C", 1000.0), ("A", 10.0)) for snr in (0.0, 10.0, 20.0)]
CANDIDATES = {"mixture_1": {"profiles": 1}, "mixture_8": {"profiles": 8}}
DELAYS = torch.arange(-4, 30) / (2 * SUBCARRIERS * SPACING_HZ)
LEAST_NOISE = 1e-6
TABLES = json.loads((HERE.parents[3] / "lib/numeric/data/tdl_models.json").read_text())["models"]


def profile_of(kind, spread_ns):
    """Delays in seconds, and powers of sum 1."""
    if kind == "exponential":
        delays = np.arange(0, 8, 0.05)
        powers = np.exp(-delays)
    else:
        delays, powers = np.array(TABLES[kind]["delays"]), 10 ** (np.array(TABLES[kind]["powers_db"]) / 10)
    return delays * spread_ns * 1e-9, powers / powers.sum()


def response(delays, subcarriers):
    """exp(-j2pi k df t), [tap, subcarrier]"""
    return np.exp(-2j * np.pi * SPACING_HZ * np.multiply.outer(delays, subcarriers))


def complex_normal(rng, shape, variance=1.0):
    return np.sqrt(variance / 2) * (rng.standard_normal(shape) + 1j * rng.standard_normal(shape))


def draw(rng, examples, snr_db, profile=None):
    """Examples of one SNR, and of one profile or a profile each."""
    def channels(count, drawn):
        delays, powers = profile_of(*drawn)
        taps = complex_normal(rng, (count, RX, len(powers))) * np.sqrt(powers)
        return taps @ response(delays, np.arange(SUBCARRIERS))

    def any_profile():
        return str(rng.choice(MODELS)), float(np.exp(rng.uniform(*np.log(SPREAD_NS))))

    channel = channels(examples, profile) if profile else np.concatenate([channels(1, any_profile()) for _ in range(examples)])
    n0 = 10 ** (-snr_db / 10)
    return {"channel": channel, "pilots": channel[..., PILOTS] + complex_normal(rng, (examples, RX, len(PILOTS)), n0), "n0": n0}


AT_PILOTS, AT_ALL = (torch.tensor(response(DELAYS.numpy(), k).T.copy()) for k in (PILOTS, np.arange(SUBCARRIERS)))


class Mixture(nn.Module):
    """As the slot calls it: real and imaginary part in the last axis; see the head of this file."""

    def __init__(self, profiles: int):
        super().__init__()
        steps = torch.arange(len(DELAYS)) / 2 - 2
        start = -torch.logspace(-1, 0.7, profiles)[:, None] * steps
        self.power = nn.Parameter(torch.where(steps < 0, torch.tensor(-6.0), start).double())
        self.share = nn.Parameter(torch.zeros(profiles).double())

    def covariances(self):
        """R at the pilots [K, P, P], and from pilots to subcarriers [K, S, P]."""
        power = torch.softmax(self.power, 1).to(AT_ALL.dtype)[:, None]
        return (AT_PILOTS * power) @ AT_PILOTS.mH, (AT_ALL * power) @ AT_PILOTS.mH

    def estimate(self, pilots, n0):
        """For one noise variance: estimate and variance [example, rx, subcarrier], and log evidence [example]."""
        inner, across = self.covariances()
        factor = torch.linalg.cholesky(inner + n0 * torch.eye(len(PILOTS)))
        flat = pilots.reshape(-1, len(PILOTS)).mT.expand(len(inner), -1, -1)
        white = torch.linalg.solve_triangular(factor, flat, upper=False)  # [K, P, row]
        seen = torch.linalg.solve_triangular(factor, across.mH, upper=False)  # [K, P, S]
        distance = (white.abs() ** 2).sum(1).reshape(-1, *pilots.shape[:2]).sum(2)
        determinant = 2 * torch.log(torch.diagonal(factor, dim1=1, dim2=2).real).sum(1) * pilots.shape[1]
        evidence = torch.log_softmax(self.share, 0)[:, None] - distance - determinant[:, None]
        weights = torch.softmax(evidence, 0)[:, :, None, None]
        each = (white.mT @ seen.conj()).reshape(len(inner), *pilots.shape[:2], SUBCARRIERS)
        mixed, posterior = (each * weights).sum(0), 1 - (seen.abs() ** 2).sum(1)[:, None, None]
        variance = (weights * (posterior + each.abs() ** 2)).sum(0) - mixed.abs() ** 2
        return mixed, variance, torch.logsumexp(evidence, 0)

    def forward(self, ls, noise, pilot_ls, mask):
        rows = []
        for own, n0 in zip(torch.view_as_complex(pilot_ls.double().contiguous()), noise[:, 0].double()):
            rows.append(self.estimate(own[None, :, 0, PILOTS], torch.clamp(n0, min=LEAST_NOISE))[:2])
        found, variance = (torch.cat(part)[:, :, None] for part in zip(*rows))
        return torch.view_as_real(found).float(), variance.float()


def to_onnx(model: Mixture) -> bytes:
    """ls_estimate_ri, noise_variance, pilot_ls_ri, pilot_mask -> h_hat_ri, error_variance.

    R = U diag(l) U^H at the pilots serves every noise variance: L^-1 h becomes U^H h / sqrt(l + N0). The graph has U, and makes
    (R_k(all, pilots) U)^T = U^T conj(A_p) diag(power) A^T of it, with the responses A of the delays, of which A_p are the pilots.
    """
    with torch.no_grad():
        inner = model.covariances()[0].numpy()
        delay_power, share = torch.softmax(model.power, 1).numpy(), torch.log_softmax(model.share, 0).numpy()
    values, vectors = np.linalg.eigh(inner)
    graph = Graph("dmrs_channel_estimator")
    grid = ["batch", "rx_antenna", 1, SUBCARRIERS, 2]
    graph.input("ls_estimate_ri", grid)
    noise = graph.input("noise_variance", ["batch", 1])
    sparse = graph.input("pilot_ls_ri", grid)
    mask = graph.input("pilot_mask", ["batch", 1, SUBCARRIERS])

    def op(kind, *inputs, **attributes):
        return graph.node(kind, list(inputs), **attributes)

    axis = {k: graph.integers(f"axis_{k}", [k]) for k in (1, 2, 3)}

    def square(real, imaginary):
        return op("Add", op("Mul", real, real), op("Mul", imaginary, imaginary))

    known = op("Mul", sparse, op("Unsqueeze", mask, graph.integers("axes_14", [1, 4])))
    pilots = op("Gather", op("Gather", known, graph.index("port", 0), axis=2), graph.integers("comb", PILOTS), axis=2)
    pilots = op("Unsqueeze", pilots, axis[1])  # [batch, 1, rx, pilot, 2]
    hr, hi = (op("Gather", pilots, graph.index(f"part_{i}", i), axis=4) for i in (0, 1))
    ur, ui = graph.constant("basis.real", vectors.real), graph.constant("basis.imag", vectors.imag)
    zr = op("Add", op("MatMul", hr, ur), op("MatMul", hi, ui))  # [batch, K, rx, pilot]
    zi = op("Sub", op("MatMul", hi, ur), op("MatMul", hr, ui))
    n0 = op("Max", noise, graph.constant("least_noise", LEAST_NOISE))
    level = op("Add", op("Unsqueeze", n0, axis[2]), graph.constant("values", np.maximum(values, 0)))  # [batch, K, pilot]
    level = op("Unsqueeze", level, axis[2])
    cost = op("Add", op("Div", square(zr, zi), level), op("Log", level))
    cost = op("ReduceSum", cost, graph.integers("axes_23", [2, 3]), keepdims=1)
    evidence = op("Sub", graph.constant("share", share[:, None, None]), cost)
    weights = op("Softmax", evidence, axis=1)  # [batch, K, 1, 1]
    zr, zi = op("Div", zr, level), op("Div", zi, level)
    responses = AT_ALL.numpy().T
    ar, ai = graph.constant("response.real", responses.real), graph.constant("response.imag", responses.imag)
    pr, pi = (op("Transpose", op("Gather", part, "comb", axis=1), perm=[1, 0]) for part in (ar, ai))
    vr, vi = (op("Transpose", part, perm=[0, 2, 1]) for part in (ur, ui))
    weight = graph.constant("delay_power", delay_power[:, None])
    gr = op("Mul", op("Add", op("MatMul", vr, pr), op("MatMul", vi, pi)), weight)  # [K, pilot, delay]
    gi = op("Mul", op("Sub", op("MatMul", vi, pr), op("MatMul", vr, pi)), weight)
    fr = op("Sub", op("MatMul", gr, ar), op("MatMul", gi, ai))  # [K, pilot, subcarrier]
    fi = op("Add", op("MatMul", gr, ai), op("MatMul", gi, ar))
    real = op("Sub", op("MatMul", zr, fr), op("MatMul", zi, fi))  # [batch, K, rx, subcarrier]
    imaginary = op("Add", op("MatMul", zr, fi), op("MatMul", zi, fr))
    explained = op("MatMul", op("Reciprocal", level), square(fr, fi))
    posterior = op("Sub", square(real, imaginary), op("Sub", explained, graph.constant("one", 1.0)))

    def mixed(each):
        return op("ReduceSum", op("Mul", weights, each), axis[1], keepdims=0)  # [batch, rx, subcarrier]

    real, imaginary = mixed(real), mixed(imaginary)
    variance = op("Relu", op("Sub", mixed(posterior), square(real, imaginary)))
    graph.node("Unsqueeze", [variance, axis[2]], "error_variance")
    parts = [op("Unsqueeze", part, graph.integers("axes_24", [2, 4])) for part in (real, imaginary)]
    graph.node("Concat", parts, "h_hat_ri", axis=4)
    graph.output("h_hat_ri", grid)
    graph.output("error_variance", grid[:-1])
    return graph.bytes()


def held_out(examples):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, examples, *point) for point in GRID] + [draw(rng, examples, snr) for snr in SNR_GRID_DB]


def estimated(model, drawn):
    with torch.no_grad():
        return [part.numpy() for part in model.estimate(torch.tensor(drawn["pilots"]), drawn["n0"])[:2]]


def nmse(estimate, channel):
    return np.sum(abs(estimate - channel) ** 2) / np.sum(abs(channel) ** 2)


def objective_on(population):
    return lambda model: float(np.mean([np.log10(nmse(estimated(model, d)[0], d["channel"])) for d in population]))


def train(rng):
    def loss(model):
        drawn = draw(rng, BATCH, rng.uniform(*SNR_RANGE_DB))
        estimate, _, evidence = model.estimate(torch.tensor(drawn["pilots"]), drawn["n0"])
        error = (estimate - torch.tensor(drawn["channel"])).abs() ** 2
        return torch.log(error.mean()) - 0.01 * evidence.mean() / (RX * len(PILOTS))

    watched = objective_on(held_out(64))

    def trained(name, configuration, curve):
        torch.manual_seed(SEEDS["training"])
        return fit(name, Mixture(**configuration), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE, every=120)

    return trained


def linear_mmse(drawn, profile):
    """Method lmmse of model.ofdm_channel_estimator with a profile."""
    delays, powers = profile_of(*profile)
    all_subcarriers = response(delays, np.arange(SUBCARRIERS)).T * np.sqrt(powers)
    own = all_subcarriers[PILOTS]
    inner = own @ own.conj().T + drawn["n0"] * np.eye(len(PILOTS))
    return drawn["pilots"] @ np.linalg.solve(inner.T, (all_subcarriers @ own.conj().T).T)


def interpolated(pilots):
    """Method least_squares."""
    rows = pilots.reshape(-1, len(PILOTS))
    k = np.arange(SUBCARRIERS)
    lines = [np.interp(k, PILOTS, row.real) + 1j * np.interp(k, PILOTS, row.imag) for row in rows]
    return np.reshape(lines, (*pilots.shape[:-1], SUBCARRIERS))


def evaluate(model, examples=3000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for snr, profile in GRID + OUTSIDE:
        drawn = draw(rng, examples, snr, profile)
        learned, variance = estimated(model, drawn)
        methods = {"least_squares": interpolated(drawn["pilots"]),
                   "linear_mmse_100_ns": linear_mmse(drawn, ("exponential", 100.0)),
                   "linear_mmse_true_spread": linear_mmse(drawn, ("exponential", profile[1])),
                   "learned": learned, "linear_mmse_true_profile": linear_mmse(drawn, profile)}
        row = {"snr_db": snr, "profile": f"{profile[0]} {profile[1]:g}", "examples": examples}
        for name, estimate in methods.items():
            # Examples are independent: the interval of the mean error over the mean energy.
            error = (abs(estimate - drawn["channel"]) ** 2).mean((1, 2))
            half = 1.959963984540054 * error.std(ddof=1) / np.sqrt(examples)
            energy = (abs(drawn["channel"]) ** 2).mean()
            row[name] = [float(v / energy) for v in (error.mean(), error.mean() - half, error.mean() + half)]
        row["learned_error_over_variance"] = float((abs(learned - drawn["channel"]) ** 2).mean() / variance.mean())
        rows.append(row)
        print({k: f"{v[0]:.3e}" if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    return rows


def on_grid(values, at):
    """[example, rx, 1, subcarrier, 2], 0 beside the given subcarriers."""
    grid = np.zeros((*values.shape[:2], 1, SUBCARRIERS, 2), np.float32)
    grid[:, :, 0, at] = np.stack([values.real, values.imag], -1)
    return grid


def main(names):
    population = held_out(500)
    chosen = select(HERE, "estimator", {n: CANDIDATES[n] for n in names}, train(np.random.default_rng(SEEDS["training"])),
                    objective_on(population), to_onnx)
    samples = [draw(np.random.default_rng(7), 1, 5.0, ("A", 100.0)), draw(np.random.default_rng(8), 1, 15.0, ("C", 300.0))]
    pilots = np.concatenate([s["pilots"] for s in samples])
    mask = np.zeros((len(samples), 1, SUBCARRIERS), np.float32)
    mask[..., PILOTS] = 1
    keep(HERE, chosen, objective="mean of log10 NMSE over SNR and profiles",
         population_sha256=digest(*(d[k] for d in population for k in ("channel", "pilots"))),
         inputs={"ls_estimate_ri": on_grid(interpolated(pilots), slice(None)),
                 "noise_variance": np.array([[s["n0"]] for s in samples], np.float32),
                 "pilot_ls_ri": on_grid(pilots, PILOTS), "pilot_mask": mask},
         output=["h_hat_ri", "error_variance"], matrix=evaluate(chosen["model"]))


if __name__ == "__main__":
    main(sys.argv[1:] or list(CANDIDATES))
