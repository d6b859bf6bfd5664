"""Writes vectors.json: small PNG and JPEG files with the samples they hold, and resized and blurred pictures.

Run as `/usr/bin/python3 make.py` in this folder; made with NumPy 1.24.2, SciPy 1.10.1, Pillow 9.4.0.
PNG files named "own …" come from the writer below, because Pillow has no interlacing and no deep colour types; their
samples follow from the definition, not from a decoder. All others are read by Pillow.
"""
import base64
import io
import json
import struct
import zlib

import numpy as np
import PIL
from PIL import Image, ImageOps
from scipy import ndimage

rng = np.random.default_rng(77)
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2), (0, 1, 1, 2)]


def b64(data):
    return base64.b64encode(bytes(data)).decode()


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def pack_row(row, depth):
    """row [columns, channels] of raw samples -> bytes, most significant first."""
    values = row.reshape(-1).astype(np.uint16)
    if depth == 16:
        return values.astype(">u2").tobytes()
    if depth == 8:
        return values.astype("u1").tobytes()
    bits = (values[:, None] >> np.arange(depth - 1, -1, -1)) & 1
    return np.packbits(bits.astype("u1").reshape(-1)).tobytes()


def filter_row(kind, line, above, step):
    line, above = np.frombuffer(line, "u1").astype(int), np.frombuffer(above, "u1").astype(int)
    left = np.concatenate([np.zeros(step, int), line])[:len(line)]
    corner = np.concatenate([np.zeros(step, int), above])[:len(line)]
    p = left + above - corner
    pa, pb, pc = abs(p - left), abs(p - above), abs(p - corner)
    paeth = np.where((pa <= pb) & (pa <= pc), left, np.where(pb <= pc, above, corner))
    guess = [0 * line, left, above, (left + above) // 2, paeth][kind]
    return ((line - guess) & 255).astype("u1").tobytes()


def own_png(samples, color, depth, interlaced=False, palette=None, trns=None, pieces=1):
    height, width, channels = samples.shape
    assert channels == CHANNELS[color]
    step = max(1, channels * depth // 8)
    raw = b""
    row_number = 0
    for x, dx, y, dy in PASSES if interlaced else [(0, 1, 0, 1)]:
        part = samples[y::dy, x::dx]
        if part.size == 0:
            continue
        above = bytes(len(pack_row(part[0], depth)))
        for row in part:
            line = pack_row(row, depth)
            kind = row_number % 5
            row_number += 1
            raw += bytes([kind]) + filter_row(kind, line, above, step)
            above = line
    data = zlib.compress(raw, 9)
    cuts = np.linspace(0, len(data), pieces + 1).astype(int)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
    out += chunk(b"gAMA", struct.pack(">I", 45455))
    if palette is not None:
        out += chunk(b"PLTE", palette.astype("u1").tobytes())
    if trns is not None:
        out += chunk(b"tRNS", trns)
    for a, b in zip(cuts, cuts[1:]):
        out += chunk(b"IDAT", data[a:b])
    return out + chunk(b"IEND", b"")


def reduce(samples, depth):
    """To 8 bits: exact scaling below, rounding of v/257 above."""
    if depth == 16:
        return np.floor(samples / 257 + 0.5).astype("u1")
    return (samples.astype(int) * 255 // (2**depth - 1)).astype("u1")


pngs = []


def add(name, data, image):
    image = np.asarray(image)
    if image.ndim == 2:
        image = image[..., None]
    height, width, channels = image.shape
    pngs.append({"name": name, "file": b64(data), "width": width, "height": height, "channels": channels,
                 "samples": b64(image.astype("u1").tobytes())})


H, W = 11, 13
for color, depths in {0: [1, 2, 4, 8, 16], 2: [8, 16], 4: [8, 16], 6: [8, 16]}.items():
    for depth in depths:
        samples = rng.integers(0, 2**depth, (H, W, CHANNELS[color]))
        image = reduce(samples, depth)
        if color == 4:
            image = np.concatenate([np.repeat(image[..., :1], 3, -1), image[..., 1:]], -1)
        for interlaced in [False, True]:
            add(f"own colour {color} depth {depth}{' interlaced' if interlaced else ''}",
                own_png(samples, color, depth, interlaced, pieces=3), image)
        if color in (0, 2):
            key = samples[3, 4]
            alpha = np.where((samples == key).all(-1), 0, 255)[..., None]
            rgb = np.repeat(image, 3, -1) if color == 0 else image
            add(f"own colour {color} depth {depth} colour key",
                own_png(samples, color, depth, trns=key.astype(">u2").tobytes()), np.concatenate([rgb, alpha], -1))
for depth in [1, 2, 4, 8]:
    palette = rng.integers(0, 256, (min(2**depth, 200), 3))
    samples = rng.integers(0, len(palette), (H, W, 1))
    rgb = palette[samples[..., 0]]
    for interlaced in [False, True]:
        add(f"own palette depth {depth}{' interlaced' if interlaced else ''}",
            own_png(samples, 3, depth, interlaced, palette), rgb)
    trns = rng.integers(0, 256, len(palette) // 2).astype("u1")
    alpha = np.concatenate([trns, np.full(len(palette) - len(trns), 255)])[samples]
    add(f"own palette depth {depth} transparency", own_png(samples, 3, depth, False, palette, trns.tobytes()),
        np.concatenate([rgb, alpha], -1))
for size in [(1, 1), (1, 5), (5, 1), (2, 3), (9, 8)]:
    samples = rng.integers(0, 256, (*size, 3))
    add(f"own interlaced {size[1]}x{size[0]}", own_png(samples, 2, 8, True), samples)

for mode in ["L", "RGB", "RGBA", "1", "P"]:
    base = Image.fromarray(rng.integers(0, 256, (19, 23, 4), dtype="u1"), "RGBA")
    image = base.convert("RGB").quantize(16) if mode == "P" else base.convert("RGB" if mode == "1" else mode).convert(mode)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    shown = image.convert({"1": "L", "P": "RGB"}.get(mode, mode))
    add(f"Pillow {mode}", out.getvalue(), np.asarray(shown))

# A smooth picture with a corner marked, in JPEG, with each EXIF orientation.
yy, xx = np.mgrid[0:16, 0:24]
smooth = np.stack([xx * 10, yy * 15, 255 - xx * 5 - yy * 5], -1).clip(0, 255).astype("u1")
smooth[:8, :8] = [250, 20, 20]
jpegs = []
for little in [True, False]:
    for orientation in range(1, 9):
        order = "<" if little else ">"
        tiff = (b"II*\0" if little else b"MM\0*") + struct.pack(order + "IH", 8, 2)
        tiff += struct.pack(order + "HHIHH", 0x0100, 3, 1, 24, 0) + struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0)
        tiff += bytes(4)
        out = io.BytesIO()
        Image.fromarray(smooth).save(out, "JPEG", quality=90, subsampling=0, exif=b"Exif\0\0" + tiff)
        upright = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(out.getvalue()))))
        jpegs.append({"orientation": orientation, "file": b64(out.getvalue()), "height": upright.shape[0],
                      "width": upright.shape[1], "channels": 3, "samples": b64(upright.tobytes())})
out = io.BytesIO()
Image.fromarray(smooth).convert("L").save(out, "JPEG", quality=90)
grey = np.asarray(Image.open(io.BytesIO(out.getvalue())))
jpegs.append({"orientation": 1, "file": b64(out.getvalue()), "height": 16, "width": 24, "channels": 1,
              "samples": b64(grey.tobytes())})
cmyk = io.BytesIO()
Image.fromarray(smooth).convert("CMYK").save(cmyk, "JPEG")

source = ndimage.gaussian_filter(rng.uniform(0, 255, (31, 45, 3)), (1, 1, 0)) * 2 - 127
source = source.clip(0, 255).astype("u1")
resized = []
for width, height in [(20, 14), (45, 31), (45, 9), (7, 31), (64, 80), (1, 1), (13, 50), (44, 30)]:
    image = np.asarray(Image.fromarray(source).resize((width, height), Image.Resampling.BILINEAR))
    resized.append({"width": width, "height": height, "samples": b64(image.tobytes())})
blurred = []
for sigma in [0.4, 1.0, 2.5, 12.0]:
    result = ndimage.gaussian_filter(source.astype(float), (sigma, sigma, 0), mode="reflect", truncate=4.0)
    blurred.append({"sigma": sigma, "values": b64(result.astype("<f8")[:, :, 1].tobytes())})

json.dump({
    "made_by": f"make.py with Pillow {PIL.__version__}",
    "pngs": pngs,
    "jpegs": jpegs,
    "cmyk_jpeg": b64(cmyk.getvalue()),
    "source": {"width": 45, "height": 31, "channels": 3, "samples": b64(source.tobytes())},
    "resized_by_pillow": resized,
    "blurred_by_scipy_green": blurred,
}, open("vectors.json", "w"), indent=1)
# Pillow agrees with the samples that were derived above, where it keeps 8 bits.
for png in pngs:
    image = Image.open(io.BytesIO(base64.b64decode(png["file"])))
    if "16" in png["name"] or "colour key" in png["name"]:
        continue
    mode = {1: "L", 3: "RGB", 4: "RGBA"}[png["channels"]]
    if image.mode == "I":
        continue
    shown = np.asarray(image.convert(mode))
    assert shown.tobytes() == base64.b64decode(png["samples"]), png["name"]
