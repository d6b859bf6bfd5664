"""Trains a phase tracker for QPSK frames with pilots: what is left of the carrier phase after pilot interpolation.

Frames, impairment and features are those of modulation.qpsk_pilot_modulate, wireless.carrier_phase_impairment and mode
learned_artifact of demodulation.phase_tracking_receiver_adapter (receiver_features_v3: Re, Im of y; Re, Im of y after
interpolation; pilot mask; Re, Im of the known pilot; cos, sin of the interpolated phase; k/(length - 1); log10 N0). The true
phase stands in the loss only; the network never sees it.

The network is a stack of dilated convolutions along the frame. Its first layer also gets z·conj(pilot) and (z/|z|)^4 of
the interpolated symbols z: what a pilot, and what a QPSK symbol of unknown bits, tells of the phase.

Loss: binary cross entropy of the LLRs that the operation computes from the turned symbols, with 0.05 added to N0 so that a
lost frame does not rule the gradient, plus the mean of 1 - cos(phase error). Rule: least mean of log10 BER over the SNR
grid of the validation frames, ties to the first name. The loss curve shows the same on frames of its own, an eighth as many.

    PYTHONPATH=<torch> python3 recipes/models/qpsk-phase-tracker-v1/training/train.py
"""

import sys
from functools import lru_cache
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
SEEDS = {"training": 31, "validation": 32, "evaluation": 33}
STEPS, PACKETS, LEARNING_RATE = 6000, 64, 4e-3
CURVE_PACKETS, VALIDATION_PACKETS = 1024, 8192  # an SNR
SNR_RANGE_DB = (0.0, 16.0)
SNR_GRID_DB = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0)
CFO, INCREMENT_STD, INCREMENT_RANGE = 0.01, 0.04, (0.02, 0.06)
DATA_SYMBOLS, PREAMBLE, SPACING = 128, 16, 16
CANDIDATES = {
    "dilated_16": {"channels": 16, "dilations": [1, 2, 4, 8, 16, 1]},
    "dilated_24": {"channels": 24, "dilations": [1, 2, 4, 8, 16, 1]},
}


@lru_cache
def layout(data_symbols, spacing):
    """Pilot positions of a frame, its length, and the matrices that take pilot phases to interpolated and smoothed ones."""
    positions = list(range(PREAMBLE)) + [PREAMBLE + g * (spacing + 1) - 1 for g in range(1, data_symbols // spacing + 1)]
    length, count = data_symbols + len(positions), len(positions)
    interpolate, smooth, used = np.zeros((length, count)), np.zeros((length, count)), min(5, count)
    for k in range(length):
        after = int(np.searchsorted(positions, k))
        if after == 0 or after == count:
            interpolate[k, min(after, count - 1)] = 1
        else:
            share = (k - positions[after - 1]) / (positions[after] - positions[after - 1])
            interpolate[k, after - 1], interpolate[k, after] = 1 - share, share
        before = int(np.searchsorted(positions, k, side="right"))
        nearer = before > 0 and (before == count or k - positions[before - 1] <= positions[before] - k)
        first = min(max(before - (used // 2 + (1 if nearer else 0)), 0), count - used)
        x = np.array(positions[first:first + used], float)
        smooth[k, first:first + used] = 1 / used + (k - x.mean()) * (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    return np.array(positions), length, interpolate, smooth


def draw(rng, packets, snr_db, increment_std, data_symbols=DATA_SYMBOLS, spacing=SPACING):
    """Frames with their features; a dictionary of arrays, first axis the packet."""
    positions, length, interpolate, smooth = layout(data_symbols, spacing)
    bits = rng.integers(0, 2, (packets, length, 2))
    x = ((1 - 2 * bits[..., 0]) + 1j * (1 - 2 * bits[..., 1])) / np.sqrt(2)
    n0 = 10 ** (-np.broadcast_to(np.asarray(snr_db, float), (packets,)) / 10)[:, None]
    noise = np.sqrt(n0 / 2) * (rng.standard_normal(x.shape) + 1j * rng.standard_normal(x.shape))
    phase = (rng.uniform(-np.pi, np.pi, (packets, 1)) + 2 * np.pi * rng.uniform(-CFO, CFO, (packets, 1)) * np.arange(length)
             + np.cumsum(rng.normal(0, 1, (packets, length)) * np.reshape(increment_std, (-1, 1)), axis=1))
    y = ((x + noise) * np.exp(1j * phase)).astype(np.complex64)
    pilots = np.unwrap(np.angle(y[:, positions] * np.conj(x[:, positions])), axis=1)
    interpolated = pilots @ interpolate.T
    z = y * np.exp(-1j * interpolated)
    mask = np.zeros(length)
    mask[positions] = 1
    features = np.stack([
        y.real, y.imag, z.real, z.imag, np.broadcast_to(mask, z.shape), x.real * mask, x.imag * mask,
        np.cos(interpolated), np.sin(interpolated), np.broadcast_to(np.arange(length) / (length - 1), z.shape),
        np.broadcast_to(np.log10(n0), z.shape),
    ], -1).astype(np.float32)
    return {"features": features, "bits": bits, "y": y, "n0": n0, "phase": phase, "data": mask == 0,
            "interpolated": interpolated, "smoothed": pilots @ smooth.T}


class Tracker(nn.Module):
    """Features [packet, frame symbol, 11] -> residual phase [packet, frame symbol], radians."""

    def __init__(self, channels: int, dilations: list[int]):
        super().__init__()
        self.entry = nn.Conv1d(15, channels, 5, padding=2)
        self.blocks = nn.ModuleList(nn.Conv1d(channels, channels, 5, padding=2 * d, dilation=d) for d in dilations)
        self.exit = nn.Conv1d(channels, 1, 1)

    def forward(self, features):
        zr, zi, pr, pi = (features[..., i] for i in (2, 3, 5, 6))
        power = zr * zr + zi * zi + 1e-6
        sr, si = (zr * zr - zi * zi) / power, 2 * zr * zi / power
        more = torch.stack([zr * pr + zi * pi, zi * pr - zr * pi, sr * sr - si * si, 2 * sr * si], -1)
        hidden = torch.relu(self.entry(torch.cat([features, more], -1).transpose(1, 2)))
        for block in self.blocks:
            hidden = hidden + torch.relu(block(hidden))
        return self.exit(hidden).squeeze(1)


def to_onnx(model: Tracker) -> bytes:
    """receiver_features_v3 [packet, frame_symbol, 11] -> residual_phase_rad [packet, frame_symbol]."""
    graph = Graph("qpsk_phase_tracker")
    features = graph.input("receiver_features_v3", ["packet", "frame_symbol", 11])

    def column(i):
        return graph.node("Gather", [features, graph.integers(f"column_{i}", [i])], axis=2)

    def mul(a, b):
        return graph.node("Mul", [a, b])

    zr, zi, pr, pi = (column(i) for i in (2, 3, 5, 6))
    zr2, zi2 = mul(zr, zr), mul(zi, zi)
    power = graph.node("Add", [graph.node("Add", [zr2, zi2]), graph.constant("tiny", 1e-6)])
    two = graph.constant("two", 2.0)
    sr = graph.node("Div", [graph.node("Sub", [zr2, zi2]), power])
    si = graph.node("Div", [mul(mul(zr, zi), two), power])
    more = [graph.node("Add", [mul(zr, pr), mul(zi, pi)]), graph.node("Sub", [mul(zi, pr), mul(zr, pi)]),
            graph.node("Sub", [mul(sr, sr), mul(si, si)]), mul(mul(sr, si), two)]
    hidden = graph.node("Transpose", [graph.node("Concat", [features, *more], axis=2)], perm=[0, 2, 1])
    hidden = graph.node("Relu", [graph.conv(hidden, model.entry, "entry")])
    for i, block in enumerate(model.blocks):
        hidden = graph.node("Add", [hidden, graph.node("Relu", [graph.conv(hidden, block, f"blocks.{i}")])])
    phase = graph.conv(hidden, model.exit, "exit")
    graph.node("Squeeze", [phase, graph.integers("channel_axis", [1])], "residual_phase_rad")
    graph.output("residual_phase_rad", ["packet", "frame_symbol"])
    return graph.bytes()


def validation_frames(packets):
    rng = np.random.default_rng(SEEDS["validation"])
    return [draw(rng, packets, snr, INCREMENT_STD) for snr in SNR_GRID_DB]


def population_sha256(held_out):
    return digest(*(frames[key] for frames in held_out for key in ("features", "bits")))


def loss_of(model, frames):
    residual = model(torch.from_numpy(frames["features"]))
    error = torch.from_numpy(frames["phase"] - frames["interpolated"]).float() - residual
    z = torch.from_numpy((frames["y"] * np.exp(-1j * frames["interpolated"])).astype(np.complex64))
    turned = z * torch.exp(-1j * residual)
    n0 = torch.from_numpy(frames["n0"]).float()
    sign = torch.from_numpy(1 - 2 * frames["bits"]).float()
    llr = 2 * np.sqrt(2) * torch.stack([turned.real, turned.imag], -1) / (n0 + 0.05)[..., None] * sign
    entropy = nn.functional.softplus(-llr[:, frames["data"]]).mean() / np.log(2)
    return entropy + (1 - torch.cos(error)).mean()


def counted(frames, phase):
    """Bit errors of the data symbols turned back by a phase, and frames with any error."""
    turned = frames["y"] * np.exp(-1j * phase)
    wrong = np.stack([turned.real < 0, turned.imag < 0], -1) != (frames["bits"] == 1)
    wrong = wrong[:, frames["data"]]
    return int(wrong.sum()), int(wrong.any((1, 2)).sum()), wrong.size, wrong.shape[0]


def predicted(model, frames):
    with torch.no_grad():
        parts = [model(torch.from_numpy(part)).numpy() for part in np.array_split(frames["features"], 64)]
    return frames["interpolated"] + np.concatenate(parts)


def objective_of(model, held_out):
    rates = []
    for frames in held_out:
        errors, _, bits, _ = counted(frames, predicted(model, frames))
        rates.append(np.log10(max(errors, 0.5) / bits))
    return float(np.mean(rates))


def train(name, configuration, held_out, curve):
    torch.manual_seed(SEEDS["training"])
    rng = np.random.default_rng(SEEDS["training"])
    model = Tracker(**configuration)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS, pct_start=0.1)
    running = 0.0
    for step in range(1, STEPS + 1):
        usual = rng.random() < 0.7
        data_symbols, spacing = (DATA_SYMBOLS, SPACING) if usual else (int(rng.integers(2, 13)) * 16, int(rng.choice([8, 16, 24])))
        frames = draw(rng, PACKETS, rng.uniform(*SNR_RANGE_DB, PACKETS), rng.uniform(*INCREMENT_RANGE, PACKETS),
                      data_symbols, spacing)
        loss = loss_of(model, frames)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running += loss.item()
        if step % 300 == 0:
            curve.append({"candidate": name, "step": step, "training_loss": f"{running / 300:.6f}",
                          "validation_mean_log10_ber": f"{objective_of(model, held_out):.6f}"})
            print(curve[-1], flush=True)
            running = 0.0
    return model


def evaluate(model, packets=16384, batch=1024):
    rng = np.random.default_rng(SEEDS["evaluation"])
    rows = []
    for snr in SNR_GRID_DB:
        totals = {key: np.zeros(4, int) for key in ("interpolation", "smoothing", "learned", "oracle")}
        for _ in range(packets // batch):
            frames = draw(rng, batch, snr, INCREMENT_STD)
            for key, phase in (("interpolation", frames["interpolated"]), ("smoothing", frames["smoothed"]),
                               ("learned", predicted(model, frames)), ("oracle", frames["phase"])):
                totals[key] += counted(frames, phase)
        row = {"snr_db": snr}
        for key, (errors, blocks, bits, count) in totals.items():
            low, high = wilson(int(errors), int(bits))
            row[key] = {"errors": int(errors), "bits": int(bits), "ber": float(errors / bits), "ci_low": low, "ci_high": high,
                        "bler": float(blocks / count)}
        rows.append(row)
        print(snr, {k: (round(v["ber"], 6), round(v["bler"], 4)) for k, v in row.items() if isinstance(v, dict)}, flush=True)
    return rows


def main(names):
    curve, results, models = [], {}, {}
    watched, held_out = validation_frames(CURVE_PACKETS), validation_frames(VALIDATION_PACKETS)
    (HERE / "candidates").mkdir(exist_ok=True)
    for name in names:
        models[name] = train(name, CANDIDATES[name], watched, curve)
        results[name] = objective_of(models[name], held_out)
        (HERE / "candidates" / f"{name}.onnx").write_bytes(to_onnx(models[name]))
        write_json(HERE / "candidates" / f"{name}.json",
                   {"candidate": name, "configuration": CANDIDATES[name], "seeds": SEEDS, "steps": STEPS, "packets": PACKETS,
                    "learning_rate": LEARNING_RATE, "snr_range_db": SNR_RANGE_DB, "cfo_cycles_per_symbol": CFO,
                    "increment_std_range_rad": INCREMENT_RANGE})
    selected = min(sorted(results), key=results.get)
    print("selected", selected, results, flush=True)
    model = models[selected]
    (PACKAGE / "receiver.onnx").write_bytes(to_onnx(model))
    write_curve(HERE / "loss_curve.csv", curve)
    features = draw(np.random.default_rng(7), 2, [4.0, 12.0], INCREMENT_STD, 16, 8)["features"]
    with torch.no_grad():
        write_reference(HERE / "reference.json", {"receiver_features_v3": features},
                        {"residual_phase_rad": model(torch.from_numpy(features))})
    write_json(HERE / "evaluation.json", {
        "objective": "mean of log10 BER over the validation grid", "selected": selected, "candidates": results,
        "population_sha256": population_sha256(held_out),
        "parameters": sum(p.numel() for p in model.parameters()), "matrix": evaluate(model),
    })


if __name__ == "__main__":
    main(sys.argv[1:] or list(CANDIDATES))
