"""Interfaces of the blocks under training, and the captured records to train them on.

Written by an export for the trainer's own environment (Python 3.9 or later, NumPy, PyTorch 2.5 or later); svc never runs it. A new export
replaces this file, so keep your network in a file of your own:

    from interfaces import Records, export_onnx
    from networks import build, open_sizes

    network = build("@STEP@")
    for batch in Records("train").batches(64):
        x = batch["@TAP@"]    # one record per row
    export_onnx(network, "@STEP@", open_sizes=open_sizes("@STEP@"))    # writes @COMPONENT@.onnx beside this file
"""

import json
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent
CONTRACT = json.loads(r"""@CONTRACT@""")

#: Step id -> {"component_id", "component_role", "entrypoint_id", "inputs", "outputs", ...}
BLOCKS = {block["step_id"]: block for block in CONTRACT["blocks"]}


def block_of(name):
    """A block by its step id, or by the name of its component where one block has it."""
    if name in BLOCKS:
        return BLOCKS[name]
    found = [block for block in BLOCKS.values() if name in (block["component_id"], block["component_role"])]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{step} (component {block['component_id']})" for step, block in BLOCKS.items())
    raise ValueError(f"{'several blocks are' if found else 'no block is'} named {name}: there are {known}")


#: Step id -> effective parameters of that step
PARAMS = CONTRACT["params"]
#: Tap id -> {"from", "kind", "purpose"}
TAPS = {tap["id"]: tap for tap in CONTRACT["taps"]}
SPLITS = tuple(CONTRACT["splits"])
#: Operator set of the ONNX files
OPSET = 17


def real_imaginary(values):
    """complex [...] -> float32 [..., 2], the form in which complex values cross the interface of a block."""
    values = np.asarray(values)
    return np.stack([values.real, values.imag], axis=-1).astype(np.float32)


class Records:
    """The captured records of a split, read shard by shard."""

    def __init__(self, split, folder=None):
        if split not in SPLITS:
            raise ValueError(f"no split {split}: there are {', '.join(SPLITS)}")
        self.folder = Path(folder) if folder is not None else ROOT / "data" / split
        schema = self.folder / "schema.json"
        if not schema.exists():
            raise FileNotFoundError(f"{schema} does not exist: run svc dataset-capture run {ROOT}")
        self.schema = json.loads(schema.read_text(encoding="utf-8"))

    def __len__(self):
        return self.schema["captured_samples"]

    def shards(self):
        """Yields {tap id: array [records, ...]} shard by shard."""
        for shard in self.schema["shards"]:
            with np.load(self.folder / shard["path"]) as arrays:
                yield {name: arrays[name] for name in arrays.files if name != "metadata_json"}

    def facts(self):
        """Yields what each shard says of its records: runs with seed, selection, first_record, records."""
        for shard in self.schema["shards"]:
            with np.load(self.folder / shard["path"]) as arrays:
                yield json.loads(str(arrays["metadata_json"]))

    def batches(self, size, generator=None):
        """Yields batches of at most `size` records; `generator` (numpy.random.Generator) shuffles within each shard."""
        for arrays in self.shards():
            count = len(next(iter(arrays.values())))
            order = np.arange(count) if generator is None else generator.permutation(count)
            for start in range(0, count, size):
                chosen = order[start : start + size]
                yield {name: array[chosen] for name, array in arrays.items()}


def inputs_of(step_id, network=None):
    """The inputs of a block that a network takes: optional ones only if its attribute `takes` names them."""
    takes = getattr(network, "takes", ())
    return {name: value for name, value in block_of(step_id)["inputs"].items() if not value.get("optional") or name in takes}


def example_inputs(step_id, sizes=None, seed=None, network=None):
    """Inputs of a block: zeros, or normal values of a seed. Open sizes come from `sizes` (name -> int), else they are 4."""
    sizes, generator = sizes or {}, np.random.default_rng(seed)
    shapes = {
        name: [sizes.get(n, 4) if isinstance(n, str) else n for n in value["shape"]]
        for name, value in inputs_of(step_id, network).items()
    }
    if seed is None:
        return {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def check_network(network, step_id, sizes=None):
    """Runs a torch module on zeros and compares names and shapes of what it gives with the interface of the block."""
    import torch

    block, sizes = block_of(step_id), dict(sizes or {})
    inputs = [torch.from_numpy(array) for array in example_inputs(step_id, sizes, network=network).values()]
    with torch.no_grad():
        given = network(*inputs)
    given = given if isinstance(given, (tuple, list)) else (given,)
    wanted = block["outputs"]
    open_inputs = {n for value in block["inputs"].values() for n in value["shape"] if isinstance(n, str)}
    if len(given) != len(wanted):
        raise ValueError(f"{step_id}: {len(given)} outputs, the interface has {len(wanted)}: {', '.join(wanted)}")
    for (name, value), tensor in zip(wanted.items(), given):
        shape = value["shape"]
        # An open size that only outputs have is the network's to choose.
        fits = tensor.dim() == len(shape) and all(
            actual == (n if isinstance(n, int) else sizes.get(n, 4)) or (n not in open_inputs and isinstance(n, str))
            for n, actual in zip(shape, tensor.shape)
        )
        if tensor.dtype != torch.float32 or not fits:
            raise ValueError(f"{step_id}: {name} is {tensor.dtype} {list(tensor.shape)}, the interface says float32 {shape}")
    return given


def export_onnx(network, step_id, sizes=None, folder=None, opset=OPSET, inputs=None, open_sizes=None):
    """Writes the network of a block, named by step or component, as one ONNX file with embedded weights.

    `open_sizes` names the sizes of the interface that stay open, all by default; the others are fixed by `sizes`.

    Beside it, <component>.parity.npz holds inputs and the outputs of the torch network for them. `svc artifact package`
    runs the ONNX file on these inputs and accepts a difference of at most 1e-5 of the peak. `inputs` (name -> array) are
    inputs of your own choice for that comparison; by default they are normal values, with one row less than traced.
    """
    import torch

    network = network.to("cpu").eval()
    sizes = dict(sizes or {})
    check_network(network, step_id, sizes)
    block, taken = block_of(step_id), inputs_of(step_id, network)
    path = Path(folder or ROOT) / f"{block['component_id']}.onnx"
    names = lambda values: {
        name: {
            axis: n
            for axis, n in enumerate(value["shape"])
            if isinstance(n, str) and (open_sizes is None or n in open_sizes)
        }
        for name, value in values.items()
    }
    # The exporter of torch itself needs the package onnxscript and writes weights beside the graph; this one does neither.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            tuple(torch.from_numpy(array) for array in example_inputs(step_id, sizes, network=network).values()),
            str(path),
            input_names=list(taken),
            output_names=list(block["outputs"]),
            dynamic_axes={**names(taken), **names(block["outputs"])},
            opset_version=opset,
            dynamo=False,
        )
    first = next(iter(block["inputs"].values()))["shape"][0]
    rows = {first: max(sizes.get(first, 4) - 1, 1)} if isinstance(first, str) else {}
    inputs = inputs or example_inputs(step_id, {**sizes, **rows}, seed=0, network=network)
    with torch.no_grad():
        given = network(*(torch.from_numpy(np.ascontiguousarray(inputs[name], np.float32)) for name in taken))
    given = given if isinstance(given, (tuple, list)) else (given,)
    np.savez(
        path.with_suffix(".parity.npz"),
        **{f"input__{name}": np.asarray(inputs[name], np.float32) for name in taken},
        **{f"output__{name}": tensor.numpy() for name, tensor in zip(block["outputs"], given)},
    )
    return path
