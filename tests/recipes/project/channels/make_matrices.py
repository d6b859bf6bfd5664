"""Writes matrices.h5: gains and delays as a ray tracer gives them, 40 samples of 2 by 2 antennas. Run: python3 make_matrices.py"""
import pathlib
import h5py
import numpy as np

rng = np.random.default_rng(7)
shape = (40, 1, 2, 1, 2, 3, 1)
a = (rng.normal(size=shape) + 1j * rng.normal(size=shape)) * np.array([0.8, 0.5, 0.3])[:, None]
tau = np.tile(np.array([0.1, 0.4, 1.1]) * 1e-6, (40, 1, 1, 1))
with h5py.File(pathlib.Path(__file__).with_name("matrices.h5"), "w") as file:
    file.create_dataset("a", data=a.astype("c8"), compression="gzip")
    file.create_dataset("tau", data=tau.astype("f4"), compression="gzip")
