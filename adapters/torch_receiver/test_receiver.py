"""Run in this folder with `python3 -m unittest`; it needs PyTorch."""
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from receiver import load, receive

WEIGHTS = (Path(__file__).parent / "models" / "receiver.pt").read_bytes()
CONTEXT = SimpleNamespace(models={"network": WEIGHTS}, raise_if_cancelled=lambda: None)


class ReceiverTest(unittest.TestCase):
    def test_it_has_the_parameters_of_its_card(self):
        self.assertEqual(sum(each.numel() for each in load(WEIGHTS).parameters()), 915)

    def test_it_receives_points_behind_the_front_end_without_noise(self):
        # hardware.receiver_iq_imbalance at its defaults.
        gain, skew = 10 ** (5 / 40), np.deg2rad(12)
        bits = np.array([0, 0, 0, 1, 1, 0, 1, 1])
        points = ((1 - 2 * bits[::2]) + 1j * (1 - 2 * bits[1::2])) / np.sqrt(2) * np.exp(1j * np.deg2rad(20))
        turned = (points.imag * np.cos(skew) + points.real * np.sin(skew)) / gain
        symbols = (gain * points.real + 0.18 + 1j * (turned - 0.12)).astype(np.complex64)
        outputs = receive({"rx_symbols": symbols}, {"symbols_per_call": 65536}, CONTEXT)["outputs"]
        np.testing.assert_array_equal(outputs["bits"], bits)
        self.assertEqual((outputs["llr"].dtype, outputs["llr"].shape), (np.float32, (8,)))


if __name__ == "__main__":
    unittest.main()
