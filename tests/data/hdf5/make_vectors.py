"""Writes vectors.json: HDF5 files by h5py, in the formats of 1.0 and 1.14, one with the form of a MATLAB file of version 7.3,
and the values of their arrays in C order. Run with h5py 3.16: python3 make_vectors.py"""
import base64, io, json, pathlib, tempfile
import h5py
import numpy as np

b64 = lambda data: base64.b64encode(data).decode()
value = lambda array: {"dtype": str(array.dtype.newbyteorder("=")), "shape": array.shape,
                       "values": b64(np.ascontiguousarray(array, array.dtype.newbyteorder("=")).tobytes())}


def saved(fill, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.h5")
        with h5py.File(path, "w", **options) as file:
            fill(file)
        return path.read_bytes()


rng = np.random.default_rng(4)
arrays = {
    "big": np.arange(6, dtype=">i4").reshape(2, 3), "big_complex": np.array([1 + 2j, -3j], ">c8"),
    "complex": np.arange(6).reshape(3, 2) * (1 - 0.5j), "empty": np.zeros((0, 4), "f4"), "float": np.arange(5, dtype="f4"),
    "half": np.arange(3, dtype="f2"), "packed": rng.integers(0, 5, (40, 30)).astype("f8"), "scalar": np.array(2.5),
    "set/inner": np.array([2**63, 1], "u8"),
}


def fill(file):
    for name, array in arrays.items():
        if name != "packed":
            file[name] = array
    file.create_dataset("packed", data=arrays["packed"], chunks=(16, 16), compression="gzip", shuffle=True, fletcher32=True)


def fill_others(file):
    file["text"] = "some text"
    file["record"] = np.zeros(2, [("x", "f8"), ("y", "f8")])
    file["soft"] = h5py.SoftLink("/nowhere")
    file["elsewhere"] = h5py.ExternalLink("/etc/passwd", "/x")
    file.create_dataset("device", (4,), "u1", external=[("/dev/random", 0, 4)])
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (4,))
    file.create_virtual_dataset("virtual", layout)
    file.create_dataset("giant", (2**40,), "f8", chunks=(1024,))


# MATLAB stores axes in reverse order and complex numbers as (real, imag).
gain = rng.normal(size=(2, 3, 4)) + 1j * rng.normal(size=(2, 3, 4))


def fill_matlab(file):
    data = file.create_dataset("gain", (4, 3, 2), [("real", "f8"), ("imag", "f8")])
    data[:] = np.ascontiguousarray(gain.T).view([("real", "f8"), ("imag", "f8")])
    data.attrs["MATLAB_class"] = np.bytes_("double")


matlab = bytearray(saved(fill_matlab, userblock_size=512))
matlab[:128] = b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM"
h = rng.normal(size=(2, 3, 4)) + 1j * rng.normal(size=(2, 3, 4))
pathlib.Path(__file__).with_name("vectors.json").write_text(json.dumps({
    "file": b64(saved(fill)), "version_1_14": b64(saved(fill, libver=("v114", "v114"))),
    "arrays": {name: value(array) for name, array in arrays.items()}, "others": b64(saved(fill_others)),
    "channel": b64(saved(lambda file: file.create_dataset("h", data=h, compression="gzip"))), "h": value(h),
    "matlab": b64(bytes(matlab)), "matlab_arrays": {"gain": value(gain)},
}))
