"""Writes vectors.json: MATLAB files of Level 5 by scipy.io.savemat, one big-endian file by hand that scipy.io.loadmat reads,
and the values of their arrays in C order. Run with SciPy 1.17: python3 make_vectors.py"""
import base64, io, json, pathlib, struct
import numpy as np
import scipy.io

b64 = lambda data: base64.b64encode(data).decode()
arrays = {
    "double": np.arange(6.0).reshape(2, 3) / 7,
    "single": np.arange(24, dtype="f4").reshape(2, 3, 4),
    "complex_double": np.arange(6).reshape(2, 3) * (1.5 - 2j),
    "complex_single": (np.arange(8).reshape(2, 2, 2) * (0.5 + 1j)).astype("c8"),
    "int8": np.array([[-128, 127]], "i1"), "uint8": np.array([[0], [255]], "u1"),
    "int16": np.array([[-32768, 32767]], "i2"), "uint16": np.array([[65535]], "u2"),
    "int32": np.array([[-2**31, 1]], "i4"), "uint32": np.array([[2**32 - 1]], "u4"),
    "int64": np.array([[-2**63, 2**53 + 1]], "i8"), "uint64": np.array([[2**64 - 1]], "u8"),
    "flag": np.array([[True, False]]), "empty": np.zeros((0, 3)), "wide": np.random.default_rng(1).normal(size=(10, 20)),
}
others = {"text": "some text", "record": {"x": 1.0}, "cells": np.array([1, "a"], dtype=object)}


def saved(members, **options):
    file = io.BytesIO()
    scipy.io.savemat(file, members, **options)
    return file.getvalue()


def element(kind, data):
    """A big-endian element; small ones stand in their tag."""
    if 0 < len(data) <= 4:
        return struct.pack(">HH", len(data), kind) + data.ljust(4, b"\0")
    return struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matrix(name, kind, shape, parts):
    flags = kind | (0x800 if len(parts) == 2 else 0)
    body = element(6, struct.pack(">II", flags, 0)) + element(5, struct.pack(f">{len(shape)}i", *shape))
    body += element(1, name.encode()) + b"".join(element(kind, data) for kind, data in parts)
    return struct.pack(">II", 14, len(body)) + body


# A double that is stored as small integers, and a complex single.
big = b"MATLAB 5.0 MAT-file, by hand".ljust(124) + struct.pack(">H", 0x100) + b"MI"
big += matrix("packed", 6, (2, 2), [(3, struct.pack(">4h", 1, 2, -3, 400))])
big += matrix("gain", 7, (1, 2), [(7, struct.pack(">2f", 1, 2)), (7, struct.pack(">2f", -1, 0.5))])
read = scipy.io.loadmat(io.BytesIO(big))
assert read["packed"].tolist() == [[1, -3], [2, 400]] and read["gain"].tolist() == [[1 - 1j, 2 + 0.5j]]

# Channels: gains and delays whose last axis of length 1 MATLAB dropped, and angles and delays of COST2100.
rng = np.random.default_rng(2)
a = rng.integers(-4, 5, (2, 1, 2, 1, 2, 3)) / 4 + 1j * rng.integers(-4, 5, (2, 1, 2, 1, 2, 3)) / 4
tau = rng.integers(0, 9, (2, 1, 1, 3)) * 1e-6
k = np.arange(-4, 4)
paths = np.einsum("sp,spk->sk", a[:, 0, 1, 0, 0], np.exp(-2j * np.pi * 15e3 * tau[:, 0, 0, :, None] * k))
ht = rng.integers(0, 9, (2, 2048)) / 8
gains = (ht[:, :1024] - 0.5 + 1j * (ht[:, 1024:] - 0.5)).reshape(2, 32, 32)[:, 5]
response = np.fft.fftshift(np.fft.fft(gains, 40), axes=1)

value = lambda array: {"dtype": str(array.dtype), "shape": array.shape, "values": b64(np.ascontiguousarray(array).tobytes())}
pathlib.Path(__file__).with_name("vectors.json").write_text(json.dumps({
    "plain": b64(saved(arrays)), "compressed": b64(saved(arrays, do_compression=True)),
    "arrays": {name: value(array) for name, array in arrays.items()},
    "others": b64(saved(others)), "big_endian": b64(big),
    "big_endian_arrays": {"packed": value(np.array([[1.0, -3], [2, 400]])), "gain": value(np.array([[1 - 1j, 2 + 0.5j]], "c8"))},
    "paths": b64(saved({"a": a, "tau": tau}, do_compression=True)), "paths_response": value(paths),
    "cost2100": b64(saved({"HT": ht}, do_compression=True)), "cost2100_response": value(response),
    "level_4": b64(saved({"x": np.arange(3.0)}, format="4").ljust(128, b"\0")),
}))
