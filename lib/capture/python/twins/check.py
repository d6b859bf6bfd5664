"""Holds twins to their operations: vectors written by svc have inputs, draws, network calls, outputs and metrics.

Every output must agree to 1e-5 of its peak. Gradients are compared with central finite differences in binary64: of a random
projection of all real outputs, along a random direction of each differentiable input.
"""

import base64

import numpy as np
import torch

from . import TWINS, Draws, Signal, Unsupported

TOLERANCE = 1e-5
STEP, GRADIENT_TOLERANCE = 1e-6, 1e-4


def array_of(entry):
    values = np.frombuffer(base64.b64decode(entry["base64"]), dtype=entry["dtype"])
    return torch.from_numpy(values.reshape(entry["shape"]).copy())


def cast(tensor, double):
    if tensor.is_complex():
        return tensor.to(torch.complex128 if double else torch.complex64)
    if tensor.is_floating_point():
        return tensor.to(torch.float64 if double else torch.float32)
    return tensor


def signal_of(entry, double):
    data = array_of(entry["data"])
    # Streams of bits are float tensors in a scenario; images and labels stay integers.
    data = cast(data.float() if data.dtype == torch.uint8 and data.dim() == 1 else data, double)
    companions = {name: cast(array_of(item), double) for name, item in entry["companions"].items()}
    return Signal(data, entry["metadata"], companions)


class Call:
    """A network that gives the stored outputs, call by call, and compares what it is given with the stored inputs."""

    def __init__(self, stored, double):
        self.stored, self.double, self.worst = list(stored), double, 0.0

    def __call__(self, **feeds):
        stored = self.stored.pop(0)
        expected = {name: array_of(entry) for name, entry in stored["feeds"].items()}
        if set(feeds) != set(expected):
            raise ValueError(f"the network is given {sorted(feeds)}, not {sorted(expected)}")
        self.worst = max(self.worst, *(difference(feeds[name], expected[name]) for name in expected))
        return {name: cast(array_of(entry), self.double) for name, entry in stored["outputs"].items()}


def difference(found, expected):
    """Largest difference relative to the peak; infinite for other shapes."""
    found, expected = found.detach().cpu(), torch.as_tensor(expected)
    if list(found.shape) != list(expected.shape):
        return float("inf")
    if expected.numel() == 0:
        return 0.0
    wide = torch.complex128 if found.is_complex() or expected.is_complex() else torch.float64
    found, expected = found.to(wide), expected.to(wide)
    error = (found - expected).abs().max().item()
    return 0.0 if error == 0 else error / max(expected.abs().max().item(), 1e-30)


def evaluate(vector, inputs, double):
    given = [(kind, array_of(entry)) for kind, entry in vector["draws"]]
    draws = Draws(given=given, dtype=torch.float64 if double else torch.float32)
    call = Call(vector["calls"], double) if vector["calls"] else None
    outputs = TWINS[vector["operation"]](inputs, vector["params"], draws, call)
    if draws.given:
        raise ValueError(f"{len(draws.given)} draws of the operation are not used")
    return outputs, call


def values_worst(vector):
    inputs = {port: signal_of(entry, False) for port, entry in vector["inputs"].items()}
    outputs, call = evaluate(vector, inputs, False)
    rows = {"network inputs": call.worst} if call else {}
    compared = 0
    for port, signal in outputs.items():
        if port == "report":
            for name, value in signal.metadata.items():
                if name in vector["metrics"]:
                    rows[name] = difference(torch.as_tensor(value), vector["metrics"][name])
                    compared += 1
            continue
        expected = vector["outputs"][port]
        rows[port] = difference(signal.data, array_of(expected["data"]))
        compared += 1
        for name, tensor in signal.companions.items():
            if name in expected["companions"]:
                rows[f"{port}.{name}"] = difference(tensor, array_of(expected["companions"][name]))
    if compared == 0:
        raise ValueError("the twin gives nothing to compare")
    return rows


def projection(outputs):
    """A fixed random projection of outputs that carry gradients, LLRs and losses included."""
    generator, total = torch.Generator().manual_seed(7), None
    for _, signal in sorted(outputs.items()):
        tensors = list(signal.losses.values()) or [signal.data if signal.soft is None else signal.soft]
        for tensor in [*tensors, *signal.companions.values()]:
            if not tensor.requires_grad:
                continue
            real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
            weights = torch.randn(real.shape, generator=generator, dtype=torch.float64)
            total = (0 if total is None else total) + (real.double() * weights).sum()
    return total


def gradient_worst(vector):
    """The largest relative difference over the inputs, or None for an operation without a gradient."""
    worst = None
    for port, entry in vector["inputs"].items():
        base = {name: signal_of(item, True) for name, item in vector["inputs"].items()}
        data = base[port].data
        if not (data.is_floating_point() or data.is_complex()) or data.numel() == 0:
            continue
        # Zeros are places without a pilot or without power: patterns, where a value has no derivative.
        direction = torch.randn(data.shape, generator=torch.Generator().manual_seed(11), dtype=data.dtype) * (data != 0)
        # Off the grid of exact points, where phases and decisions have branches.
        shift = torch.randn(data.shape, generator=torch.Generator().manual_seed(5), dtype=data.dtype) * (data != 0)
        base_point = data + 0.02 * data.abs().mean() * shift

        def at(offset, grad=False):
            moved = base_point + offset * direction
            if grad:
                moved.requires_grad_(True)
            signal = Signal(moved, base[port].metadata, base[port].companions)
            outputs, _ = evaluate(vector, {**base, port: signal}, True)
            return projection(outputs), moved

        total, moved = at(0.0, True)
        if total is None or not total.requires_grad:
            continue
        (gradient,) = torch.autograd.grad(total, moved, allow_unused=True)
        if gradient is None:
            continue
        slope = (gradient.conj() * direction).real.sum().item()
        scale = STEP * max(data.abs().max().item(), 1e-3)
        high, low = at(scale, True)[0].item(), at(-scale, True)[0].item()
        finite = (high - low) / (2 * scale)
        size = max(abs(slope), abs(finite), (gradient.abs() * direction.abs()).sum().item() * 1e-3, 1e-12)
        worst = max(worst or 0.0, abs(slope - finite) / size)
    return worst


#: Twins with a straight-through estimator: their gradient is not that of their value.
STRAIGHT_THROUGH = (
    "channel.csi_feedback_link",
    "hardware.quantizer",
    "model.deepjscc_external_decode",
    "model.localization_adapter",
)


def check(vector):
    """A row of the report: state passed, failed or not covered, with the differences."""
    row = {"operation": vector["operation"], "name": vector["name"], "state": "passed"}
    try:
        row["differences"] = values_worst(vector)
        if any(not value <= TOLERANCE for value in row["differences"].values()):
            row["state"] = "failed"
        if vector["operation"] not in STRAIGHT_THROUGH and not vector["calls"]:
            row["gradient"] = gradient_worst(vector)
            if row["gradient"] is not None and not row["gradient"] <= GRADIENT_TOLERANCE:
                row["state"] = "failed"
    except Unsupported as reason:
        row.update(state="not_covered", reason=str(reason))
    except (ValueError, RuntimeError, KeyError, IndexError, TypeError, AttributeError) as error:
        row.update(state="failed", reason=f"{type(error).__name__}: {error}")
    return row
