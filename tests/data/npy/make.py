"""Writes the stored NPY and NPZ files, and vectors.json with what they hold.

Run as `python3 make.py` in this folder; made with NumPy 2.4.6 (NumPy 1.24.2 writes the same bytes).
"""
import base64
import io
import json
import zipfile

import numpy as np

rng = np.random.default_rng(20240611)
CODES = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def sample(dtype, shape):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return (rng.integers(0, 2, count) == 1).reshape(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True).reshape(shape)
    if dtype.kind == "c":
        return (rng.standard_normal(count) + 1j * rng.standard_normal(count)).astype(dtype).reshape(shape)
    return rng.standard_normal(count).astype(dtype).reshape(shape)


def npy(array, version=None):
    out = io.BytesIO()
    if version is None:
        np.save(out, array)
    else:
        np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def b64(data):
    return base64.b64encode(data).decode()


def vector(name, data, array, native):
    """`values` are the elements in C order, little-endian; `native`: np.save writes exactly this file for them."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    return {
        "name": name,
        "file": b64(data),
        "dtype": array.dtype.newbyteorder("=").name,
        "shape": list(array.shape),
        "values": b64(little.tobytes()),
        "native": native,
    }


vectors = []
for code in CODES:
    one = sample(code, (7,))
    cube = sample(code, (2, 3, 4))
    vectors.append(vector(f"{code} vector", npy(one), one, True))
    vectors.append(vector(f"{code} cube", npy(cube), cube, True))
    fortran = np.asfortranarray(cube)
    vectors.append(vector(f"{code} Fortran cube", npy(fortran), cube, False))
    if cube.dtype.itemsize > 1:
        big = cube.astype(cube.dtype.newbyteorder(">"))
        vectors.append(vector(f"{code} big-endian", npy(big), cube, False))
        vectors.append(vector(f"{code} big-endian Fortran", npy(np.asfortranarray(big)), cube, False))
special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324], dtype="<f8")
payload = np.array([0x7FF8000000000123, 0xFFF0000000000001], dtype="<u8").view("<f8")
for name, array in {
    "scalar": np.array(3.25),
    "empty": np.zeros((0, 5), "f4"),
    "empty 1-D": np.zeros((0,), "u1"),
    "specials": special,
    "NaN payloads": payload,
    "wide": np.arange(12, dtype="i4").reshape(1, 12, 1),
    "long first axis": np.zeros((123456, 0), "i1"),
    "rank 7": np.arange(2**7, dtype="u1").reshape((2,) * 7),
}.items():
    vectors.append(vector(name, npy(array), array, True))
# Header texts of every length, around the boundaries of their alignment.
for ones in range(16):
    for digits in range(3):
        array = np.zeros((0,) + (1,) * ones + (10**digits,), "u1")
        vectors.append(vector(f"header {ones} {digits}", npy(array), array, True))
columns = np.asfortranarray(np.arange(35, dtype="i2").reshape(5, 7))
vectors.append(vector("Fortran matrix", npy(columns), columns, False))
vectors.append(vector("NaN payloads Fortran", npy(np.asfortranarray(np.stack([payload, payload[::-1]]))),
                      np.stack([payload, payload[::-1]]), False))
for version in [(2, 0), (3, 0)]:
    array = sample("f4", (3, 2))
    vectors.append(vector(f"version {version[0]}", npy(array, version), array, False))
python2 = npy(np.arange(3, dtype="i4")).replace(b"(3,), } ", b"(3L,), }")
vectors.append(vector("Python 2 long", python2, np.arange(3, dtype="i4"), False))

refused = {
    "object": npy(np.array([{}, 1], dtype=object)),
    "record": npy(np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])),
    "datetime": npy(np.array(["2024-01-01"], dtype="M8[D]")),
    "bytes": npy(np.array([b"abc"])),
    "void": npy(np.array([b"abc"], dtype="V3")),
    "long double": npy(np.array([1.0], dtype="longdouble")),
}
texts = [{"text": text, "file": b64(npy(np.array(text)))} for text in ["{}", "", '{"name":"é😀","snr_db":6.0}', "x" * 9000]]
texts_big = [{"text": "né😀", "file": b64(npy(np.array("né😀").astype(">U3")))}]


class Pipe(io.RawIOBase):
    """Cannot seek, so that NumPy streams: sizes follow the data."""

    def __init__(self):
        self.parts = []

    def writable(self):
        return True

    def write(self, data):
        self.parts.append(bytes(data))
        return len(data)


arrays = {"bits": sample("u1", (9,)), "symbols": sample("c8", (5,)), "images": sample("f4", (1, 2, 3, 1))}
plain, packed, pipe = io.BytesIO(), io.BytesIO(), Pipe()
np.savez(plain, **arrays)
np.savez_compressed(packed, **arrays)
np.savez(pipe, **arrays)
commented = io.BytesIO()
with zipfile.ZipFile(commented, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, array in arrays.items():
        archive.writestr(name + ".npy", npy(array))
    archive.comment = b"PK\x05\x06 a comment that looks like an end"
unicode_name = io.BytesIO()
np.savez(unicode_name, **{"grün": arrays["bits"]})


def zip64(data):
    """The same archive with a zip64 end record and saturated plain fields."""
    end = data.rindex(b"PK\x05\x06")
    count = int.from_bytes(data[end + 10:end + 12], "little")
    size = int.from_bytes(data[end + 12:end + 16], "little")
    offset = int.from_bytes(data[end + 16:end + 20], "little")
    record = b"PK\x06\x06" + (44).to_bytes(8, "little") + bytes([45, 0, 45, 0]) + bytes(8)
    record += count.to_bytes(8, "little") * 2 + size.to_bytes(8, "little") + offset.to_bytes(8, "little")
    locator = b"PK\x06\x07" + bytes(4) + end.to_bytes(8, "little") + (1).to_bytes(4, "little")
    tail = b"PK\x05\x06" + bytes(4) + b"\xff" * 12 + bytes(2)
    return data[:end] + record + locator + tail


archives = {
    "savez": plain.getvalue(),
    "savez_compressed": packed.getvalue(),
    "streamed": b"".join(pipe.parts),
    "comment": commented.getvalue(),
    "zip64 end": zip64(plain.getvalue()),
}
# Every central entry with its sizes and offset in a zip64 field.
out = bytearray()
source = plain.getvalue()
end = source.rindex(b"PK\x05\x06")
start = int.from_bytes(source[end + 16:end + 20], "little")
at, count = start, 0
out += source[:start]
while source[at:at + 4] == b"PK\x01\x02":
    name_length, extra_length = (int.from_bytes(source[at + i:at + i + 2], "little") for i in (28, 30))
    assert extra_length == 0
    packed_size, size = source[at + 20:at + 24], source[at + 24:at + 28]
    offset = source[at + 42:at + 46]
    field = b"\x01\x00" + (24).to_bytes(2, "little") + size + bytes(4) + packed_size + bytes(4) + offset + bytes(4)
    head = bytearray(source[at:at + 46])
    head[20:28] = b"\xff" * 8
    head[42:46] = b"\xff" * 4
    head[30:32] = len(field).to_bytes(2, "little")
    out += head + source[at + 46:at + 46 + name_length] + field
    at += 46 + name_length
    count += 1
size = len(out) - start
out += b"PK\x05\x06" + bytes(4) + count.to_bytes(2, "little") * 2 + size.to_bytes(4, "little")
out += start.to_bytes(4, "little") + bytes(2)
archives["zip64 entries"] = bytes(out)
for name, data in archives.items():
    if name == "comment":  # Python's reader takes the comment for the end record
        continue
    loaded = np.load(io.BytesIO(data))
    assert all(np.array_equal(loaded[key], array) for key, array in arrays.items()), name

# An artifact: stored entries sorted by name, fixed time, no extra fields, canonical JSON as a 0-d Unicode array.
metadata = '{"array":"bits","boundary_contract":"channel.bits","dtype":"uint8","label":"é😀","shape":[4],"snr_db":6.0}'
artifact = io.BytesIO()
with zipfile.ZipFile(artifact, "w", zipfile.ZIP_STORED) as archive:
    for name, array in [("bits", np.array([1, 0, 1, 1], "u1")), ("metadata_json", np.array(metadata)),
                        ("noise_variance", np.array(0.5))]:
        entry = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
        entry.create_system = 0
        archive.writestr(entry, npy(array))
# zipfile writes Unix permissions of 0600 where none are given; ours are 0, as the external attributes of a FAT file.
artifact = artifact.getvalue().replace((0o600 << 16).to_bytes(4, "little"), bytes(4))

json.dump({
    "artifact": b64(artifact),
    "made_by": "make.py with NumPy " + np.__version__,
    "arrays": vectors,
    "refused": {name: b64(data) for name, data in refused.items()},
    "texts": texts,
    "texts_big_endian": texts_big,
    "archive_members": {name: vector(name, b"", array, True) for name, array in arrays.items()},
    "archives": {name: b64(data) for name, data in archives.items()},
    "archive_with_unicode_name": b64(unicode_name.getvalue()),
}, open("vectors.json", "w"), ensure_ascii=False, indent=1)
