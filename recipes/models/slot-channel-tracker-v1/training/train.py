"""Channel estimator of a whole slot from two DM-RS symbols, for receivers in motion.

Frames are those of recipes/ofdm_channel_tracking_learned.yaml: 72 subcarriers 30 kHz apart and 14 OFDM symbols, Rayleigh taps
of TDL-A, B or C with a random delay spread and a random Doppler shift (Jakes), pilots on every second subcarrier of OFDM
symbols 2 and 11. The network sees their least-squares values and the noise variance; neither delay profile nor Doppler shift.

The network is a mixture of linear MMSE estimators over frequency and time. D delay profiles have trained tap powers at delays
half a sample apart, M Doppler spectra trained powers at shifts of ±f; one trained table has the share of each of the D·M
pairs. The evidence of the pilots of both OFDM symbols and all receive antennas weighs the pairs. The sum and the difference
h± of both pilot symbols over the root of 2 are uncorrelated for every spectrum, so with r the correlation in time, F that in
frequency, λ± = 1 ± r(9) and c±(s) = (r(s - 2) ± r(s - 11))/√2:

    log w = log share - Σ± (|L±^-1 h±|² + 2 Σ log diag L±)          with L± L±^H = λ± F(pilots, pilots) + N0 I
    h(s) = Σ w Σ± c±(s) F(all, pilots) (L± L±^H)^-1 h±               v(s) = Σ w (posterior variance + |h of the pair|²) - |h|²

Loss: log of the mean squared error of a batch, and a hundredth of minus its log evidence per pilot. Rule: least mean of
log10 NMSE over Es/N0, profiles and Doppler shifts. The bound is linear MMSE with the profile and the spectrum that were drawn.

Source of the shape: Koller, Fesl, Turan and Utschick, "An asymptotically MSE-optimal estimator based on Gaussian mixture
models", IEEE Trans. Signal Process. 70, 2022; of the product over frequency and time: Hoeher, Kaiser and Robertson,
"Two-dimensional pilot-symbol-aided channel estimation by Wiener filtering", ICASSP 1997.

    PYTHONPATH=<torch> python3 recipes/models/slot-channel-tracker-v1/training/train.py            # writes the files beside it
    PYTHONPATH=<torch> python3 recipes/models/slot-channel-tracker-v1/training/train.py --again    # another seed: second_run.json
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
SEEDS = {"training": 105, "validation": 106, "evaluation": 107}
AGAIN = 108
STEPS, BATCH, LEARNING_RATE = 800, 64, 4e-2
RX, SYMBOLS, SUBCARRIERS, SPACING_HZ = 1, 14, 72, 30e3
INTERVAL = 15 / 14 / SPACING_HZ
TIMES, PILOTS = np.array([2, 11]), np.arange(0, SUBCARRIERS, 2)
SNR_RANGE_DB, SPREAD_NS, SHIFT_HZ, MODELS = (-8.0, 25.0), (30.0, 600.0), (0.0, 1200.0), ("A", "B", "C")
GRID = [(snr, profile, shift) for profile in (("A", 100.0), ("C", 300.0)) for shift in (9.73, 194.6, 389.2, 810.7)
        for snr in (0.0, 10.0, 20.0)]
OUTSIDE = [(15.0, ("C", 300.0), 1621.4), (15.0, ("C", 1000.0), 389.2), (15.0, ("A", 10.0), 389.2),
           (15.0, ("one path", 0.0), 389.2), (15.0, ("one path", 0.0), 810.7)]
CANDIDATES = {"mixture_8x1": {"profiles": 8, "spectra": 1}, "mixture_8x6": {"profiles": 8, "spectra": 6}}
DELAYS = torch.arange(-4, 30) / (2 * SUBCARRIERS * SPACING_HZ)
SHIFTS = torch.arange(0, 1300.1, 50.0).double()
LEAST_NOISE = 1e-6
TABLES = json.loads((HERE.parents[3] / "lib/numeric/data/tdl_models.json").read_text())["models"]


def profile_of(kind, spread_ns):
    """Delays in seconds, and powers of sum 1."""
    if kind == "exponential":
        delays = np.arange(0, 8, 0.05)
        powers = np.exp(-delays)
    elif kind == "one path":
        delays, powers = np.zeros(1), np.ones(1)
    else:
        delays, powers = np.array(TABLES[kind]["delays"]), 10 ** (np.array(TABLES[kind]["powers_db"]) / 10)
    return delays * spread_ns * 1e-9, powers / powers.sum()


def response(delays, subcarriers):
    """exp(-j2pi k df t), [tap, subcarrier]"""
    return np.exp(-2j * np.pi * SPACING_HZ * np.multiply.outer(delays, subcarriers))


def jakes(shift_hz, distance):
    """Correlation in time at distances in OFDM symbols."""
    return torch.special.bessel_j0(torch.tensor(2 * np.pi * shift_hz * INTERVAL * np.asarray(distance, float))).numpy()


def complex_normal(rng, shape, variance=1.0):
    return np.sqrt(variance / 2) * (rng.standard_normal(shape) + 1j * rng.standard_normal(shape))


def channels(rng, count, profile, shift_hz):
    """[example, rx, symbol, subcarrier] of Rayleigh taps; `one path` has one ray of gain 1 that comes from ahead."""
    delays, powers = profile_of(*profile)
    steps = np.arange(SYMBOLS)
    if profile[0] == "one path":
        phase = rng.uniform(0, 2 * np.pi, (count, RX, 1, 1)) + 2 * np.pi * shift_hz * INTERVAL * steps[:, None]
        return np.exp(1j * phase) * np.ones(SUBCARRIERS)
    values, vectors = np.linalg.eigh(jakes(shift_hz, np.subtract.outer(steps, steps)))
    root = vectors * np.sqrt(np.maximum(values, 0))
    taps = root @ complex_normal(rng, (count, RX, SYMBOLS, len(powers))) * np.sqrt(powers)
    return taps @ response(delays, np.arange(SUBCARRIERS))


def draw(rng, examples, snr_db, profile=None, shift_hz=None):
    """Examples of one Es/N0, and of one profile and Doppler shift or of a pair each."""
    def any_pair():
        return (str(rng.choice(MODELS)), float(np.exp(rng.uniform(*np.log(SPREAD_NS))))), float(rng.uniform(*SHIFT_HZ))

    channel = (channels(rng, examples, profile, shift_hz) if profile
               else np.concatenate([channels(rng, 1, *any_pair()) for _ in range(examples)]))
    n0 = 10 ** (-snr_db / 10)
    seen = channel[:, :, TIMES][..., PILOTS]
    return {"channel": channel, "pilots": seen + complex_normal(rng, seen.shape, n0), "n0": n0}


AT_PILOTS, AT_ALL = (torch.tensor(response(DELAYS.numpy(), k).T.copy()) for k in (PILOTS, np.arange(SUBCARRIERS)))


def over_time(weights, distance):
    """Correlation of spectra [M, shift] at distances in OFDM symbols, [M, ...]."""
    turn = torch.cos(2 * torch.pi * INTERVAL * SHIFTS[:, None] * torch.tensor(np.ravel(distance), dtype=torch.float64))
    return (weights @ turn).reshape(len(weights), *np.shape(distance))


class Mixture(nn.Module):
    """As the slot calls it: real and imaginary part in the last axis; see the head of this file."""

    def __init__(self, profiles: int, spectra: int):
        super().__init__()
        steps = torch.arange(len(DELAYS)) / 2 - 2
        start = -torch.logspace(-1, 0.7, profiles)[:, None] * steps
        self.power = nn.Parameter(torch.where(steps < 0, torch.tensor(-6.0), start).double())
        largest = (torch.arange(spectra) + 0.5)[:, None] * SHIFT_HZ[1] / spectra
        inside = torch.clamp(1 - (SHIFTS / largest) ** 2, min=0.02)
        self.spectrum = nn.Parameter(torch.where(SHIFTS <= largest, -0.5 * torch.log(inside), torch.tensor(-5.0).double()))
        self.share = nn.Parameter(torch.zeros(profiles, spectra).double())

    def frequency(self):
        """F at the pilots [D, P, P], and from pilots to subcarriers [D, S, P]."""
        power = torch.softmax(self.power, 1).to(AT_ALL.dtype)[:, None]
        return (AT_PILOTS * power) @ AT_PILOTS.mH, (AT_ALL * power) @ AT_PILOTS.mH

    def time(self):
        """λ± [M, 2] and c± [M, 2, symbol]."""
        weights = torch.softmax(self.spectrum, 1)
        between = over_time(weights, TIMES[1] - TIMES[0])
        first, second = (over_time(weights, np.arange(SYMBOLS) - t) for t in TIMES)
        return torch.stack([1 + between, 1 - between], 1), torch.stack([first + second, first - second], 1) / 2 ** 0.5

    def estimate(self, pilots, n0, with_variance=True):
        """For one noise variance: estimate and variance [example, rx, symbol, subcarrier], and log evidence [example]."""
        examples, rx = pilots.shape[:2]
        inner, across = self.frequency()
        level, cross = self.time()
        both = torch.stack([pilots[:, :, 0] + pilots[:, :, 1], pilots[:, :, 0] - pilots[:, :, 1]]) / 2 ** 0.5
        noisy = level[None, :, :, None, None] * inner[:, None, None] + n0 * torch.eye(len(PILOTS))
        factor = torch.linalg.cholesky(noisy)  # [D, M, 2, P, P]
        flat = both.reshape(2, examples * rx, len(PILOTS)).mT.expand(*factor.shape[:2], -1, -1, -1)
        white = torch.linalg.solve_triangular(factor, flat, upper=False)  # [D, M, 2, P, row]
        seen = torch.linalg.solve_triangular(factor, across.mH[:, None, None].expand(*factor.shape[:3], -1, -1), upper=False)
        distance = (white.abs() ** 2).sum((2, 3)).reshape(*factor.shape[:2], examples, rx).sum(3)
        determinant = 2 * torch.log(torch.diagonal(factor, dim1=-2, dim2=-1).real).sum((2, 3)) * rx
        shares = torch.log_softmax(self.share.flatten(), 0).reshape(self.share.shape)
        evidence = (shares[:, :, None] - distance - determinant[:, :, None]).flatten(0, 1)
        weights = torch.softmax(evidence, 0).reshape(distance.shape)
        each = (white.mT @ seen.conj()).reshape(*factor.shape[:3], examples, rx, SUBCARRIERS)
        weighted = (weights[:, :, None, :, None, None] * each).sum(0)  # [M, 2, example, rx, S]
        mixed = torch.einsum("mpebs,mpt->ebts", weighted, cross.to(weighted.dtype))
        score = torch.logsumexp(evidence, 0)
        if not with_variance:
            return mixed, None, score
        moments = torch.stack([each[:, :, 0].abs() ** 2, each[:, :, 1].abs() ** 2,
                               2 * (each[:, :, 0] * each[:, :, 1].conj()).real], 2)
        powers = (weights[:, :, None, :, None, None] * moments).sum(0)
        pairs = torch.stack([cross[:, 0] ** 2, cross[:, 1] ** 2, cross[:, 0] * cross[:, 1]], 1)
        explained = torch.einsum("dme,dmps->mpes", weights, (seen.abs() ** 2).sum(3))
        posterior = 1 - torch.einsum("mpes,mpt->ets", explained, cross ** 2)[:, None]
        variance = posterior + torch.einsum("mpebs,mpt->ebts", powers, pairs) - mixed.abs() ** 2
        return mixed, variance, score

    def forward(self, ls, noise, pilot_ls, mask):
        rows = []
        for own, n0 in zip(torch.view_as_complex(pilot_ls.double().contiguous()), noise[:, 0].double()):
            grid = own[None, :, 0].reshape(1, -1, SYMBOLS, SUBCARRIERS)
            rows.append(self.estimate(grid[:, :, TIMES][..., PILOTS], torch.clamp(n0, min=LEAST_NOISE))[:2])
        found, variance = (torch.cat(part).flatten(2)[:, :, None] for part in zip(*rows))
        return torch.view_as_real(found).float(), torch.relu(variance).float()


def to_onnx(model: Mixture) -> bytes:
    """ls_estimate_ri, noise_variance, pilot_ls_ri, pilot_mask -> h_hat_ri, error_variance.

    F = U diag(l) U^H at the pilots serves every noise variance and λ±: (L± L±^H)^-1 h± becomes U (U^H h± / (λ± l + N0)). The
    graph has U, and makes (F(all, pilots) U)^T = U^T conj(A_p) diag(power) A^T of it, with the responses A of the delays, of
    which A_p are the pilots.
    """
    with torch.no_grad():
        inner = model.frequency()[0].numpy()
        delay_power = torch.softmax(model.power, 1).numpy()
        share = torch.log_softmax(model.share.flatten(), 0).numpy()
        level, cross = (part.numpy() for part in model.time())
    values, vectors = np.linalg.eigh(inner)
    profiles, spectra = len(inner), len(level)
    graph = Graph("slot_channel_tracker")
    size = SYMBOLS * SUBCARRIERS
    grid = ["batch", "rx_antenna", 1, size, 2]
    graph.input("ls_estimate_ri", grid)
    noise = graph.input("noise_variance", ["batch", 1])
    sparse = graph.input("pilot_ls_ri", grid)
    mask = graph.input("pilot_mask", ["batch", 1, size])

    def op(kind, *inputs, **attributes):
        return graph.node(kind, list(inputs), **attributes)

    def axes(*which):
        return graph.integers("axes_" + "_".join(map(str, which)), which)

    def reshape(x, *shape):
        return op("Reshape", x, graph.integers("shape_" + "_".join(map(str, shape)).replace("-", "m"), shape))

    def square(real, imaginary):
        return op("Add", op("Mul", real, real), op("Mul", imaginary, imaginary))

    known = op("Mul", sparse, op("Unsqueeze", mask, axes(1, 4)))
    places = (TIMES[:, None] * SUBCARRIERS + PILOTS).ravel()
    pilots = op("Gather", op("Gather", known, graph.index("port", 0), axis=2), graph.integers("comb", places), axis=2)
    # [batch, rx, pilot symbol, pilot, 2]; 0 keeps the size of an axis.
    pilots = op("Reshape", pilots, graph.integers("by_symbol", [0, 0, 2, len(PILOTS), 2]))
    first, second = (op("Gather", pilots, graph.index(f"symbol_{i}", i), axis=2) for i in (0, 1))
    root = graph.constant("root_half", 0.5 ** 0.5)
    both = [op("Unsqueeze", op("Mul", op(kind, first, second), root), axes(1)) for kind in ("Add", "Sub")]
    both = op("Unsqueeze", op("Concat", *both, axis=1), axes(1))  # [batch, 1, ±, rx, pilot, 2]
    hr, hi = (op("Gather", both, graph.index(f"part_{i}", i), axis=5) for i in (0, 1))
    ur, ui = graph.constant("basis.real", vectors.real[:, None]), graph.constant("basis.imag", vectors.imag[:, None])
    zr = op("Unsqueeze", op("Add", op("MatMul", hr, ur), op("MatMul", hi, ui)), axes(2))  # [batch, D, 1, ±, rx, pilot]
    zi = op("Unsqueeze", op("Sub", op("MatMul", hi, ur), op("MatMul", hr, ui)), axes(2))
    n0 = op("Unsqueeze", op("Max", noise, graph.constant("least_noise", LEAST_NOISE)), axes(2, 3, 4, 5))
    own = np.maximum(values, 0)[:, None, None, None] * level[:, :, None, None]  # [D, M, ±, 1, pilot]
    level = op("Add", n0, graph.constant("values", own))
    cost = op("ReduceSum", op("Add", op("Div", square(zr, zi), level), op("Log", level)), axes(3, 4, 5), keepdims=0)
    evidence = op("Sub", graph.constant("share", share), reshape(cost, -1, profiles * spectra))
    weights = op("Unsqueeze", reshape(op("Softmax", evidence, axis=1), -1, profiles, spectra), axes(3, 4, 5))
    zr, zi = op("Div", zr, level), op("Div", zi, level)
    responses = AT_ALL.numpy().T
    ar, ai = graph.constant("response.real", responses.real), graph.constant("response.imag", responses.imag)
    pr, pi = (op("Transpose", op("Gather", part, graph.integers("pilots", PILOTS), axis=1), perm=[1, 0]) for part in (ar, ai))
    vr, vi = (op("Transpose", part, perm=[0, 1, 3, 2]) for part in (ur, ui))
    power = graph.constant("delay_power", delay_power[:, None, None])
    gr = op("Mul", op("Add", op("MatMul", vr, pr), op("MatMul", vi, pi)), power)  # [D, 1, pilot, delay]
    gi = op("Mul", op("Sub", op("MatMul", vi, pr), op("MatMul", vr, pi)), power)
    fr = op("Unsqueeze", op("Sub", op("MatMul", gr, ar), op("MatMul", gi, ai)), axes(1))  # [D, 1, 1, pilot, subcarrier]
    fi = op("Unsqueeze", op("Add", op("MatMul", gr, ai), op("MatMul", gi, ar)), axes(1))
    real = op("Sub", op("MatMul", zr, fr), op("MatMul", zi, fi))  # [batch, D, M, ±, rx, subcarrier]
    imaginary = op("Add", op("MatMul", zr, fi), op("MatMul", zi, fr))
    explained = op("MatMul", op("Reciprocal", level), square(fr, fi))  # [batch, D, M, ±, 1, subcarrier]

    def spread(each, name, shares):
        """Weighs the pairs, and gives every OFDM symbol its share [M, part, symbol]: [batch, rx, symbol, subcarrier]."""
        mixed = op("ReduceSum", op("Mul", weights, each), axes(1), keepdims=0)  # [batch, M, part, rx, subcarrier]
        mixed = op("Transpose", mixed, perm=[0, 3, 4, 1, 2])
        mixed = op("Reshape", mixed, graph.integers(f"{name}.shape", [0, 0, 0, -1]))
        mixed = op("MatMul", mixed, graph.constant(name, shares.reshape(-1, SYMBOLS)))
        return op("Transpose", mixed, perm=[0, 1, 3, 2])

    pairs = np.stack([cross[:, 0] ** 2, cross[:, 1] ** 2, 2 * cross[:, 0] * cross[:, 1]], 1)
    (pr, mr), (pi, mi) = ([op("Gather", part, graph.integers(f"sign_{i}", [i]), axis=3) for i in (0, 1)]
                          for part in (real, imaginary))
    products = op("Add", op("Mul", pr, mr), op("Mul", pi, mi))
    moments = op("Concat", square(real, imaginary), products, axis=3)
    real, imaginary = (spread(part, "over_time", cross) for part in (real, imaginary))
    posterior = op("Sub", graph.constant("one", 1.0), spread(explained, "over_time_squared", cross ** 2))
    variance = op("Add", posterior, op("Sub", spread(moments, "over_time_pairs", pairs), square(real, imaginary)))
    flat = graph.integers("flat", [0, 0, 1, size])
    graph.node("Relu", [op("Reshape", variance, flat)], "error_variance")
    parts = [op("Unsqueeze", op("Reshape", part, flat), axes(4)) for part in (real, imaginary)]
    graph.node("Concat", parts, "h_hat_ri", axis=4)
    graph.output("h_hat_ri", grid)
    graph.output("error_variance", grid[:-1])
    return graph.bytes()


def held_out(examples):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, examples, *point) for point in GRID]


def estimated(model, drawn, **options):
    with torch.no_grad():
        mean, variance, _ = model.estimate(torch.tensor(drawn["pilots"]), drawn["n0"], **options)
    return mean.numpy(), variance if variance is None else variance.numpy()


def nmse(estimate, channel):
    return np.sum(abs(estimate - channel) ** 2) / np.sum(abs(channel) ** 2)


def objective_on(population):
    return lambda model: float(np.mean([np.log10(nmse(estimated(model, d, with_variance=False)[0], d["channel"])) for d in population]))


def train(seed):
    rng = np.random.default_rng(seed)

    def loss(model):
        drawn = draw(rng, BATCH, rng.uniform(*SNR_RANGE_DB))
        estimate, _, evidence = model.estimate(torch.tensor(drawn["pilots"]), drawn["n0"], with_variance=False)
        error = (estimate - torch.tensor(drawn["channel"])).abs() ** 2
        return torch.log(error.mean()) - 0.01 * evidence.mean() / (RX * drawn["pilots"][0].size)

    watched = objective_on(held_out(24))

    def trained(name, configuration, curve):
        torch.manual_seed(seed)
        return fit(name, Mixture(**configuration), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE, every=100)

    return trained


def linear_mmse(drawn, profile):
    """Method lmmse of model.ofdm_channel_estimator in both pilot symbols; power of the estimates and of their noise."""
    delays, powers = profile_of(*profile)
    everywhere = response(delays, np.arange(SUBCARRIERS)).T * np.sqrt(powers)
    own = everywhere[PILOTS]
    inner = own @ own.conj().T + drawn["n0"] * np.eye(len(PILOTS))
    across = everywhere @ own.conj().T
    weights = np.linalg.solve(inner.T, across.T)
    power = np.einsum("pk,kp->k", weights, across.conj()).real
    return drawn["pilots"] @ weights, (power, drawn["n0"] * (abs(weights) ** 2).sum(0))


def interpolated(pilots):
    """Least squares in both pilot symbols, linear over frequency."""
    k = np.arange(SUBCARRIERS)
    lines = [np.interp(k, PILOTS, row.real) + 1j * np.interp(k, PILOTS, row.imag) for row in pilots.reshape(-1, len(PILOTS))]
    return np.reshape(lines, (*pilots.shape[:-1], SUBCARRIERS))


def linear_in_time(rows):
    """Between both pilot symbols; outside of them the nearest."""
    share = np.clip((np.arange(SYMBOLS) - TIMES[0]) / (TIMES[1] - TIMES[0]), 0, 1)[:, None]
    return rows[:, :, :1] * (1 - share) + rows[:, :, 1:] * share


def wiener(rows, powers, shift_hz):
    """time_interpolation wiener: LMMSE over time of the estimates of both pilot symbols, a subcarrier at a time."""
    inner, across = jakes(shift_hz, np.subtract.outer(TIMES, TIMES)), jakes(shift_hz, np.subtract.outer(np.arange(SYMBOLS), TIMES))
    out = np.empty((*rows.shape[:2], SYMBOLS, SUBCARRIERS), complex)
    for k, (power, noise) in enumerate(zip(*powers)):
        out[..., k] = rows[..., k] @ np.linalg.solve((power - noise) * inner + noise * np.eye(2), power * across.T)
    return out


def joint_mmse(drawn, profile, shift_hz):
    """Linear MMSE over frequency and time together, for the profile and the spectrum that were drawn."""
    delays, powers = profile_of(*profile)
    everywhere = response(delays, np.arange(SUBCARRIERS)).T * np.sqrt(powers)
    own, steps = everywhere[PILOTS], np.arange(SYMBOLS)
    correlation = np.exp(2j * np.pi * shift_hz * INTERVAL * np.arange(-SYMBOLS, SYMBOLS + 1)) if profile[0] == "one path" else \
        jakes(shift_hz, np.arange(-SYMBOLS, SYMBOLS + 1))
    over = correlation[np.subtract.outer(steps, TIMES) + SYMBOLS]
    inner = np.kron(over[TIMES], own @ own.conj().T) + drawn["n0"] * np.eye(2 * len(PILOTS))
    across = np.kron(over, everywhere @ own.conj().T)
    flat = drawn["pilots"].reshape(*drawn["pilots"].shape[:2], -1)
    return (flat @ np.linalg.solve(inner.T, across.T)).reshape(drawn["channel"].shape)


def evaluate(model, examples=1000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for snr, profile, shift in GRID + OUTSIDE:
        drawn = draw(rng, examples, snr, profile, shift)
        learned, variance = estimated(model, drawn)
        filtered, powers = linear_mmse(drawn, ("exponential", profile[1]))
        methods = {"least_squares_linear": linear_in_time(interpolated(drawn["pilots"])),
                   "lmmse_linear": linear_in_time(filtered),
                   "wiener_0_hz": wiener(filtered, powers, 0.0), "wiener_1621_hz": wiener(filtered, powers, 1621.4),
                   "wiener_true_shift": wiener(filtered, powers, shift),
                   "learned": learned, "joint_mmse_true": joint_mmse(drawn, profile, shift)}
        row = {"snr_db": snr, "profile": f"{profile[0]} {profile[1]:g}", "doppler_hz": shift, "examples": examples}
        for name, estimate in methods.items():
            # Examples are independent: the interval of the mean error over the mean energy.
            loss = (abs(estimate - drawn["channel"]) ** 2).mean((1, 2, 3))
            half = 1.959963984540054 * loss.std(ddof=1) / np.sqrt(examples)
            energy = (abs(drawn["channel"]) ** 2).mean()
            row[name] = [float(v / energy) for v in (loss.mean(), loss.mean() - half, loss.mean() + half)]
        row["learned_error_over_variance"] = float((abs(learned - drawn["channel"]) ** 2).mean() / variance.mean())
        rows.append(row)
        print({k: f"{v[0]:.3e}" if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    return rows


def on_grid(values, times, at):
    """[example, rx, 1, symbol · subcarrier, 2], 0 beside the given OFDM symbols and subcarriers."""
    grid = np.zeros((*values.shape[:2], SYMBOLS, SUBCARRIERS, 2), np.float32)
    grid[np.ix_(range(len(values)), range(values.shape[1]), times, at)] = np.stack([values.real, values.imag], -1)
    return grid.reshape(*values.shape[:2], 1, SYMBOLS * SUBCARRIERS, 2)


def main(arguments):
    if arguments == ["--again"]:
        model = train(AGAIN)("mixture_8x6", CANDIDATES["mixture_8x6"], []).eval()
        objective = objective_on(held_out(200))(model)
        matrix = [{k: row[k] for k in ("snr_db", "profile", "doppler_hz", "examples", "learned")} for row in evaluate(model)]
        write_json(HERE / "second_run.json", {"training_seed": AGAIN, "steps": STEPS, "candidates": {"mixture_8x6": objective},
                                              "matrix": matrix})
        return
    population = held_out(200)
    trained = train(SEEDS["training"])
    chosen = select(HERE, "estimator", CANDIDATES, trained, objective_on(population), to_onnx)
    samples = [draw(np.random.default_rng(7), 1, 5.0, ("A", 100.0), 100.0), draw(np.random.default_rng(8), 1, 15.0, ("C", 300.0), 700.0)]
    pilots = np.concatenate([s["pilots"] for s in samples])
    mask = np.zeros((len(samples), 1, SYMBOLS, SUBCARRIERS), np.float32)
    mask[:, :, TIMES[:, None], PILOTS] = 1
    keep(HERE, chosen, objective="mean of log10 NMSE over Es/N0, profiles and Doppler shifts",
         population_sha256=digest(*(d[k] for d in population for k in ("channel", "pilots"))),
         inputs={"ls_estimate_ri": on_grid(linear_in_time(interpolated(pilots)), range(SYMBOLS), range(SUBCARRIERS)),
                 "noise_variance": np.array([[s["n0"]] for s in samples], np.float32),
                 "pilot_ls_ri": on_grid(pilots, TIMES, PILOTS), "pilot_mask": mask.reshape(len(samples), 1, -1)},
         output=["h_hat_ri", "error_variance"], matrix=evaluate(chosen["model"]))


if __name__ == "__main__":
    main(sys.argv[1:])
