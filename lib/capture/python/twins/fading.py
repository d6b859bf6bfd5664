"""Fading of tapped delay lines and clusters for twins, at rest and in motion.

A motion is one realisation over all its times, as the operations have it. Taps of a tapped delay line are sums of sinusoids, those of
clusters sums of rays, each with its own Doppler shift.
"""

import json
import math
from pathlib import Path

import torch

from .core import Unsupported, from_db

DATA = Path(__file__).resolve().parent / "data"

SPEED_OF_LIGHT = 299_792_458
SINUSOIDS = 20
LINE_OF_SIGHT_ANGLE = math.pi / 4

#: Offsets of the rays of a cluster in units of its spread, TR 38.901, table 7.5-3
RAY_OFFSETS = [0.0447, 0.1413, 0.2492, 0.3715, 0.5129, 0.6797, 0.8844, 1.1481, 1.5195, 2.1551]


def profile(params):
    """Delays in s, mean powers and line of sight of the taps of TR 38.901."""
    preset, spread = params["channel"], params.get("delay_spread_ns", 100) * 1e-9
    table, model = ("cdl" if preset == "ofdm_cdl" else "tdl"), params.get("tdl_model", "A")
    if preset == "urban_micro":
        frequency = torch.tensor(1 + params["carrier_frequency_ghz"], dtype=torch.float64)
        model, spread = "C", float(10 ** (-0.24 * torch.log10(frequency) - 6.83))
    entry = json.loads((DATA / f"{table}_models.json").read_text(encoding="utf-8"))["models"][model]
    # A profile of TS 38.101-4 has delays of its own.
    spread = entry["delay_spread_ns"] * 1e-9 if "delay_spread_ns" in entry else spread
    powers = from_db(torch.tensor(entry["powers_db"], dtype=torch.float64)).unbind()
    powers = torch.stack(powers)
    if params.get("normalize_channel", True):
        powers = powers / powers.sum()
    return torch.tensor(entry["delays"], dtype=torch.float64) * spread, powers, entry["line_of_sight"]


def is_moving(params):
    if params.get("time_variation") != "doppler":
        return False
    if params.get("stream") is not None:
        raise Unsupported("a named stream is one realisation: training needs a new one for each batch")
    return True


def doppler_of(params):
    """Largest Doppler shift in Hz."""
    return params.get("mobility_kmh", 3) / 3.6 * params["carrier_frequency_ghz"] * 1e9 / SPEED_OF_LIGHT


def times_of(params, count, interval):
    """Times of samples in s."""
    return params.get("start_time_s", 0.0) + interval * torch.arange(count, dtype=torch.float64)


def symbol_times(params, count):
    """Times of OFDM symbols: 14 in a slot, of 1 ms at 15 kHz."""
    return times_of(params, count, 1e-3 / 14 * 15 / params["subcarrier_spacing_khz"])


def train_phase(params, times):
    """Phase of the single tap of a train: the change of its path to the nearest site in wavelengths."""
    speed, site, track = params.get("mobility_kmh", 3) / 3.6, params["hst_site_distance_m"], params["hst_track_distance_m"]
    if speed == 0:
        return torch.zeros_like(times)
    way = speed * times % (2 * site)
    forward = way <= site
    along = torch.where(forward, site / 2 - way, way - 1.5 * site)
    nearer = math.hypot(track, site / 2) - torch.sqrt(track**2 + along**2)
    return 2 * torch.pi * doppler_of(params) / speed * torch.where(forward, nearer, -nearer)


def moving_taps(params, draws, taps, line_of_sight, realisations, times):
    """Taps of unit power complex128 [realisation, time, tap]: sums of 20 sinusoids, or one for a line of sight."""
    shape = [realisations, taps, SINUSOIDS]
    sectors, phases = draws.uniform(shape).double().cpu(), 2 * torch.pi * draws.uniform(shape).double().cpu()
    part = (torch.arange(SINUSOIDS) + sectors) / SINUSOIDS
    speeds = 2 * part - 1 if params.get("doppler_spectrum") == "flat" else torch.cos(2 * torch.pi * part)
    turn = 2 * torch.pi * doppler_of(params)
    total = torch.zeros(realisations, len(times), taps, dtype=torch.complex128)
    for n in range(SINUSOIDS):
        angle = phases[:, None, :, n] + turn * times[:, None] * speeds[:, None, :, n]
        total += torch.polar(torch.full_like(angle, SINUSOIDS**-0.5), angle)
    if line_of_sight:
        own = train_phase(params, times) if params.get("tdl_model") == "HST" else turn * times * math.cos(LINE_OF_SIGHT_ANGLE)
        angle = phases[:, :1, 0] + own
        total[..., 0] = torch.polar(torch.ones_like(angle), angle)
    return total.to(draws.device)


def cluster_taps(params, draws, times=None):
    """Delays, and taps complex128 [time, cluster, rx, tx] of the rays of CDL clusters on half-wavelength arrays; one time at rest."""
    table = json.loads((DATA / "cdl_models.json").read_text(encoding="utf-8"))["models"][params["tdl_model"]]
    delays, powers, line_of_sight = profile({**params, "channel": "ofdm_cdl"})
    offsets = torch.tensor([sign * offset for offset in RAY_OFFSETS for sign in (1, -1)], dtype=torch.float64)
    rays = len(offsets)
    coupling = torch.stack([draws.permutation(rays) for _ in powers]).cpu()
    phases = draws.uniform([len(powers), rays], 0, 2 * torch.pi).double().cpu()
    travel = 0.0 if times is None else draws.uniform([1], 0, 2 * torch.pi).double().cpu()
    arrival, departure = offsets.expand(len(powers), -1), offsets[coupling]
    amplitude = torch.sqrt(powers / rays)[:, None].repeat(1, rays)
    if line_of_sight:
        # The line of sight is one ray, without an offset.
        first = torch.arange(len(powers))[:, None] == 0
        arrival, departure = arrival.masked_fill(first, 0), departure.masked_fill(first, 0)
        amplitude[0] = torch.sqrt(powers[0]) * (torch.arange(rays) == 0)

    def angle(side, name, offset):
        """[cluster, ray]"""
        return torch.deg2rad(torch.tensor(table[f"{side}_{name}_deg"], dtype=torch.float64)[:, None]
                             + table[f"{side}_{name}_spread_deg"] * offset)

    def step(side, offset):
        """Phase from antenna to antenna, pi sin(zenith) sin(azimuth) [cluster, ray]"""
        return torch.pi * torch.sin(angle(side, "zenith", offset)) * torch.sin(angle(side, "azimuth", offset))

    r, t = torch.arange(params["rx_antennas"])[:, None, None], torch.arange(params["tx_antennas"])[:, None]
    own = lambda values: values[:, None, None]
    turn = own(phases) + r * own(step("arrival", arrival)) + t * own(step("departure", departure))
    array = torch.polar(own(amplitude).expand_as(turn), turn)
    if times is None:
        return delays, array.sum(-1)[None].to(draws.device)
    shift = torch.sin(angle("arrival", "zenith", arrival)) * torch.cos(angle("arrival", "azimuth", arrival) - travel)
    way = 2 * torch.pi * doppler_of(params) * times[:, None, None] * shift
    return delays, torch.einsum("crtm,scm->scrt", array, torch.polar(torch.ones_like(way), way)).to(draws.device)
