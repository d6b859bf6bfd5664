"""Gradient magnitude similarity deviation of images: 0 for equal images, larger where edges differ. Replace it by your own.

Source: Xue, Zhang, Mou, Bovik, Gradient magnitude similarity deviation, IEEE Trans. Image Process. 23, 2014: luminance,
means of 2 x 2 pixels, Prewitt filters over 3, c = 170 for levels of 0 to 255.
"""
import numpy as np

C = 170.0


def luminance(images):
    """Levels 0 to 255 of images [count, height, width, channels]."""
    levels = images.astype(np.float64) * (1 if images.dtype == np.uint8 else 255)
    return levels @ [0.299, 0.587, 0.114] if images.shape[3] == 3 else levels.mean(axis=3)


def gradient_magnitude(levels):
    """Of [count, height, width], after means of 2 x 2 pixels."""
    count, height, width = (size - size % 2 if axis else size for axis, size in enumerate(levels.shape))
    small = levels[:, :height, :width].reshape(count, height // 2, 2, width // 2, 2).mean(axis=(2, 4))
    padded = np.pad(small, ((0, 0), (1, 1), (1, 1)), mode="edge")
    columns = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    rows = padded[:, :, :-2] + padded[:, :, 1:-1] + padded[:, :, 2:]
    return np.hypot((columns[:, :, 2:] - columns[:, :, :-2]) / 3, (rows[:, 2:] - rows[:, :-2]) / 3)


def deviations(reference, candidate):
    """The deviation of each image."""
    a, b = (gradient_magnitude(luminance(images)) for images in (reference, candidate))
    return ((2 * a * b + C) / (a**2 + b**2 + C)).std(axis=(1, 2))


def gradient_similarity(call, context):
    """Scores images.

    Returns finite numbers by name, recorded as external.example_metric.<name>, and a row for each image.
    """
    reference, candidate = call["inputs"]["reference"], call["inputs"]["candidate"]
    if reference.shape != candidate.shape:
        raise ValueError("the images have the shapes %s and %s" % (reference.shape, candidate.shape))
    scores = deviations(reference, candidate)
    ids = call["metadata"]["reference"].get("image_ids") or ["image_%d" % index for index in range(len(scores))]
    return {
        "metrics": {"gmsd": scores.mean(), "items": len(scores)},
        "per_example": [{"id": str(name), "gmsd": score} for name, score in zip(ids, scores)],
    }
