"""Images to bits and back: a complete codec to replace.

The encoder keeps the most significant bits of every sample, the decoder uses the middle of each quantisation interval. On
the link, an array element holds one bit, 0 or 1; some bits may arrive wrong.
"""
import numpy as np


def encode(images, params, context):
    """Encodes images [count, height, width, channels]; uint8, or float32 in [0, 1]."""
    depth = params["bits_per_sample"]
    samples = images if images.dtype == np.uint8 else np.rint(255 * images).astype(np.uint8)
    bits = np.unpackbits(samples.reshape(-1, 1), axis=1)[:, :depth].reshape(-1)
    count = len(images)
    context.report_progress(count, count)
    return {
        "array": bits,
        # For the decoder, beside the link; it is counted as rate beyond 64 bytes an image.
        "metadata": {
            "sample_depth": depth,
            # Number of bits of each image, for packets and for channels with one fading gain per image.
            "source_item_counts": [bits.size // count] * count,
        },
    }


def decode(call, context):
    """Decodes the received bits, which are as many as were sent."""
    metadata = call["metadata"]
    depth = metadata["adapter_metadata"]["sample_depth"]
    shape = [metadata["image_" + name] for name in ("count", "height", "width", "channels")]
    weights = 1 << np.arange(7, 7 - depth, -1)
    # The middle of the 2^(8 - depth) values that share these bits.
    samples = call["array"].reshape(-1, depth) @ weights + (256 >> depth >> 1)
    images = samples.astype(np.uint8).reshape(shape)
    return images if metadata["image_dtype"] == "uint8" else (images / np.float32(255)).astype(np.float32)
