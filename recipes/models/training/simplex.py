"""The projection that the allocators of power apply to the output of a network."""

import torch


def project(scores, total):
    """The nearest powers [batch, subcarrier] that are not negative and sum to `total` [batch, 1] (Duchi et al., ICML 2008)."""
    ordered = scores.sort(1, descending=True).values
    sums = ordered.cumsum(1) - total
    kept = (ordered * torch.arange(1, scores.shape[1] + 1) > sums).sum(1, keepdim=True)
    return torch.relu(scores - sums.gather(1, kept - 1) / kept)
