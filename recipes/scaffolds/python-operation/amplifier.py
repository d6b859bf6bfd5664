"""A power amplifier that clips: amplitudes above the saturation A are set to A, phases are kept. A^2 is the mean power of
the input times the back-off. Replace it by your own operation.

Source: the soft-limiter model, such as in Rowe, Memoryless nonlinearities with Gaussian inputs, Bell Syst. Tech. J. 61,
1982.
"""
import numpy as np


def clip(inputs, params, context):
    """Clips symbols.

    inputs by port as declared in the manifest; symbols are complex64 [n]. Returns outputs by port, and metrics, recorded as
    external.example_amplifier.<name>.
    """
    symbols = inputs["symbols"]
    amplitudes = np.abs(symbols)
    saturation = np.sqrt(np.mean(amplitudes**2) * 10 ** (params["backoff_db"] / 10)) if symbols.size else 1.0
    clipped = amplitudes > saturation
    gains = np.where(clipped, saturation / np.where(clipped, amplitudes, 1), 1)
    return {
        "outputs": {"symbols": (gains * symbols).astype(np.complex64)},
        "metrics": {"clipped_share": clipped.mean() if symbols.size else 0.0},
    }
