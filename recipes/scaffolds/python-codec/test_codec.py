"""Run in this folder with `python3 -m unittest`."""
import unittest
from types import SimpleNamespace

import numpy as np

from codec import decode, encode

CONTEXT = SimpleNamespace(report_progress=lambda *args: None)


def round_trip(images, depth):
    sent = encode(images, {"bits_per_sample": depth}, CONTEXT)
    # What svc states about the encoded images.
    shape = dict(zip(("image_count", "image_height", "image_width", "image_channels"), images.shape))
    metadata = {**shape, "image_dtype": images.dtype.name, "adapter_metadata": sent["metadata"]}
    return decode({"array": sent["array"], "metadata": metadata, "params": {}}, CONTEXT)


class CodecTest(unittest.TestCase):
    every = np.arange(256, dtype=np.uint8).reshape(2, 8, 16, 1)

    def test_eight_bits_are_lossless_and_fewer_lose_at_most_half_a_step(self):
        np.testing.assert_array_equal(round_trip(self.every, 8), self.every)
        for depth in (1, 4, 7):
            error = np.abs(round_trip(self.every, depth).astype(int) - self.every)
            self.assertLessEqual(error.max(), 128 >> (depth - 1))

    def test_the_rate_is_as_declared_and_floats_are_decoded_as_floats(self):
        self.assertEqual(encode(self.every, {"bits_per_sample": 3}, CONTEXT)["array"].shape, (256 * 3,))
        floats = np.array([0, 1], np.float32).reshape(1, 1, 2, 1)
        np.testing.assert_array_equal(round_trip(floats, 8), floats)


if __name__ == "__main__":
    unittest.main()
