"""The network of the trained receiver qpsk-iq-receiver-v1 in PyTorch: symbols behind a front end with I/Q imbalance to
log-likelihood ratios. recipes/models/qpsk-iq-receiver-v1 of svc trains it and has the same network as ONNX.
"""
import torch
from torch import nn


class Receiver(nn.Module):
    """Symbols [n, 2], real and imaginary parts, to ratios of the same shape, positive for bit 0.

    Two hidden layers give soft values; a branch that averages features over the symbols of a call gives one positive scale,
    an estimate of the inverse noise variance.
    """

    def __init__(self, hidden=16, pooled=16):
        super().__init__()
        self.first, self.second, self.soft = nn.Linear(2, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2)
        self.feature = nn.Linear(hidden, pooled)
        self.context, self.scale = nn.Linear(pooled, pooled), nn.Linear(pooled, 1)

    def forward(self, symbols):
        hidden = torch.relu(self.second(torch.relu(self.first(symbols))))
        mean = torch.relu(self.feature(hidden)).mean(-2, keepdim=True)
        return self.soft(hidden) * torch.exp(self.scale(torch.relu(self.context(mean))))
