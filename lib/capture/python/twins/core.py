"""Signals, draws and the register of twins.

A twin is a function that computes in PyTorch, with gradients, what an operation of svc computes. It takes

    inputs   {port: Signal}
    params   effective parameters of the step
    draws    random numbers, drawn in the order of the operation
    network  {name: tensor}, ... -> {name: tensor}: the network of a slot, None for other operations

and returns {port: Signal}. Arrays have the shapes of the operation; complex arrays are complex tensors.
"""

import torch

TWINS = {}


def twin(operation):
    """Registers the twin of an operation."""

    def register(function):
        TWINS[operation] = function
        return function

    return register


class Unsupported(Exception):
    """Parameters of an operation that its twin does not cover."""


class Signal:
    """The array of an output, its further arrays by name, and its metadata.

    `soft` is the LLR of each bit, ln P(0)/P(1), where `data` are decided bits. `losses` are the loss functions of an
    evaluation by name, the first one its default; then `data` is that default and `metadata` has its metrics.
    """

    def __init__(self, data, metadata=None, companions=None, soft=None, losses=None):
        self.data, self.soft, self.losses = data, soft, losses or {}
        self.metadata, self.companions = dict(metadata or {}), dict(companions or {})

    def with_(self, data, companions=None, soft=None, **metadata):
        """Another array with the metadata of this one."""
        kept = self.companions if companions is None else companions
        return Signal(data, {**self.metadata, **metadata}, kept, soft)

    def number(self, name):
        if name not in self.metadata:
            raise ValueError(f"the signal has no {name} in its metadata: capture it again, or give it as `facts`")
        return self.metadata[name]


class Draws:
    """Random numbers of one step: from a torch generator, or given ones, in order, as in a test."""

    def __init__(self, generator=None, given=None, device="cpu", dtype=torch.float32):
        self.generator, self.given, self.device, self.dtype = generator, given, device, dtype
        self.complex_dtype = torch.complex128 if dtype == torch.float64 else torch.complex64

    def _next(self, kind, shape, dtype):
        found, array = self.given.pop(0)
        if found != kind:
            raise ValueError(f"the operation drew {found} where its twin draws {kind}")
        return torch.as_tensor(array).reshape(shape).to(device=self.device, dtype=dtype)

    def complex_normal(self, shape, variance=1.0):
        """Circularly symmetric complex normal values of a total variance."""
        if self.given is not None:
            return self._next("complex_normal", shape, self.complex_dtype)
        return self._draw(torch.randn, shape, self.complex_dtype) * variance**0.5

    def normal(self, shape, mean=0.0, deviation=1.0):
        if self.given is not None:
            return self._next("normal", shape, self.dtype)
        return mean + deviation * self._draw(torch.randn, shape, self.dtype)

    def uniform(self, shape, low=0.0, high=1.0):
        if self.given is not None:
            return self._next("uniform", shape, self.dtype)
        return low + (high - low) * self._draw(torch.rand, shape, self.dtype)

    def integers(self, shape, low, high):
        if self.given is not None:
            return self._next("integers", shape, torch.int64)
        values = torch.randint(low, high, tuple(shape), generator=self.generator, device=self._place())
        return values.to(self.device)

    def permutation(self, count):
        if self.given is not None:
            return self._next("permutation", [count], torch.int64)
        return torch.randperm(count, generator=self.generator, device=self._place()).to(self.device)

    def _place(self):
        return "cpu" if self.generator is None else self.generator.device

    def _draw(self, function, shape, dtype):
        return function(tuple(shape), generator=self.generator, device=self._place(), dtype=dtype).to(self.device)


def straight_through(exact, surrogate):
    """The value of `exact` with the gradient of `surrogate`."""
    return surrogate + (exact - surrogate).detach()


def real_imaginary(values):
    """complex [...] -> real [..., 2]"""
    return torch.view_as_real(values.resolve_conj())


def as_complex(values):
    """real [..., 2] -> complex [...]"""
    return torch.view_as_complex(values.contiguous())


def power(values):
    """|x|²"""
    return values.real**2 + values.imag**2 if values.is_complex() else values**2


def from_db(value):
    return 10 ** (value / 10)


def noise_variance_of(params):
    """N0 of parameters noise_mode, snr_db and noise_variance."""
    if params.get("noise_mode") == "fixed_variance":
        return params["noise_variance"]
    return from_db(-params["snr_db"])


def items_of(signal, count):
    """Elements per source item; one item where none are declared."""
    declared = signal.metadata.get("source_item_counts")
    if declared is not None and sum(declared) != count:
        raise ValueError(f"{count} elements are not items of {sum(declared)} elements")
    return declared


def per_item(values, items):
    """One value per item, repeated for the elements of the item."""
    return torch.repeat_interleave(values, torch.tensor(items, device=values.device), dim=0)


def losses_of(losses, metrics):
    """The result of an evaluation."""
    first = next(iter(losses.values()))
    return {"report": Signal(first, metrics, losses=losses)}


def project_onto_simplex(scores, total):
    """The nearest point of {p >= 0, sum p = total} to each row."""
    ordered = torch.sort(scores, dim=-1, descending=True).values
    excess = torch.cumsum(ordered, -1) - total
    rank = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    kept = (ordered - excess / rank > 0).sum(-1, keepdim=True)
    return torch.clamp(scores - torch.gather(excess, -1, kept - 1) / kept, min=0)


def water_fill(floors, total):
    """Powers max(0, level - floor) of each row, of sum `total`; infinite floors get none."""
    ordered = torch.sort(floors, dim=-1).values
    rank = torch.arange(1, floors.shape[-1] + 1, device=floors.device, dtype=floors.dtype)
    finite = torch.where(torch.isfinite(ordered), ordered, torch.zeros_like(ordered))
    levels = (total + torch.cumsum(finite, -1)) / rank
    used = ((levels > ordered) & torch.isfinite(ordered)).sum(-1, keepdim=True).clamp(min=1)
    return torch.clamp(torch.gather(levels, -1, used - 1) - floors, min=0)
