"""Channels in the form of DATA_Htestin.mat of the CsiNet family: HT, double [sample, 2 x 32 x 32] in [0, 1], 0.5 as zero, all real parts
before all imaginary ones, angle slowest. As a script it writes vectors.json: a file of the form of MATLAB 7.3 by h5py, and sixteen times its
values. Run with h5py 3 and NumPy 2: python3 make_vectors.py"""
import base64, json, pathlib, sys, tempfile
import numpy as np


def truncated(samples, seed):
    """Values in steps of 1/16: a few delays of a few angles, zero elsewhere."""
    rng = np.random.default_rng(seed)
    ht = np.full((samples, 2, 32, 32), 0.5)
    for row in ht:
        for _ in range(6):
            row[:, rng.integers(32), rng.integers(32)] = rng.integers(0, 17, 2) / 16
    return ht.reshape(samples, 2048)


def channels(ht):
    """[sample, 32 antennas, 125 of 257 subcarriers], complex single."""
    parts = ht.reshape(-1, 2, 32, 32) - 0.5
    delays = parts[:, 0] + 1j * parts[:, 1]
    return (np.fft.ifft(np.fft.fft(delays, 257, axis=2)[:, :, :125], axis=1) * np.sqrt(32)).astype("c8")


def version_7_3(ht):
    """MATLAB stores the axes in reverse order behind a header of 512 bytes."""
    import h5py
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.mat")
        with h5py.File(path, "w", userblock_size=512) as file:
            data = file.create_dataset("HT", data=ht.T, compression="gzip", chunks=(2048, 1))
            data.attrs["MATLAB_class"] = np.bytes_("double")
        content = bytearray(path.read_bytes())
    content[:128] = b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM"
    return bytes(content)


if __name__ == "__main__" and len(sys.argv) == 3:  # MATLAB 5 by SciPy into a folder, the channels to standard output
    import scipy.io
    ht = truncated(5, 8)
    for name, compressed in ("DATA_Htestin.mat", False), ("compressed.mat", True):
        scipy.io.savemat(pathlib.Path(sys.argv[2], name), {"HT": ht}, do_compression=compressed)
    sys.stdout.buffer.write(channels(ht).tobytes())
elif __name__ == "__main__":
    ht = truncated(2, 7)
    text = lambda data: base64.b64encode(data).decode()
    pathlib.Path(__file__).with_name("vectors.json").write_text(
        json.dumps({"version_7_3": text(version_7_3(ht)), "sixteenths": text((16 * ht).astype("u1").tobytes())}))
