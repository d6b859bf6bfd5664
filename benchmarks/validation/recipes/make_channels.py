"""Writes field_two_paths.npz, field_matrices.mat and field_ring.npz, with NumPy and SciPy.

Run: python3 make_channels.py. The MATLAB file has the date in its head, so that its digest changes.
"""
import pathlib

import numpy as np
import scipy.io

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(44)

# Two paths, the second at 7 of the 64 delays that 64 subcarriers of 15 kHz resolve, with amplitudes relative to the first.
ratios = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
a = np.stack([np.ones(5), ratios * np.exp(2j * np.pi * np.arange(5) / 5)], 1)
np.savez_compressed(here / "field_two_paths.npz", a=a.astype("c8"), tau=np.tile([0, 7 / 64 / 15e3], (5, 1)))

# Matrices of known singular values between random unitary matrices, of one OFDM symbol and 8 subcarriers.
values = np.array([[1.0, 1.0, 1.0, 1.0], [1.6, 1.0, 0.6, 0.2], [2.0, 0.0, 0.0, 0.0]])


def unitary(count):
    drawn = rng.normal(size=(count, 4, 4)) + 1j * rng.normal(size=(count, 4, 4))
    return np.linalg.qr(drawn)[0]


h = np.stack([unitary(8) @ (one[:, None] * unitary(8)) for one in values])[:, None]
scipy.io.savemat(here / "field_matrices.mat", {"h": h.astype("c8")}, do_compression=True)

# 64 waves of equal gain from equal angles around the receiver; the zenith of the second sample is 30 degrees.
angles = 2 * np.pi * np.arange(64) / 64
ring = {"a": np.full((2, 64), 1 / 64, "c8"), "tau": np.zeros((2, 64)), "phi_r": np.tile(angles, (2, 1))}
np.savez_compressed(here / "field_ring.npz", **ring, theta_r=np.repeat([[np.pi / 2], [np.pi / 6]], 64, 1))
