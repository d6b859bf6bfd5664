"""Runs the trained receiver with PyTorch, as an operation with ports of its own."""
import io

import numpy as np
import torch

from network import Receiver


def load(content):
    """A network from the bytes of its weights; loading them runs no code."""
    network = Receiver()
    network.load_state_dict(torch.load(io.BytesIO(content), weights_only=True))
    return network.eval()


def receive(inputs, params, context):
    """Receives symbols complex64 [n]; returns bits uint8 [2 n] and ratios float32 [2 n]."""
    network = load(context.models["network"])
    context.raise_if_cancelled()
    symbols = torch.from_numpy(inputs["rx_symbols"].view(np.float32).reshape(-1, 2))
    # The scale of the ratios is an average over the symbols of a call.
    with torch.inference_mode():
        calls = [network(part) for part in torch.split(symbols, params["symbols_per_call"])]
        ratios = torch.cat(calls).reshape(-1).numpy()
    return {"outputs": {"bits": (ratios < 0).astype(np.uint8), "llr": ratios}}
