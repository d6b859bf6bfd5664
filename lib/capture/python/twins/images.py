"""Twins of joint source-channel coding of images, and of image quality.

Images are [image, height, width, channel], as uint8 values 0 ... 255 or in 0 ... 1; networks take planes [image, 3, height,
width] in 0 ... 1.
"""

import torch
import torch.nn.functional as functional

from .core import Signal, losses_of, straight_through, twin

SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
WINDOW = 11


def range_of(signal):
    """255 for images of bytes, 1 for others."""
    return 255 if signal.data.dtype == torch.uint8 or signal.metadata.get("image_dtype") == "uint8" else 1


@twin("model.deepjscc_external_encode")
def deepjscc_encode(inputs, params, draws, network=None):
    """Real channels [image, 2K, h, w], all real parts first, as complex symbols in C order [image, K, h, w]."""
    signal = inputs["images"]
    count, height, width, channels = signal.data.shape
    planes = (signal.data.to(draws.dtype) / range_of(signal)).permute(0, 3, 1, 2).expand(count, 3, height, width)
    each = lambda value: torch.full((count,), value, dtype=draws.dtype, device=planes.device)
    parts = network(
        images=planes,
        snr_db=each(params["snr_db"]),
        channel_uses_per_pixel=each(params["channel_uses_per_pixel"]),
    )["symbols_ri"]
    shape = [count, parts.shape[1] // 2, *parts.shape[2:]]
    symbols = torch.complex(*torch.chunk(parts, 2, dim=1)).reshape(-1)
    return {
        "symbols": Signal(symbols, {
            "image_height": height,
            "image_width": width,
            "image_channels": channels,
            "image_dtype": "uint8" if range_of(signal) == 255 else "float32",
            "symbol_shape": shape,
            "source_item_counts": [len(symbols) // count] * count,
        })
    }


@twin("model.deepjscc_external_decode")
def deepjscc_decode(inputs, params, draws, network=None):
    signal = inputs["symbols"]
    symbols = signal.data.reshape(signal.number("symbol_shape"))
    if params.get("snr_db") is None:
        # Without a noise variance N0 is 1, as in the operation.
        variance = signal.companions.get("noise_variance", signal.metadata.get("noise_variance", 1.0))
        variance = torch.as_tensor(variance, dtype=draws.dtype, device=symbols.device)
        variance = variance.expand(symbols.numel()).reshape(len(symbols), -1).mean(1)
        snr_db = (-10 * torch.log10(variance)).clamp(-50, 100)
    else:
        snr_db = torch.full((len(symbols),), params["snr_db"], dtype=draws.dtype, device=symbols.device)
    planes = network(symbols_ri=torch.cat([symbols.real, symbols.imag], 1), snr_db=snr_db)["reconstruction"]
    facts = signal.metadata
    planes = planes[:, :, : facts.get("image_height", planes.shape[2]), : facts.get("image_width", planes.shape[3])]
    images = planes.permute(0, 2, 3, 1)
    if facts.get("image_channels", 3) == 1:
        images = images.mean(-1, keepdim=True)
    # A value outside the range keeps its gradient, so that training can bring it back.
    images = straight_through(images.clamp(0, 1), images)
    dtype = facts.get("image_dtype", "float32")
    if dtype == "uint8":
        images = straight_through(torch.floor(255 * images + 0.5), 255 * images)
    return {"images": Signal(images, {"image_dtype": dtype})}


def window(dtype, device):
    raw = torch.exp(-((torch.arange(WINDOW, dtype=dtype, device=device) - 5) ** 2) / (2 * 1.5**2))
    return raw / raw.sum()


def similarity(total, difference, range_):
    """Means over the valid region of l·cs and of cs, [row], of x + y and x - y [row, 1, height, width]."""
    weights = window(total.dtype, total.device)
    blur = lambda x: functional.conv2d(functional.conv2d(x, weights.view(1, 1, 1, -1)), weights.view(1, 1, -1, 1))
    c1, c2 = 2 * (0.01 * range_) ** 2, 2 * (0.03 * range_) ** 2
    p, m = blur(total) ** 2, blur(difference) ** 2
    vp, vm = blur(total**2) - p, blur(difference**2) - m
    contrast = (vp - vm + c2) / (vp + vm + c2)
    mean = lambda x: x.mean(dim=(1, 2, 3))
    return mean(contrast * (p - m + c1) / (p + m + c1)), mean(contrast)


def structural_similarity(x, y, range_):
    """SSIM and MS-SSIM of images [image, height, width, channel], means over the channels; None where undefined."""
    count, height, width, channels = x.shape
    if min(height, width) < WINDOW:
        return None, None
    planes = lambda z: z.permute(0, 3, 1, 2).reshape(count * channels, 1, height, width).double()
    total, difference = planes(x + y), planes(x - y)
    multiscale = min(height, width) > 160 and min(height, width) // 16 >= WINDOW
    ssim, product = None, 1.0
    for scale in range(len(SCALE_WEIGHTS) if multiscale else 1):
        if scale > 0:
            total, difference = functional.avg_pool2d(total, 2), functional.avg_pool2d(difference, 2)
        full, contrast = similarity(total, difference, range_)
        ssim = full if scale == 0 else ssim
        mean = full if scale == len(SCALE_WEIGHTS) - 1 else contrast
        # The gradient of a power is infinite at 0.
        product = product * torch.clamp(mean, min=1e-12) ** SCALE_WEIGHTS[scale]
    average = lambda values: values.reshape(count, channels).mean()
    return average(ssim), average(product) if multiscale else None


@twin("metrics.image_reconstruction")
def image_reconstruction(inputs, params, draws, network=None):
    """Losses: mean squared error relative to the range, 1 - SSIM and 1 - MS-SSIM where they are defined."""
    reference, found = inputs["reference"], inputs["reconstruction"]
    y, x = reference.data.to(draws.dtype), found.data.to(draws.dtype)
    range_ = params["data_range"] or range_of(reference)
    errors = ((x - y) ** 2).mean(dim=(1, 2, 3))
    ssim, ms_ssim = structural_similarity(x, y, range_)
    losses = {"mse": errors.mean() / range_**2}
    metrics = {"quality.mse": errors.mean(), "quality.mae": (x - y).abs().mean()}
    if bool((errors > 0).all()):
        metrics["quality.psnr_db"] = (10 * torch.log10(range_**2 / errors.double())).mean()
    for name, value in (("ssim", ssim), ("ms_ssim", ms_ssim)):
        if value is not None:
            losses[f"one_minus_{name}"] = 1 - value
            metrics[f"quality.{name}"] = value
    return losses_of(losses, metrics)
