"""Trains the QPSK receiver that undoes the receiver I/Q imbalance of hardware.receiver_iq_imbalance (its defaults).

The receiver sees impaired symbols only, neither the noise variance nor the impairment, and puts out two LLRs a symbol,
LLR = ln P(0|y)/P(1|y). It is trained by the binary cross entropy of those LLRs, which is smallest for true log-likelihood
ratios, over SNRs drawn uniformly from -4 to 14 dB: one SNR per set of symbols.

Candidates: a memoryless network (symbol by symbol) and a pooled one, whose LLRs are multiplied by a positive scale that it
finds from the mean of features over the set. The scale stands for 1/N0; it never changes a sign, so hard bits do not depend
on which symbols come together. Rule: least mean validation cross entropy over the SNR grid, ties to the first name.

    PYTHONPATH=<torch> python3 recipes/models/qpsk-iq-receiver-v1/training/train.py
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(PACKAGE.parent / "training"))
from onnx_graph import Graph  # noqa: E402
from records import digest, wilson, write_curve, write_json, write_reference  # noqa: E402

torch.set_num_threads(1)
SEEDS = {"training": 23, "validation": 24, "evaluation": 25}
STEPS, SETS, SYMBOLS, LEARNING_RATE = 4000, 24, 1024, 4e-3
SNR_RANGE_DB = (-4.0, 14.0)
SNR_GRID_DB = tuple(float(snr) for snr in range(-4, 16, 2))
IMPAIRMENT = {"gain_imbalance_db": 5.0, "quadrature_error_deg": 12.0, "phase_offset_deg": 20.0,
              "dc_offset_i": 0.18, "dc_offset_q": -0.12}
CANDIDATES = {
    "memoryless_8": {"hidden": 8, "pooled": 0},
    "memoryless_16": {"hidden": 16, "pooled": 0},
    "pooled_8": {"hidden": 8, "pooled": 8},
    "pooled_16": {"hidden": 16, "pooled": 16},
}


def impair(x, gain_imbalance_db, quadrature_error_deg, phase_offset_deg, dc_offset_i, dc_offset_q):
    """The front end: I = α·Re r + dc_i, Q = (Im r·cos ε + Re r·sin ε)/α + dc_q, r = x·exp(jφ)."""
    gain, skew = 10 ** (gain_imbalance_db / 40), np.deg2rad(quadrature_error_deg)
    r = x * np.exp(1j * np.deg2rad(phase_offset_deg))
    i = gain * r.real + dc_offset_i
    q = (r.imag * np.cos(skew) + r.real * np.sin(skew)) / gain + dc_offset_q
    return np.stack([i, q], -1)


def draw(rng, sets, symbols, snr_db):
    """Bits [sets, symbols, 2] and impaired symbols of the same shape, N0 = 10^(-snr/10) before the impairment."""
    bits = rng.integers(0, 2, (sets, symbols, 2))
    x = ((1 - 2 * bits[..., 0]) + 1j * (1 - 2 * bits[..., 1])) / np.sqrt(2)
    n0 = 10 ** (-np.broadcast_to(np.asarray(snr_db, float), (sets,)) / 10)[:, None]
    noise = np.sqrt(n0 / 2) * (rng.standard_normal(x.shape) + 1j * rng.standard_normal(x.shape))
    return bits, impair(x + noise, **IMPAIRMENT).astype(np.float32), n0


class Receiver(nn.Module):
    """Symbols [..., symbol, 2] -> LLRs of the same shape."""

    def __init__(self, hidden: int, pooled: int):
        super().__init__()
        self.pooled = pooled
        self.first, self.second, self.soft = nn.Linear(2, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2)
        if pooled:
            self.feature = nn.Linear(hidden, pooled)
            self.context, self.scale = nn.Linear(pooled, pooled), nn.Linear(pooled, 1)

    def forward(self, y):
        hidden = torch.relu(self.second(torch.relu(self.first(y))))
        soft = self.soft(hidden)
        if not self.pooled:
            return soft
        mean = torch.relu(self.feature(hidden)).mean(-2, keepdim=True)
        return soft * torch.exp(self.scale(torch.relu(self.context(mean))))


def to_onnx(model: Receiver) -> bytes:
    """The same computation over one set, rx_symbols_ri [symbol, 2] -> bit_llr [symbol, 2]."""
    graph = Graph("qpsk_iq_receiver")
    y = graph.input("rx_symbols_ri", ["symbol", 2])
    hidden = graph.node("Relu", [graph.linear(y, model.first, "first")])
    hidden = graph.node("Relu", [graph.linear(hidden, model.second, "second")])
    soft = graph.linear(hidden, model.soft, "soft", None if model.pooled else "bit_llr")
    if model.pooled:
        feature = graph.node("Relu", [graph.linear(hidden, model.feature, "feature")])
        mean = graph.node("ReduceMean", [feature], axes=[0], keepdims=1)
        context = graph.node("Relu", [graph.linear(mean, model.context, "context")])
        scale = graph.node("Exp", [graph.linear(context, model.scale, "scale")])
        graph.node("Mul", [soft, scale], "bit_llr")
    graph.output("bit_llr", ["symbol", 2])
    return graph.bytes()


def cross_entropy(llr, bits):
    """Mean of log2(1 + exp(-LLR·(1 - 2b))) in bits: 1 minus it is the rate that these LLRs carry (GMI per bit)."""
    return nn.functional.softplus(-llr * (1 - 2 * bits)).mean() / np.log(2)


def validation_sets(sets=32):
    rng = np.random.default_rng(SEEDS["validation"])
    return {snr: draw(rng, sets, SYMBOLS, snr)[:2] for snr in SNR_GRID_DB}


def population_sha256(held_out):
    return digest(*(array for snr in SNR_GRID_DB for array in held_out[snr]))


def validate(model, data):
    with torch.no_grad():
        return {snr: float(cross_entropy(model(torch.from_numpy(y)), torch.from_numpy(bits)))
                for snr, (bits, y) in data.items()}


def train(name, configuration, held_out, curve):
    torch.manual_seed(SEEDS["training"])
    rng = np.random.default_rng(SEEDS["training"])
    model = Receiver(**configuration)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS, LEARNING_RATE / 100)
    running = 0.0
    for step in range(1, STEPS + 1):
        # Sets of many sizes: the pooled scale must also serve short ones.
        symbols = int(2 ** rng.uniform(5, np.log2(2 * SYMBOLS)))
        bits, y, _ = draw(rng, SETS, symbols, rng.uniform(*SNR_RANGE_DB, SETS))
        loss = cross_entropy(model(torch.from_numpy(y)), torch.from_numpy(bits))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % 200 == 0:
            objective = float(np.mean(list(validate(model, held_out).values())))
            curve.append({"candidate": name, "step": step, "training_cross_entropy_bits": f"{running / 200:.6f}",
                          "validation_cross_entropy_bits": f"{objective:.6f}"})
            running = 0.0
    print(name, curve[-1], flush=True)
    return model


def evaluate(model, bits_target=4_000_000):
    """BER and carried rate at each SNR for the receiver, the uncompensated reference and the calibrated oracle."""
    rng = np.random.default_rng(SEEDS["evaluation"])
    gain, skew = 10 ** (IMPAIRMENT["gain_imbalance_db"] / 40), np.deg2rad(IMPAIRMENT["quadrature_error_deg"])
    rows = []
    for snr in SNR_GRID_DB:
        counts = {key: [0, 0.0] for key in ("uncompensated", "learned", "oracle")}
        trials = 0
        while trials < bits_target:
            bits, y, n0 = draw(rng, 64, 4096, snr)
            re, im = (y[..., 0] - IMPAIRMENT["dc_offset_i"]) / gain, (y[..., 1] - IMPAIRMENT["dc_offset_q"]) * gain
            r = re + 1j * (im - re * np.sin(skew)) / np.cos(skew)
            x = r * np.exp(-1j * np.deg2rad(IMPAIRMENT["phase_offset_deg"]))
            with torch.no_grad():
                learned = model(torch.from_numpy(y)).numpy()
            factor = 2 * np.sqrt(2) / n0[..., None]
            for key, llr in (("uncompensated", factor * y), ("learned", learned),
                             ("oracle", factor * np.stack([x.real, x.imag], -1))):
                counts[key][0] += int(np.sum((llr < 0) != (bits == 1)))
                counts[key][1] += float(np.logaddexp(0, -llr * (1 - 2 * bits)).sum() / np.log(2))
            trials += bits.size
        row = {"snr_db": snr, "bits": trials}
        for key, (errors, entropy) in counts.items():
            low, high = wilson(errors, trials)
            row[key] = {"errors": errors, "ber": errors / trials, "ci_low": low, "ci_high": high,
                        "rate_bits_per_bit": 1 - entropy / trials}
        rows.append(row)
        print({k: (v if not isinstance(v, dict) else (v["ber"], round(v["rate_bits_per_bit"], 5))) for k, v in row.items()},
              flush=True)
    return rows


def main():
    curve, results, models = [], {}, {}
    held_out = validation_sets()
    for name, configuration in CANDIDATES.items():
        models[name] = train(name, configuration, held_out, curve)
        results[name] = float(np.mean(list(validate(models[name], held_out).values())))
        (HERE / "candidates").mkdir(exist_ok=True)
        (HERE / "candidates" / f"{name}.onnx").write_bytes(to_onnx(models[name]))
        write_json(HERE / "candidates" / f"{name}.json",
                   {"candidate": name, "configuration": configuration, "seeds": SEEDS, "steps": STEPS, "sets": SETS,
                    "learning_rate": LEARNING_RATE, "snr_range_db": SNR_RANGE_DB, "impairment": IMPAIRMENT})
    selected = min(sorted(results), key=results.get)
    print("selected", selected, results, flush=True)
    model = models[selected]
    (PACKAGE / "receiver.onnx").write_bytes(to_onnx(model))
    write_curve(HERE / "loss_curve.csv", curve)
    _, y, _ = draw(np.random.default_rng(7), 1, 16, 6.0)
    with torch.no_grad():
        write_reference(HERE / "reference.json", {"rx_symbols_ri": y[0]}, {"bit_llr": model(torch.from_numpy(y))[0]})
    write_json(HERE / "evaluation.json", {
        "objective": "mean validation cross entropy in bits", "selected": selected, "candidates": results,
        "population_sha256": population_sha256(held_out),
        "parameters": sum(p.numel() for p in model.parameters()), "matrix": evaluate(model),
    })


if __name__ == "__main__":
    main()
