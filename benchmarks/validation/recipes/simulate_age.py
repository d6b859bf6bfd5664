"""Age of information of updates over BPSK in AWGN. Writes ../age_of_updates.csv.

Run: python3 simulate_age.py, with NumPy 1.24.2 and SciPy 1.10.1. An update of 16 bits arrives with probability p = (1 - Q(sqrt(2 Es/N0)))^16. Back
to back, the age is that of independent losses: with X slots between arrivals 1 + E[X^2] / 2 E[X], peak 1 + E[X], X geometric. In the queue
the time of a transmission is 1 and the load 0.2 before losses: the age is the area under the saw teeth of a simulated queue of 2e7
updates, first come, first served. Without losses it is the published closed form of the M/D/1 queue.
"""
import pathlib

import numpy as np
from scipy.stats import norm

BITS, RATE, COUNT = 16, 0.2, 20_000_000
rng = np.random.default_rng(23)


def simulated(p):
    gaps = rng.exponential(1 / RATE, COUNT)
    service = rng.geometric(p, COUNT).astype(float)
    # Lindley: the wait of update n is S_n - min of S over 0 ... n, S the running sum of service less gaps.
    steps = np.concatenate([[0.0], np.cumsum(service[:-1] - gaps[1:])])
    system = steps - np.minimum.accumulate(steps) + service
    area = np.sum(gaps[1:] * system[1:] + gaps[1:] ** 2 / 2)
    return area / gaps[1:].sum(), np.mean(gaps + system)


rows = []
for snr_db in (1.0, 3.0, 6.0):
    p = norm.cdf(np.sqrt(2 * 10 ** (snr_db / 10))) ** BITS
    mean, square = 1 / p, (2 - p) / p**2
    values = {"update_loss_rate": 1 - p, "average_s": 1 + square / (2 * mean), "peak_s": 1 + mean}
    values["queue_average_s"], values["queue_peak_s"] = simulated(p)
    rows += [f"{snr_db},{RATE},age.{name},{value:.6g}" for name, value in values.items()]
for load in (0.2, 0.5, 0.8):  # at 20 dB nothing is lost
    average = 0.5 + 0.5 / (1 - load) + (1 - load) * np.exp(load) / load
    rows.append(f"20.0,{load},age.queue_average_s,{average:.9g}")
header = "channel.snr_db,age.arrival_rate_hz,metric,expected"
(pathlib.Path(__file__).parent / "../age_of_updates.csv").write_text("\n".join([header, *rows]) + "\n")
