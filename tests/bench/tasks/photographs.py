"""A JPEG link of photographs in Pillow and NumPy: CRC-32 packets, repetition, QPSK over AWGN, and the scores of the images.

Arguments: `make`, folder, number, width, height cuts that many photographs from those of the program; `run`, folder, Es/N0 in dB
sends the PNG files of the folder.
"""
import io
import sys
import zlib
from pathlib import Path
import numpy as np
from PIL import Image

PAYLOAD, FACTOR = 4096, 3
WEIGHTS = np.exp(-np.arange(-5, 6) ** 2 / 4.5)
WEIGHTS = (WEIGHTS / WEIGHTS.sum()).astype(np.float32)


def make(folder, number, width, height):
    folder.mkdir()
    samples = Path(__file__).resolve().parents[3] / "recipes/samples"
    sources = [Image.open(samples / name).convert("RGB") for name in ("coffee.png", "chelsea.png", "rocket.jpg")]
    for index in range(number):
        source = sources[index % 3]
        scale = max(width / source.width, height / source.height) * (1.1 + 0.1 * (index // 3))
        large = source.resize((round(source.width * scale), round(source.height * scale)), Image.BICUBIC)
        left, top = (large.width - width) * (index % 5) // 4, (large.height - height) * (index % 4) // 3
        picture = large.crop((left, top, left + width, top + height))
        if index % 2:
            picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
        picture.save(folder / f"kodim{index + 1:02}.png")


def send(data, scale, generator):
    """The bits of a file behind packets, repetition and the channel; None where a packet is lost."""
    size = PAYLOAD // 8
    payloads = [data[at:at + size].ljust(size, b"\0") for at in range(0, len(data), size)]
    packets = [index.to_bytes(12, "big") + payload for index, payload in enumerate(payloads)]
    framed = b"".join(packet + zlib.crc32(packet).to_bytes(4, "big") for packet in packets)
    bits = np.repeat(np.unpackbits(np.frombuffer(framed, np.uint8)), FACTOR)
    amplitude = np.float32(np.sqrt(0.5))
    received = amplitude * (1 - 2 * bits.astype(np.float32)) + scale * generator.standard_normal(bits.size, dtype=np.float32)
    copies = (received < 0).reshape(-1, FACTOR).sum(1, dtype=np.uint8)
    found = np.packbits(2 * copies >= FACTOR).tobytes()
    length, payload = size + 16, b""
    for at in range(0, len(found), length):
        packet, crc = found[at:at + length - 4], found[at + length - 4:at + length]
        if zlib.crc32(packet).to_bytes(4, "big") != crc:
            return None
        payload += packet[12:]
    return payload[:len(data)]


def window(x):
    rows = sum(w * x[k:x.shape[0] - 10 + k] for k, w in enumerate(WEIGHTS))
    return sum(w * rows[:, k:rows.shape[1] - 10 + k] for k, w in enumerate(WEIGHTS))


def similarity(x, y):
    c1, c2 = np.float32((0.01 * 255) ** 2), np.float32((0.03 * 255) ** 2)
    mx, my = window(x), window(y)
    vx, vy, vxy = window(x * x) - mx * mx, window(y * y) - my * my, window(x * y) - mx * my
    contrast = (2 * vxy + c2) / (vx + vy + c2)
    return ((2 * mx * my + c1) / (mx * mx + my * my + c1) * contrast).mean((0, 1)), contrast.mean((0, 1))


def halved(x):
    x = x[:x.shape[0] // 2 * 2, :x.shape[1] // 2 * 2]
    return (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2]) / 4


def gradient(x):
    x = np.pad(halved(x @ np.float32([0.299, 0.587, 0.114])), 1)
    across, down = x[:, 2:] - x[:, :-2], x[2:] - x[:-2]
    return np.hypot(across[:-2] + across[1:-1] + across[2:], down[:, :-2] + down[:, 1:-1] + down[:, 2:]) / 3


def scores(reference, candidate):
    x, y = reference.astype(np.float32), candidate.astype(np.float32)
    psnr, g, h = 10 * np.log10(255 ** 2 / np.mean((x - y) ** 2)), gradient(x), gradient(y)
    ssim, product = None, 1
    for scale, power in enumerate((0.0448, 0.2856, 0.3001, 0.2363, 0.1333)):
        whole, contrast = similarity(x, y)
        ssim = whole.mean() if ssim is None else ssim
        product = product * np.maximum(whole if scale == 4 else contrast, 0) ** power
        x, y = halved(x), halved(y)
    return psnr, ssim, product.mean(), np.std((2 * g * h + 170) / (g * g + h * h + 170))


def run(folder, snr_db):
    scale, generator, rows = np.float32(np.sqrt(10 ** (-snr_db / 10) / 2)), np.random.default_rng(23), []
    for path in sorted(folder.glob("*.png")):
        image = np.asarray(Image.open(path).convert("RGB"))
        file = io.BytesIO()
        Image.fromarray(image).save(file, "JPEG", quality=75)
        found = send(file.getvalue(), scale, generator)
        received = np.full_like(image, 128) if found is None else np.asarray(Image.open(io.BytesIO(found)))
        rows.append(scores(image, received))
    print(*np.mean(rows, 0))


if sys.argv[1] == "make":
    make(Path(sys.argv[2]), *map(int, sys.argv[3:]))
else:
    run(Path(sys.argv[2]), float(sys.argv[3]))
