"""Run in this folder with `python3 -m unittest`."""
import unittest

import numpy as np

from amplifier import clip


class AmplifierTest(unittest.TestCase):
    def test_amplitudes_above_the_saturation_are_set_to_it_and_phases_are_kept(self):
        # Mean power 25 / 2; at 0 dB of back-off the saturation is its root.
        result = clip({"symbols": np.array([3 + 4j, 0], np.complex64)}, {"backoff_db": 0.0}, None)
        first, second = result["outputs"]["symbols"]
        self.assertAlmostEqual(abs(first), np.sqrt(12.5), places=5)
        self.assertAlmostEqual(first.real / first.imag, 3 / 4, places=5)
        self.assertEqual((second, result["metrics"]["clipped_share"]), (0, 0.5))

    def test_with_enough_back_off_nothing_changes(self):
        given = np.array([1, -1j, 0.5 + 0.5j], np.complex64)
        result = clip({"symbols": given}, {"backoff_db": 20.0}, None)
        np.testing.assert_array_equal(result["outputs"]["symbols"], given)
        self.assertEqual(result["metrics"]["clipped_share"], 0)


if __name__ == "__main__":
    unittest.main()
