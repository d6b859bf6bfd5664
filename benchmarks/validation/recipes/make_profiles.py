"""Writes field_profiles.h5 and field_profiles.mat: channels of 8 antennas with exponential power-delay profiles, with NumPy, h5py and SciPy.

Run: python3 make_profiles.py. The MATLAB file has the date in its head, so that its digest changes. Tap n of 64 has the power exp(-n / spread)
at each angle, and a phase of its own: only sums over all of them have a profile. Samples 0 to 3 have the spreads 1, 2, 4 and 8.
HF_all has the frequency responses of the angles, HT the taps themselves: real parts plus 0.5, then imaginary parts plus 0.5.
"""
import pathlib

import h5py
import numpy as np
import scipy.io

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(44)
power = np.exp(-np.arange(64) / np.array([[1.0], [2.0], [4.0], [8.0]]))
share = rng.dirichlet(np.ones(8), size=(4, 64)).transpose(0, 2, 1)
taps = 0.4 * np.sqrt(power[:, None] * share) * np.exp(2j * np.pi * rng.random((4, 8, 64)))

response = np.fft.fft(taps, axis=2).reshape(4, -1)
with h5py.File(here / "field_profiles.h5", "w") as file:
    file.create_dataset("HF_all", data=response.astype("c8"), compression="gzip")
parts = np.concatenate([taps.real.reshape(4, -1), taps.imag.reshape(4, -1)], 1)
scipy.io.savemat(here / "field_profiles.mat", {"HT": (parts + 0.5).astype("f4")}, do_compression=True)
