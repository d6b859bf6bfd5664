"""Writes models/receiver.pt, the weights of recipes/models/qpsk-iq-receiver-v1/receiver.onnx for PyTorch.

    python3 adapters/torch_receiver/training/convert.py      (needs torch and onnx)
"""
import sys
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest
sys.path.insert(0, str(HERE.parent))
from network import Receiver  # noqa: E402

source = HERE.parents[2] / "recipes" / "models" / "qpsk-iq-receiver-v1" / "receiver.onnx"
values = {each.name: torch.from_numpy(numpy_helper.to_array(each).copy()) for each in onnx.load(source).graph.initializer}
network = Receiver()
# The graph multiplies rows by transposed matrices.
network.load_state_dict({name: values[name].T if name.endswith("weight") else values[name] for name in network.state_dict()})
torch.save(network.state_dict(), HERE.parent / "models" / "receiver.pt")
