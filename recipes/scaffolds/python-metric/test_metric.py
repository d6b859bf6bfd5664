"""Run in this folder with `python3 -m unittest`."""
import unittest

import numpy as np

from metric import deviations, gradient_magnitude, gradient_similarity


class MetricTest(unittest.TestCase):
    images = np.random.default_rng(7).integers(0, 256, (3, 16, 18, 3), dtype=np.uint8)

    def test_equal_images_deviate_by_zero_and_other_levels_agree(self):
        np.testing.assert_array_equal(deviations(self.images, self.images), 0)
        floats = (self.images / 255).astype(np.float32)
        np.testing.assert_allclose(deviations(self.images, floats), 0, atol=1e-6)

    def test_more_noise_deviates_more(self):
        noise = np.random.default_rng(8).normal(size=self.images.shape)
        scores = [
            deviations(self.images, np.clip(self.images + sigma * noise, 0, 255).astype(np.uint8)).mean()
            for sigma in (2, 10, 40)
        ]
        self.assertTrue(0 < scores[0] < scores[1] < scores[2])

    def test_a_step_has_its_slope(self):
        step = np.zeros((1, 8, 8))
        step[:, :, 4:] = 90
        np.testing.assert_allclose(gradient_magnitude(step)[0, 1], [0, 90, 90, 0])

    def test_rows_have_the_ids_of_the_images(self):
        call = {
            "inputs": {"reference": self.images, "candidate": self.images},
            "metadata": {"reference": {"image_ids": ["a", "b", "c"]}, "candidate": {}},
        }
        result = gradient_similarity(call, None)
        self.assertEqual([row["id"] for row in result["per_example"]], ["a", "b", "c"])
        self.assertEqual(result["metrics"]["gmsd"], 0)


if __name__ == "__main__":
    unittest.main()
