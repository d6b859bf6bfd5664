"""Run in this folder with `python3 -m unittest`."""
import unittest
from types import SimpleNamespace

import numpy as np

from receiver import log_likelihood_ratios, receive

CONTEXT = SimpleNamespace(raise_if_cancelled=lambda: None)
POINTS = np.array([1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j], np.complex64) / np.complex64(np.sqrt(2))


class ReceiverTest(unittest.TestCase):
    def test_points_are_demapped_to_their_bits(self):
        call = {"inputs": {"rx_symbols": POINTS}, "metadata": {"rx_symbols": {}}, "params": {"scale": 1.0}}
        outputs = receive(call, CONTEXT)["outputs"]
        np.testing.assert_array_equal(outputs["bits"], [0, 0, 0, 1, 1, 0, 1, 1])
        self.assertEqual((outputs["llr"].dtype, outputs["llr"].shape), (np.float32, (8,)))

    def test_ratios_are_those_of_the_densities(self):
        y, noise = np.complex64(0.3 - 0.8j), 0.5
        density = np.exp(-np.abs(y - POINTS) ** 2 / noise)
        first = np.log((density[0] + density[1]) / (density[2] + density[3]))
        second = np.log((density[0] + density[2]) / (density[1] + density[3]))
        np.testing.assert_allclose(log_likelihood_ratios(np.array([y]), noise), [first, second], rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
