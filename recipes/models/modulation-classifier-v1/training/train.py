"""Trains a classifier of BPSK, QPSK and 16QAM frames under an unknown carrier: phase, frequency offset and noise are not given.

`draw` is source.modulation_frames and wireless.modulation_awgn_observation with their orders of draws: it gives the operations'
own numbers (training/population.json, which a test compares). The network sees I/Q samples alone.

A likelihood for all that is unknown would be a mean over frequencies and phases of products over symbols. The network keeps
that shape and learns the factors: it scales a frame to power 1, takes the frequency whose fourth and second powers stand out most,
turns the frame back by it, and for each of six phases sums what a small network makes of (|Re|, |Im|) of every symbol; phases are
joined by log-sum-exp. The small network also sees the frame's power, moments and spectral lines. Signals of the slot have power 1,
so the power tells the noise; without that, QPSK and 16QAM have the same ratio of fourth-order cumulants at any noise.
Both orders of (|Re|, |Im|) count for BPSK, so phases of a quarter turn are enough.

Loss: cross entropy. Rule: least mean cross entropy over SNR and offset grid.

    PYTHONPATH=<torch> python3 recipes/models/modulation-classifier-v1/training/train.py
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
from records import digest, wilson, write_json  # noqa: E402
from selection import fit, keep, select  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 81, "validation": 82, "evaluation": 83, "population": 84}
STEPS, FRAMES, LEARNING_RATE = 2500, 96, 6e-3
LENGTH, LENGTHS = 128, (64, 128, 128, 192)
SNR_RANGE_DB, OFFSET = (-8.0, 16.0), 0.005
SNR_GRID_DB = (-4.0, -2.0, 0.0, 2.0, 4.0, 6.0, 8.0)
GRID = [(snr, offset) for snr in SNR_GRID_DB for offset in (0.0, OFFSET)]
CANDIDATES = {"hidden_8": {"hidden": 8}, "hidden_16": {"hidden": 16}}
PHASES = 6
FREQUENCIES = np.linspace(-0.006, 0.006, 13)
ORDERS = (2, 4, 16)
TINY = 1e-12


def points(order):
    label = np.arange(order)
    width = order.bit_length() - 1
    b = [1 - 2 * (label >> (width - 1 - i) & 1) for i in range(width)]
    if order == 2:
        return b[0].astype(complex)
    if order == 4:
        return (b[0] + 1j * b[1]) / np.sqrt(2)
    return (b[0] * (2 - b[2]) + 1j * b[1] * (2 - b[3])) / np.sqrt(10)


POINTS = [points(order) for order in ORDERS]


def draw(source, channel, frames, length, snr_db, offset):
    """Frames [frame, symbol], their classes, SNR and noise variance. `snr_db` is (least, most), `offset` the largest."""
    labels = source.permutation(frames) % 3
    x = np.stack([POINTS[label][source.integers(0, ORDERS[label], length)] for label in labels])
    x = x.astype(np.complex64)
    snr, phase, shift = (low + (high - low) * channel.random(frames)
                         for low, high in (snr_db, (-np.pi, np.pi), (-offset, offset)))
    noise = (channel.standard_normal(frames * length) + 1j * channel.standard_normal(frames * length)) * np.sqrt(0.5)
    variance = 10 ** (-snr / 10)
    angle = phase[:, None] + 2 * np.pi * shift[:, None] * np.arange(length)
    y = x * np.exp(1j * angle) + np.sqrt(variance)[:, None] * noise.reshape(frames, length)
    return {"y": y.astype(np.complex64), "labels": labels, "variance": variance, "snr": snr}


def iq(y):
    return np.ascontiguousarray(np.stack([y.real, y.imag], -1), np.float32)


class Classifier(nn.Module):
    """iq_ri [batch, sample, 2] -> class_logits [batch, 3]"""

    def __init__(self, hidden: int):
        super().__init__()
        self.frame = nn.Linear(8, 12)
        self.frame_to_symbol, self.frame_to_class = nn.Linear(12, hidden), nn.Linear(12, 3)
        self.symbol = nn.Linear(4, hidden, bias=False)
        self.value = nn.Linear(hidden, 4)
        phases = np.pi / 2 * np.arange(PHASES) / PHASES
        self.register_buffer("cosines", torch.tensor(np.cos(phases)).float())
        self.register_buffer("sines", torch.tensor(np.sin(phases)).float())
        self.register_buffer("frequencies", torch.tensor(FREQUENCIES).float())

    def forward(self, samples):
        a, b = samples[..., 0], samples[..., 1]
        power = (a * a + b * b).mean(1, keepdim=True) + TINY
        scale = torch.sqrt(power)
        a, b = a / scale, b / scale
        p = a * a + b * b
        r, q = a * a - b * b, 2 * a * b
        r4, q4 = r * r - q * q, 2 * r * q
        turn = 2 * np.pi * torch.arange(a.shape[1], dtype=torch.float32)[:, None] * self.frequencies
        count = a.shape[1]
        lines = []
        for x, y, order in ((r, q, 2), (r4, q4, 4)):
            c, s = torch.cos(order * turn), torch.sin(order * turn)
            lines.append(((x @ c + y @ s) / count) ** 2 + ((y @ c - x @ s) / count) ** 2)
        two, four = lines
        best = torch.argmax(two + four, 1)
        angle = 2 * np.pi * self.frequencies[best][:, None] * torch.arange(count, dtype=torch.float32)
        c, s = torch.cos(angle), torch.sin(angle)
        a, b = scale * (a * c + b * s), scale * (b * c - a * s)
        facts = torch.stack([
            (p * p).mean(1), (p * p * p).mean(1) / 4, torch.sqrt(p + TINY).mean(1), torch.sqrt(two.max(1).values + TINY),
            torch.sqrt(four.max(1).values + TINY), torch.sqrt(two.mean(1) + TINY), torch.sqrt(four.mean(1) + TINY),
            torch.log(power[:, 0]),
        ], 1)
        frame = torch.tanh(self.frame(facts))
        u = torch.abs(a[:, None] * self.cosines[:, None] + b[:, None] * self.sines[:, None])
        v = torch.abs(b[:, None] * self.cosines[:, None] - a[:, None] * self.sines[:, None])
        hidden = torch.relu(self.symbol(torch.stack([u, v, u * u, v * v], -1)) + self.frame_to_symbol(frame)[:, None, None])
        # The sum over symbols of the linear last layer is the last layer of the sum.
        values = self.value(hidden.mean(2)) * 32
        bpsk = torch.logsumexp(values[..., :2].reshape(-1, 2 * PHASES), 1, keepdim=True)
        others = torch.logsumexp(values[..., 2:], 1)
        return torch.cat([bpsk, others], 1) + self.frame_to_class(frame)


def to_onnx(model: Classifier) -> bytes:
    """The same, node by node."""
    graph = Graph("modulation_classifier")
    samples = graph.input("iq_ri", ["batch", "sample", 2])
    tiny, two_pi = graph.constant("tiny", TINY), graph.constant("two_pi", 2 * np.pi)
    axes = {k: graph.integers(f"axis_{k}", [k]) for k in (0, 1, 2, 3)}

    def op(kind, *inputs, **attributes):
        return graph.node(kind, list(inputs), **attributes)

    def mul(x, y):
        return op("Mul", x, y)

    def square(x):
        return op("Mul", x, x)

    def add(x, y):
        return op("Add", x, y)

    def sub(x, y):
        return op("Sub", x, y)

    def mean(x, axis, keep=0):
        return op("ReduceMean", x, axes=[axis], keepdims=keep)

    def root(x):
        return op("Sqrt", add(x, tiny))

    a, b = (op("Gather", samples, graph.index(f"part_{i}", i), axis=2) for i in (0, 1))
    power = add(mean(add(square(a), square(b)), 1, 1), tiny)
    scale = op("Sqrt", power)
    a, b = op("Div", a, scale), op("Div", b, scale)
    p = add(square(a), square(b))
    r, q = sub(square(a), square(b)), mul(graph.constant("two", 2.0), mul(a, b))
    r4, q4 = sub(square(r), square(q)), mul("two", mul(r, q))
    length = op("Gather", op("Shape", samples), graph.index("one", 1), axis=0)
    count = op("Cast", length, to=1)
    places = op("Cast", op("Range", graph.index("zero", 0), length, "one"), to=1)
    frequencies = graph.constant("frequencies", FREQUENCIES)
    turn = mul(mul(two_pi, op("Unsqueeze", places, axes[1])), frequencies)
    lines = []
    for x, y, order in ((r, q, 2), (r4, q4, 4)):
        angle = mul(graph.constant(f"order_{order}", float(order)), turn)
        c, s = op("Cos", angle), op("Sin", angle)
        real = op("Div", add(op("MatMul", x, c), op("MatMul", y, s)), count)
        imaginary = op("Div", sub(op("MatMul", y, c), op("MatMul", x, s)), count)
        lines.append(add(square(real), square(imaginary)))
    two, four = lines
    best = op("ArgMax", add(two, four), axis=1, keepdims=1)
    angle = mul(mul(two_pi, op("Gather", frequencies, best)), places)
    c, s = op("Cos", angle), op("Sin", angle)
    a, b = mul(scale, add(mul(a, c), mul(b, s))), mul(scale, sub(mul(b, c), mul(a, s)))

    def most(x):
        return root(op("ReduceMax", x, axes=[1], keepdims=0))

    cube = mul(square(p), p)
    facts = [mean(square(p), 1), op("Div", mean(cube, 1), graph.constant("four", 4.0)), mean(root(p), 1), most(two), most(four),
             root(mean(two, 1)), root(mean(four, 1))]
    facts = op("Concat", *(op("Unsqueeze", fact, axes[1]) for fact in facts), op("Log", power), axis=1)
    frame = op("Tanh", graph.linear(facts, model.frame, "frame"))
    cosines = graph.constant("cosines", model.cosines.numpy()[:, None])
    sines = graph.constant("sines", model.sines.numpy()[:, None])
    a, b = op("Unsqueeze", a, axes[1]), op("Unsqueeze", b, axes[1])
    u, v = op("Abs", add(mul(a, cosines), mul(b, sines))), op("Abs", sub(mul(b, cosines), mul(a, sines)))
    inputs = op("Concat", *(op("Unsqueeze", x, axes[3]) for x in (u, v, square(u), square(v))), axis=3)
    context = op("Unsqueeze", graph.linear(frame, model.frame_to_symbol, "frame_to_symbol"), graph.integers("axes_12", [1, 2]))
    hidden = op("MatMul", inputs, graph.constant("symbol.weight", model.symbol.weight.detach().numpy().T))
    hidden = op("Relu", add(hidden, context))
    values = mul(graph.linear(mean(hidden, 2), model.value, "value"), graph.constant("gain", 32.0))

    def columns(low, high):
        return op("Slice", values, graph.integers(f"at_{low}", [low]), graph.integers(f"at_{high}", [high]), axes[2])

    bpsk = op("Reshape", columns(0, 2), graph.integers("flat", [-1, 2 * PHASES]))
    bpsk = op("ReduceLogSumExp", bpsk, axes=[1], keepdims=1)
    others = op("ReduceLogSumExp", columns(2, 4), axes=[1], keepdims=0)
    joined = op("Concat", bpsk, others, axis=1)
    graph.node("Add", [joined, graph.linear(frame, model.frame_to_class, "frame_to_class")], "class_logits")
    graph.output("class_logits", ["batch", 3])
    return graph.bytes()


def held_out(frames):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, rng, frames, LENGTH, (snr, snr), offset) for snr, offset in GRID]


def logits(model, drawn):
    with torch.no_grad():
        return torch.cat([model(torch.from_numpy(part)) for part in np.array_split(iq(drawn["y"]), max(1, len(drawn["y"]) // 250))])


def objective_on(population):
    return lambda model: float(np.mean([nn.functional.cross_entropy(logits(model, d), torch.from_numpy(d["labels"])).item()
                                        for d in population]))


def train(rng):
    def loss(model):
        drawn = draw(rng, rng, FRAMES, int(rng.choice(LENGTHS)), SNR_RANGE_DB, OFFSET * float(rng.random() < 0.7))
        return nn.functional.cross_entropy(model(torch.from_numpy(iq(drawn["y"]))), torch.from_numpy(drawn["labels"]))

    watched = objective_on(held_out(300))

    def trained(name, configuration, curve):
        torch.manual_seed(SEEDS["training"])
        return fit(name, Classifier(**configuration), loss, watched, curve, steps=STEPS, rate=LEARNING_RATE, every=125)

    return trained


def cumulants(drawn):
    """classical_cumulant of model.modulation_classifier_adapter."""
    y, n0 = drawn["y"].astype(complex), drawn["variance"]
    power, square = (abs(y) ** 2).mean(1), (y ** 2).mean(1)
    scale = np.maximum(power - n0, 0.01 * power) ** 2
    c40 = abs((y ** 4).mean(1) - 3 * square ** 2) / scale
    c42 = ((abs(y) ** 4).mean(1) - abs(square) ** 2 - 2 * power ** 2) / scale
    return -np.stack([np.hypot(c40 - a, c42 - b) for a, b in ((2, -2), (1, -1), (0.68, -0.68))], 1)


def likelihood(drawn):
    """classical_likelihood: exact for a carrier that stands still, with the noise known."""
    scores = []
    for order, cloud in zip(ORDERS, POINTS):
        real, imaginary = np.unique(cloud.real.round(9)), np.unique(cloud.imag.round(9))
        own = []
        for p in range(64 // (2 if order == 2 else 4)):
            z = drawn["y"] * np.exp(-2j * np.pi * p / 64)
            total = np.zeros(len(z))
            for part, levels in ((z.real, real), (z.imag, imaginary)):
                distances = (part[..., None] - levels) ** 2
                least = distances.min(2)
                terms = np.exp((least[..., None] - distances) / drawn["variance"][:, None, None]).mean(2)
                total += (np.log(terms) - least / drawn["variance"][:, None]).sum(1)
            own.append(total)
        own = np.array(own)
        scores.append(own.max(0) + np.log(np.exp(own - own.max(0)).mean(0)))
    return np.stack(scores, 1)


def evaluate(model, frames=3000):
    rng, rows = np.random.default_rng(SEEDS["evaluation"]), []
    for snr, offset in GRID:
        drawn = draw(rng, rng, frames, LENGTH, (snr, snr), offset)
        row = {"snr_db": snr, "frequency_offset": offset, "frames": frames}
        parts = np.array_split(np.arange(frames), 6)
        known = np.concatenate([likelihood({k: v[part] for k, v in drawn.items()}) for part in parts])
        for name, scores in (("cumulants", cumulants(drawn)), ("learned", logits(model, drawn).numpy()), ("likelihood", known)):
            right = int((scores.argmax(1) == drawn["labels"]).sum())
            row[name] = [right / frames, *wilson(right, frames)]
        rows.append(row)
        print({k: round(v[0], 4) if isinstance(v, list) else v for k, v in row.items()}, flush=True)
    return rows


def main(names):
    population = held_out(3000)
    chosen = select(HERE, "classifier", {n: CANDIDATES[n] for n in names}, train(np.random.default_rng(SEEDS["training"])),
                    objective_on(population), to_onnx)
    rng = np.random.default_rng(7)
    sample = iq(draw(rng, rng, 6, 32, (-4.0, 12.0), OFFSET)["y"])
    keep(HERE, chosen, objective="mean cross entropy in nats over SNR and frequency offset",
         population_sha256=digest(*(d[k] for d in population for k in ("y", "labels"))), inputs={"iq_ri": sample},
         output="class_logits", matrix=evaluate(chosen["model"]))
    seed = SEEDS["population"]
    own = draw(np.random.default_rng(seed), np.random.default_rng(seed + 1), 4, 16, (-2.0, 10.0), OFFSET)
    write_json(HERE / "population.json", {
        "seeds": [seed, seed + 1], "symbols_per_frame": 16, "snr_db": [-2.0, 10.0], "frequency_offset": OFFSET,
        "labels": own["labels"].tolist(), "iq": [float(f"{v:.9g}") for v in iq(own["y"]).ravel().tolist()]})


if __name__ == "__main__":
    main(sys.argv[1:] or list(CANDIDATES))
