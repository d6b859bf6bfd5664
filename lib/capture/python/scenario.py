"""The frozen graph of the recipe as torch modules, generated from the effective recipe: scenario.json has steps and parameters.

    from scenario import scenario

    result = scenario.forward({"demodulator": network}, batch, generator)
    result.loss().backward()

`slots` maps step ids to networks; a network takes the tensors of its interface in the order of interfaces.BLOCKS and returns its
outputs. Optional inputs go to networks whose attribute `takes` names them. `batch` maps taps (interfaces.TAPS), or `step.output`, to tensors or `Signal`s; everything else is computed by
the twins of the operations (twins/), sources included where they have one. Noise comes from `generator`, a torch.Generator.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import torch

from twins import TWINS, Draws, Signal
from twins.core import Unsupported

ROOT = Path(__file__).resolve().parent


class Result:
    """Losses of the evaluations, every signal that was computed, and why an evaluation was left out."""

    def __init__(self, signals, evaluations, left_out):
        self.signals, self.evaluations, self.left_out = signals, evaluations, left_out

    def loss(self, name=None, step_id=None):
        """A loss of an evaluation: that of `name`, else the default; of `step_id`, else the first one that has it."""
        for step, report in self.evaluations.items():
            if step_id in (None, step) and report.losses and name in (None, *report.losses):
                return report.losses[name or next(iter(report.losses))]
        raise ValueError(f"no loss {name or ''} of {step_id or 'any evaluation'}; losses by evaluation: {self.losses()}")

    def losses(self):
        return {step: list(report.losses) for step, report in self.evaluations.items()}

    def metrics(self):
        """Metrics of all evaluations as numbers."""
        return {
            name: float(value)
            for report in self.evaluations.values()
            for name, value in report.metadata.items()
            if not isinstance(value, str)
        }


class Scenario:
    def __init__(self, path=ROOT / "scenario.json"):
        graph = json.loads(Path(path).read_text(encoding="utf-8"))
        self.steps = {step["id"]: step for step in graph["steps"]}
        self.taps, self.evaluations, self.blocks = graph["taps"], graph["evaluations"], graph["blocks"]
        #: What a batch must give: `step.output` without a twin that computes it.
        self.required = graph["required"]
        #: Whether the twins draw all data, so that a batch may be empty.
        self.drawn = not self.required

    def shorten(self, bits):
        """Lets sources of random bits draw whole frames of together at least `bits` bits, never more than in the recipe."""
        for step in self.steps.values():
            if step["op"] == "source.random_bits":
                count = -(-bits // step["params"]["bit_count"])
                step["params"]["batch_size"] = min(count, step["params"]["batch_size"])

    def forward(self, slots, batch=None, generator=None, device="cpu", dtype=torch.float32):
        """Runs the link. @returns Result; gradients reach the parameters of all networks of `slots`"""
        signals = {self.taps.get(name, name): as_signal(value, device, dtype) for name, value in (batch or {}).items()}
        run = _Run(self, slots, signals, generator, device, dtype)
        evaluations, left_out = {}, {}
        for step in self.evaluations:
            try:
                evaluations[step] = run.outputs(step)["report"]
            except Unsupported as reason:
                left_out[step] = str(reason)
        if not evaluations:
            raise Unsupported("; ".join(f"{step}: {reason}" for step, reason in left_out.items()))
        return Result(signals, evaluations, left_out)


class _Inputs(Mapping):
    """Inputs of a step by port, each computed when its twin reads it: what a twin does not read needs no twin."""

    def __init__(self, run, references):
        self.run, self.references = run, references

    def __getitem__(self, port):
        return self.run.signal(self.references[port])

    def __contains__(self, port):
        return port in self.references

    def __iter__(self):
        return iter(self.references)

    def __len__(self):
        return len(self.references)


class _Run:
    def __init__(self, scenario, slots, signals, generator, device, dtype):
        self.scenario, self.slots, self.signals = scenario, slots, signals
        self.generator, self.device, self.dtype, self.done = generator, device, dtype, {}

    def signal(self, reference):
        if reference not in self.signals:
            step, port = reference.split(".")
            found = self.outputs(step)
            if port not in found:
                raise Unsupported(f"the twin of {self.scenario.steps[step]['op']} gives no {port}: put {reference} in the batch")
            self.signals.setdefault(reference, found[port])
        return self.signals[reference]

    def outputs(self, step_id):
        if step_id not in self.done:
            step = self.scenario.steps[step_id]
            if step["op"] not in TWINS:
                raise ValueError(f"{step_id} ({step['op']}) has no twin: put its outputs in the batch")
            inputs = _Inputs(self, step["inputs"])
            draws = Draws(self.generator, device=self.device, dtype=self.dtype)
            self.done[step_id] = TWINS[step["op"]](inputs, step["params"], draws, self.network(step_id))
        return self.done[step_id]

    def network(self, step_id):
        network = self.slots.get(step_id)
        if network is None:
            if step_id in self.scenario.blocks:
                raise ValueError(f"slots has no network for {step_id}")
            return None
        block = self.scenario.blocks[step_id]

        def call(**feeds):
            takes = getattr(network, "takes", ())
            names = [name for name in block["inputs"] if name not in block["optional"] or name in takes]
            given = network(*(feeds[name].to(torch.float32) for name in names))
            given = given if isinstance(given, (tuple, list)) else (given,)
            return dict(zip(block["outputs"], given))

        return call


def as_signal(value, device="cpu", dtype=torch.float32):
    if not isinstance(value, Signal):
        value = Signal(torch.as_tensor(value))
    complex_dtype = torch.complex128 if dtype == torch.float64 else torch.complex64
    cast = lambda x: x.to(device, complex_dtype if x.is_complex() else dtype if x.is_floating_point() else x.dtype)
    # Streams of bits are float tensors; images and labels stay integers.
    data = value.data.to(dtype) if value.data.dtype == torch.uint8 and value.data.dim() == 1 else value.data
    companions = {name: cast(tensor) for name, tensor in value.companions.items()}
    return Signal(cast(data), value.metadata, companions, value.soft, value.losses)


def batch_of(arrays, schemas):
    """A batch of shard arrays, records along axis 0, as signals: a run of as many records.

    `schemas` are `tap_schemas` of a split's schema.json. Records of streams are joined into one stream, and metadata are
    those of the first run, with the item counts of a record repeated for every record.
    """
    batch = {}
    for tap in schemas:
        data = torch.from_numpy(arrays[tap["id"]])
        # A record that is a whole array of its run is joined to the next one along its first axis.
        whole = tap.get("record") == "run" or len(tap["shape"]) == 1 and "channel." in tap["kind"]
        join = lambda x: x.reshape(-1, *x.shape[2:]) if whole and x.dim() > 1 else x
        metadata = dict(tap["first_run_metadata"])
        for name in ("source_item_counts", "modulated_item_bit_counts"):
            if name in metadata and whole:
                counts = list(metadata[name])
                metadata[name] = (counts[:1] if tap.get("record") == "source_item" else counts) * len(data)
            elif name in metadata:
                metadata.pop(name)
        companions = {}
        for name, described in tap["arrays"].items():
            if name == tap["id"]:
                continue
            tensor = torch.from_numpy(arrays[name])
            companions[name.split("__", 1)[1]] = tensor[0] if described["repeated"] else join(tensor)
        batch[tap["id"]] = Signal(join(data), metadata, companions)
    return batch


scenario = Scenario()
