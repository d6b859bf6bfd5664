"""A receiver for QPSK: symbols to bits and log-likelihood ratios. Replace it by your own, for example in PyTorch.

For Gray-mapped QPSK, y = x + n, x in (+-1 +-1j)/sqrt(2), n complex Gaussian of variance N0: the log-likelihood ratio
ln P(0|y)/P(1|y) of the first bit is 2 sqrt(2) Re(y)/N0, that of the second bit 2 sqrt(2) Im(y)/N0 (Proakis, Digital
Communications, 4.3).
"""
import numpy as np


def log_likelihood_ratios(symbols, noise_variance):
    """Ratios [2 n] of symbols complex64 [n], positive for bit 0."""
    parts = np.stack([symbols.real, symbols.imag], axis=1).reshape(-1)
    return (2 * np.sqrt(2) / noise_variance * parts).astype(np.float32)


def receive(call, context):
    """Receives symbols.

    inputs by port as declared in the manifest; the metadata of a port has what earlier steps know, such as the noise
    variance. Returns outputs by port, and metrics, recorded as external.example_receiver.<name>.
    """
    symbols, metadata = call["inputs"]["rx_symbols"], call["metadata"]["rx_symbols"]
    ratios = call["params"]["scale"] * log_likelihood_ratios(symbols, metadata.get("noise_variance", 1.0))
    context.raise_if_cancelled()
    return {
        "outputs": {"bits": (ratios < 0).astype(np.uint8), "llr": ratios},
        "metrics": {"mean_reliability": float(np.abs(ratios).mean()) if ratios.size else 0.0},
    }
