"""Twins of OFDM links: pilots, channel estimates, equalisation with them, waveforms, and several antennas.

A grid has F subcarriers and S OFDM symbols; element k of symbol l has the index l·F + k. Element k of a waveform is at the
frequency (k - F/2)/F of the sampling rate before oversampling.
"""

from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as functional

from .core import Signal, from_db, noise_variance_of, power, twin
from .fading import cluster_taps, is_moving, moving_taps, profile, symbol_times, times_of
from .link import BITS_PER_SYMBOL, decided, demodulate, label_bits, modulate, rotations

GRID_KEY = "ofdm_grid"
WAVEFORM_KEYS = (
    "fft_size",
    "cp_length",
    "oversampling",
    "active_subcarriers",
    "ofdm_symbol_count",
    "symbol_count",
    "symbols_per_grid",
    "transform_precoding",
)
LEAST_GAIN, ERASED_VARIANCE = 1e-12, 1e12


# Pilots


@lru_cache(maxsize=65536)
def gold_sequence(seed, length):
    """The first bits of the Gold sequence of TS 38.211, 5.2.1."""
    first, second = [1] + [0] * 30, [seed >> i & 1 for i in range(31)]
    for n in range(1600 + length - 31):
        first.append(first[n + 3] ^ first[n])
        second.append(second[n + 3] ^ second[n + 2] ^ second[n + 1] ^ second[n])
    return tuple(a ^ b for a, b in zip(first[1600:1600 + length], second[1600:1600 + length]))


def dmrs_values(port, slot, symbol, params):
    """DM-RS of a port on an OFDM symbol, TS 38.211, 6.4.1.1; complex128 [pilot]."""
    n_id, n_scid = params["n_id"], params["n_scid"]
    seed = (2**17 * (14 * slot + symbol + 1) * (2 * n_id + 1) + 2 * n_id + n_scid) % 2**31
    count, first = params["subcarriers"] // 2, 6 * params["first_rb"]
    signs = 1 - 2 * torch.tensor(gold_sequence(seed, 2 * (first + count))[2 * first:], dtype=torch.float64)
    cover = torch.where(torch.arange(count) % 2 == 1, -1.0, 1.0) if port % 2 == 1 else torch.ones(count)
    return torch.complex(signs[0::2], signs[1::2]) * cover * 0.5**0.5


def pilot_places(params):
    """Elements with the pilots of each port [port, pilot], and elements with data [data], of a grid."""
    size, k = params["subcarriers"], torch.arange(params["subcarriers"])
    times = torch.tensor(sorted(params["dmrs_symbols"]))
    if params["pattern"] == "nr_dmrs_type1":
        own = [k % 2 == port // 2 for port in range(params["port_count"])]
        taken = k % 2 < params["cdm_groups_without_data"]
    elif params["pattern"] == "comb":
        own = [taken := k % params["pilot_spacing"] == params["pilot_offset"]]
    else:
        own = [taken := torch.ones_like(k, dtype=torch.bool)]
    busy = torch.zeros(params["num_ofdm_symbols"], size, dtype=torch.bool)
    busy[times] = taken
    pilots = torch.stack([(times[:, None] * size + k[chosen]).reshape(-1) for chosen in own])
    return pilots, torch.nonzero(~busy.reshape(-1))[:, 0]


def pilot_values(params, grids, pilots):
    """Values of the pilots, complex128 [grid, port, pilot]."""
    if params["pattern"] == "nr_dmrs_type1":
        times = sorted(params["dmrs_symbols"])
        rows = [dmrs_values(port, params["slot"] + grid, time, params)
                for grid in range(grids) for port in range(len(pilots)) for time in times]
        values = torch.cat(rows)
    else:
        drawn = np.random.default_rng(params["pilot_seed"]).integers(0, 4, grids * pilots.shape[1])
        bits = np.stack([drawn >> 1, drawn & 1], -1).reshape(-1)
        values = modulate(torch.from_numpy(bits).double(), "qpsk")
    return from_db(params["pilot_power_db"]) ** 0.5 * values.reshape(grids, *pilots.shape)


@twin("modulation.ofdm_pilot_insert")
def ofdm_pilot_insert(inputs, params, draws, network=None):
    """Data fill the elements without a pilot, layer by layer; empty combs and the padding are zero."""
    signal = inputs["symbols"]
    x, device, ports = signal.data, signal.data.device, params["port_count"]
    pilots, data = pilot_places(params)
    room = len(data) * ports
    grids = -(-len(x) // room)
    values = pilot_values(params, grids, pilots).to(device=device, dtype=x.dtype)
    grid = torch.zeros([grids, params["num_ofdm_symbols"] * params["subcarriers"], ports], dtype=x.dtype, device=device)
    grid[:, data] = functional.pad(x, [0, grids * room - len(x)]).reshape(grids, -1, ports)
    for port, places in enumerate(pilots):
        grid[:, places, port] = values[:, port]
    layout = {GRID_KEY: {
        "subcarriers": params["subcarriers"],
        "num_ofdm_symbols": params["num_ofdm_symbols"],
        "grids": grids,
        "port_count": ports,
        "data_count": len(x),
        "padding_symbols": grids * room - len(x),
    }}
    sent = signal.with_(grid.reshape(-1), **layout)
    sent.metadata.pop("source_item_counts", None)
    companions = {"values": values, "data_positions": data.to(device)}
    return {"symbols": sent, "pilot_context": Signal(pilots.to(device), layout, companions)}


# Channel estimates


def interpolation(places, count, nearest=False):
    """Weights [place of the grid, given place], linear between given places, the nearest one outside."""
    places, k = torch.tensor(places, dtype=torch.float64), torch.arange(count)
    left = (torch.searchsorted(places, k.double(), right=True) - 1).clamp(min=0)
    right = (left + 1).clamp(max=len(places) - 1)
    gap = torch.where(right > left, places[right] - places[left], torch.inf)
    share = ((k - places[left]) / gap).clamp(min=0)
    if nearest:
        share = (share > 0.5).double()
    weights = torch.zeros(count, len(places), dtype=torch.float64)
    return weights.index_put((k, left), 1 - share, accumulate=True).index_put((k, right), share, accumulate=True)


def correlation(distance, assumed):
    """E h_a h_b* of two subcarriers at a distance, for a power-delay profile."""
    kind, spread, maximum, model, spacing = assumed
    turn = 2 * torch.pi * distance * spacing
    if kind == "exponential":
        return 1 / torch.complex(torch.ones_like(turn), turn * spread * 1e-9)
    if kind == "uniform":
        half = turn / 2 * maximum * 1e-9
        return torch.polar(torch.sinc(half / torch.pi), -half)
    taps = {"channel": "ofdm_tdl", "tdl_model": model, "delay_spread_ns": spread, "normalize_channel": True}
    delays, powers, _ = profile(taps)
    return sum(torch.polar(p.expand_as(turn), -turn * delay) for delay, p in zip(delays, powers / powers.sum()))


@lru_cache(maxsize=64)
def lmmse_filter(places, count, assumed, variance):
    """Weights [subcarrier, pilot] R_kp (R_pp + s I)^-1, and the error variance [subcarrier]."""
    places, k = torch.tensor(places, dtype=torch.float64), torch.arange(count, dtype=torch.float64)
    own = correlation(places[:, None] - places, assumed)
    cross = correlation(k[:, None] - places, assumed)
    loaded = own + max(variance, 1e-10) * torch.eye(len(places), dtype=torch.float64)
    weights = torch.linalg.solve(loaded, cross.mH).mH
    return weights, (1 - (weights * cross.conj()).sum(-1).real).clamp(min=0)


def pilot_rows(y, context, port, noise):
    """Each OFDM symbol with pilots as (time, subcarriers, values [grid, pilot, rx]), and the noise variance of the values.

    y is [grid, element, rx].
    """
    size, positions = context.number(GRID_KEY)["subcarriers"], context.data.cpu().long()
    own, values = positions[port], context.companions["values"][:, port].to(y.dtype)
    # Ports at the same positions share a CDM group: the mean over a pair of pilots separates them.
    step = 2 if any(other != port and torch.equal(own, positions[other]) for other in range(len(positions))) else 1
    raw, rows = y[:, own] * (values.conj() / power(values))[..., None], []
    for time in torch.unique(own // size).tolist():
        members = torch.nonzero(own // size == time)[:, 0]
        members = members[:len(members) // step * step].reshape(-1, step)
        rows.append((time, tuple((own[members] % size).double().mean(-1).tolist()), raw[:, members].mean(2)))
    return rows, noise / power(values[0, 0]).item() / step


@twin("demodulation.ofdm_pilot_observation")
def ofdm_pilot_observation(inputs, params, draws, network=None):
    """The pilots of one port as a problem of channel estimation, an OFDM symbol with pilots or a grid an example."""
    received, context = inputs["rx_symbols"], inputs["pilot_context"]
    y = element_grid(received, context)
    rows, variance = pilot_rows(y, context, 0, received.number("noise_variance"))
    size, at = context.number(GRID_KEY)["subcarriers"], torch.tensor(rows[0][1]).long()
    if params["example"] == "grid":
        return {"observation": grid_observation(y, rows, variance, size)}
    grids = torch.zeros([len(y), len(rows), y.shape[-1], size], dtype=y.dtype, device=y.device)
    grids[..., at] = torch.stack([values.mT for _, _, values in rows], 1)
    pilots = torch.zeros([1, size], dtype=y.dtype, device=y.device)
    pilots[:, at] = 1
    facts = {"noise_variance": variance, "pilot_density": len(at) / size}
    return {"observation": Signal(grids.flatten(0, 1), facts, {"pilots": pilots})}


def grid_observation(y, rows, variance, size):
    """Pilots of whole grids [grid, rx, symbol * subcarrier]."""
    data = torch.zeros_like(y.mT)
    pilots = torch.zeros([1, y.shape[1]], dtype=y.dtype, device=y.device)
    for time, places, values in rows:
        at = time * size + torch.tensor(places).long()
        data[..., at] = values.mT
        pilots[:, at] = 1
    facts = {"noise_variance": variance, "pilot_density": (pilots != 0).double().mean().item(), "ofdm_symbols": y.shape[1] // size}
    return Signal(data, facts, {"pilots": pilots})


def element_grid(received, context):
    """[grid, element, rx]: a stream has one antenna, a grid of several has them last."""
    layout = context.number(GRID_KEY)
    return received.data.reshape(layout["grids"], layout["num_ofdm_symbols"] * layout["subcarriers"], -1)


def in_time(rows, times, layout, params):
    """Rows [grid, row, subcarrier, rx] of some OFDM symbols, on all of them."""
    count = layout["num_ofdm_symbols"]
    if params["time_interpolation"] == "average":
        between = torch.full([count, len(times)], 1 / len(times), dtype=torch.float64)
    else:
        between = interpolation(times, count, params["time_interpolation"] == "nearest")
    return torch.einsum("st,gtkr->gskr", between.to(device=rows.device, dtype=rows.dtype), rows)


def time_correlation(received, params):
    """Correlation of a gain at distances in OFDM symbols, for the known Doppler shift or the assumed one."""
    shift = params.get("assumed_doppler_hz")
    if shift is None:
        record = received.number("wireless_channel")
        shift = 0.0 if record.get("doppler_model") == "block_static" else record["maximum_doppler_hz"]
    interval = 1e-3 / 14 * 15 / params["subcarrier_spacing_khz"]
    turn = 2 * torch.pi * shift * interval
    if params["assumed_spectrum"] == "flat":
        return lambda distance: torch.sinc(turn * distance / torch.pi)
    return lambda distance: torch.special.bessel_j0(turn * distance)


def time_filter(weights, before, times, count, correlation, noise):
    """LMMSE over time after a filter over frequency: weights [subcarrier, symbol, row], error variance [symbol, subcarrier]."""
    variance, times = max(noise, 1e-10), torch.tensor(times, dtype=torch.float64)
    strength, kept = power(weights).sum(-1), 1 - before
    wanted = kept - variance * strength
    known = wanted > 0
    safe = torch.where(known, wanted, torch.ones_like(wanted))
    own = correlation((times[:, None] - times).abs())
    cross = correlation((torch.arange(count, dtype=torch.float64)[:, None] - times).abs())
    loading = torch.clamp(variance * strength / safe, min=1e-10)
    loaded = own + loading[:, None, None] * torch.eye(len(times), dtype=torch.float64)
    filters = torch.linalg.solve(loaded, cross.mT.expand(len(loading), -1, -1)).mT
    left = (1 - (filters * cross).sum(-1)).clamp(min=0)
    error = (1 - (kept**2 / safe)[:, None] * (1 - left)).clamp(min=0)
    filters = torch.where(known[:, None, None], (kept / safe)[:, None, None] * filters, torch.zeros_like(filters))
    return filters, torch.where(known[:, None], error, torch.ones_like(error)).mT


def port_estimate(y, context, port, noise, params, tracking=None):
    """Gains [grid, symbol, subcarrier, rx] and error variance [subcarrier], or [symbol, subcarrier] with tracking, of a port.

    y is [grid, element, rx].

    Filters are those of the pilots' power as it is: no gradient reaches the pilots through them.
    """
    layout = context.number(GRID_KEY)
    size, rows, error, first = layout["subcarriers"], [], None, None
    pilots, variance = pilot_rows(y, context, port, noise)
    for _, places, values in pilots:
        if params["method"] == "lmmse":
            assumed = (params["delay_profile"], params["delay_spread_ns"], params["maximum_delay_ns"],
                       params["tdl_model"], params["subcarrier_spacing_khz"] * 1e3)
            weights, own_error = lmmse_filter(places, size, assumed, variance)
        else:
            weights, own_error = interpolation(places, size), torch.full([size], variance, dtype=torch.float64)
        if error is None:
            error, first = own_error, weights
        rows.append(torch.einsum("kp,gpr->gkr", weights.to(device=y.device, dtype=y.dtype), values))
    rows, times = torch.stack(rows, 1), [time for time, _, _ in pilots]
    if tracking is None:
        return in_time(rows, times, layout, params), error
    if any(places != pilots[0][1] for _, places, _ in pilots):
        raise ValueError("cannot filter over time: pilots lie on other subcarriers from time to time")
    between, error = time_filter(first, error, times, layout["num_ofdm_symbols"], tracking, variance)
    return torch.einsum("kst,gtkr->gskr", between.to(device=y.device, dtype=y.dtype), rows), error


def given_estimate(given, y, context, noise, params):
    """Gains [grid, symbol, subcarrier, rx] of the estimates of a slot, and their error variance [grid, 1 or symbol, subcarrier]."""
    layout = context.number(GRID_KEY)
    if given.data.shape[-1] == y.shape[1]:
        rows = (layout["num_ofdm_symbols"], layout["subcarriers"])
        h = given.data[:, :, 0].unflatten(-1, rows).permute(0, 2, 3, 1)
        if "error_variance" in given.companions:
            return h, given.companions["error_variance"][:, :, 0].unflatten(-1, rows).mean(1)
        return h, torch.full_like(h[..., 0].real, params["given_error_variance"])
    times = [time for time, _, _ in pilot_rows(y, context, 0, noise)[0]]
    by_grid = lambda values: values[:, :, 0].reshape(len(y), len(times), *values.shape[1:2], values.shape[3])
    h = by_grid(given.data)
    if "error_variance" in given.companions:
        error = by_grid(given.companions["error_variance"]).mean((1, 2))
    else:
        error = torch.full_like(h[:, 0, 0].real, params["given_error_variance"])
    return in_time(h.mT, times, context.number(GRID_KEY), params), error[:, None]


@twin("model.ofdm_channel_estimator")
def ofdm_channel_estimator(inputs, params, draws, network=None):
    received, context = inputs["rx_symbols"], inputs["pilot_context"]
    layout, noise = context.number(GRID_KEY), received.number("noise_variance")
    grids, rows, size = layout["grids"], layout["num_ofdm_symbols"], layout["subcarriers"]
    facts = {"noise_variance": noise, "method": params["method"]}
    if params["method"] == "oracle":
        h = received.companions["channel_gain"].reshape(grids, rows, size, 1, 1)
        return {"estimate": Signal(h, facts, {"error_variance": torch.zeros_like(h[..., 0].real)})}
    y = element_grid(received, context)
    if params["method"] == "given":
        h, error = given_estimate(inputs["pilot_estimate"], y, context, noise, params)
        companions = {"error_variance": error[..., None].expand(grids, rows, -1, -1)}
        return {"estimate": Signal(h[..., None], facts, companions)}
    tracking = time_correlation(received, params) if params["time_interpolation"] == "wiener" else None
    ports = [port_estimate(y, context, port, noise, params, tracking) for port in range(len(context.data))]
    error = torch.stack([own.to(device=y.device, dtype=y.real.dtype) for _, own in ports], -1)
    companions = {"error_variance": error.expand(grids, rows, -1, -1)}
    return {"estimate": Signal(torch.stack([h for h, _ in ports], -1), facts, companions)}


# Equalisers


def divided(y, h, noise):
    """y/h and its noise variance noise/|h|²; elements without a gain are erased."""
    strength = power(h)
    dead = strength < LEAST_GAIN
    safe = torch.where(dead, torch.ones_like(h), h)
    variance = torch.where(dead, torch.full_like(strength, ERASED_VARIANCE), noise / power(safe))
    return torch.where(dead, torch.zeros_like(y), y / safe), variance


def data_of(context, values):
    """Data without padding, layer by layer, of values [element of all grids, layer]."""
    layout, data = context.number(GRID_KEY), context.companions["data_positions"].long()
    grids = values.reshape(layout["grids"], -1, values.shape[-1])
    return grids[:, data].reshape(-1)[:layout["data_count"]]


@twin("demodulation.ofdm_equalize")
def ofdm_equalize(inputs, params, draws, network=None):
    """Divides by the channel; with pilots only the data leave, without padding."""
    received, estimate, context = inputs["rx_symbols"], inputs["estimate"], inputs.get("pilot_context")
    noise = received.number("noise_variance")
    if params["include_estimation_error"] and "error_variance" in estimate.companions:
        noise = noise + estimate.companions["error_variance"].reshape(-1)
    symbols, variance = divided(received.data, estimate.data.reshape(-1), noise)
    if context is not None:
        symbols, variance = data_of(context, symbols[:, None]), data_of(context, variance[:, None])
    equalised = received.with_(symbols, {"noise_variance": variance})
    if context is not None:
        equalised.metadata.pop(GRID_KEY, None)
    return {"rx_symbols": equalised}


# Waveforms


def bins_of(layout, device):
    """Bins of the active subcarriers in the DFT of an OFDM symbol, and their frequencies k - F/2."""
    active = layout["active_subcarriers"]
    frequency = torch.arange(active, device=device) - active // 2
    return frequency % (layout["fft_size"] * layout["oversampling"]), frequency


@twin("modulation.ofdm_waveform")
def ofdm_waveform(inputs, params, draws, network=None):
    signal, size, oversampling = inputs["symbols"], params["fft_size"], params["oversampling"]
    x, active = signal.data, params["active_subcarriers"] or params["fft_size"]
    rows, body, prefix = -(-len(x) // active), size * oversampling, params["cp_length"] * oversampling
    grid = functional.pad(x, [0, rows * active - len(x)]).reshape(rows, active)
    layout = {
        "fft_size": size,
        "cp_length": params["cp_length"],
        "oversampling": oversampling,
        "active_subcarriers": active,
        "ofdm_symbol_count": rows,
        "symbols_per_grid": params["symbols_per_grid"],
    }
    if params.get("transform_precoding"):
        grid, layout["transform_precoding"] = torch.fft.fft(grid, norm="ortho"), True
    bins, _ = bins_of(layout, x.device)
    spectrum = torch.zeros([rows, body], dtype=x.dtype, device=x.device).index_copy(1, bins, grid)
    own = torch.fft.ifft(spectrum) * (body / size**0.5)
    samples = torch.cat([own[:, body - prefix:], own], 1).reshape(-1)
    elements = signal.with_(grid.reshape(-1), {})
    elements.metadata.pop("source_item_counts", None)
    waveform = elements.with_(samples, {"grid": grid}, **layout, symbol_count=len(x))
    return {"waveform": waveform, "grid": elements}


def paths_of(params, draws):
    """Delays in samples and gains complex128 of given paths, or of drawn ones."""
    if params["taps"]:
        delays, gains = [int(tap[0]) for tap in params["taps"]], [complex(*tap[1:]) for tap in params["taps"]]
        return delays, torch.tensor(gains, dtype=torch.complex128, device=draws.device)
    delays, gains = drawn_paths(params, draws)
    return delays, gains[0]


def drawn_paths(params, draws, times=None):
    """Delays in samples, and gains complex128 [time, path] of drawn paths; one time at rest."""
    delays, powers, line_of_sight = profile({**params, "channel": "ofdm_tdl"})
    if params["channel_model"] == "cdl":
        delays, gains = cluster_taps({**params, "rx_antennas": 1, "tx_antennas": 1}, draws, times)
        gains = gains[:, :, 0, 0]
    elif times is not None:
        gains = moving_taps(params, draws, len(powers), line_of_sight, 1, times)[0] * torch.sqrt(powers).to(draws.device)
    else:
        gains = draws.complex_normal([len(powers)]).to(torch.complex128)
        if line_of_sight:
            gains = torch.cat([gains[:1] / gains[:1].abs(), gains[1:]])
        gains = (gains * torch.sqrt(powers).to(gains.device))[None]
    return torch.floor(delays * params["sample_rate_mhz"] * 1e6 + 0.5).long().tolist(), gains


def delayed(x, by):
    """x[n - by], zero outside, of the length of x."""
    by = max(-len(x), min(by, len(x)))
    return functional.pad(x[:len(x) - by], [by, 0]) if by >= 0 else functional.pad(x[-by:], [0, -by])


@twin("wireless.multipath_waveform")
def multipath_waveform(inputs, params, draws, network=None):
    signal, n0 = inputs["waveform"], from_db(-params["snr_db"])
    x, oversampling, rows = signal.data, signal.number("oversampling"), signal.number("ofdm_symbol_count")
    body = signal.number("fft_size") * oversampling
    if is_moving(params):
        delays, own = drawn_paths(params, draws, times_of(params, len(x), 1e-6 / params["sample_rate_mhz"]))
        faded = sum(gain.to(x.dtype) * delayed(x, delay) for delay, gain in zip(delays, own.unbind(-1)))
        # A receiver of an OFDM symbol sees the mean of each path without the prefix.
        gains = own.reshape(rows, -1, len(delays))[:, -body:].mean(1)
    else:
        delays, gains = paths_of(params, draws)
        faded = sum(gain.to(x.dtype) * delayed(x, delay) for delay, gain in zip(delays, gains))
        gains = gains.expand(rows, -1)
    turns = params["carrier_frequency_offset_subcarriers"] / body * torch.arange(len(x), dtype=torch.float64, device=x.device)
    carrier = torch.polar(torch.ones_like(turns), 2 * torch.pi * turns).to(x.dtype)
    y = delayed(faded, params["timing_offset_samples"]) * carrier + draws.complex_normal(x.shape, n0 * oversampling)
    _, frequency = bins_of(signal.metadata, x.device)
    angle = -2 * torch.pi * frequency.double() * torch.tensor(delays, device=x.device)[:, None] / body
    response = (gains @ torch.polar(torch.ones_like(angle), angle)).to(x.dtype)
    wanted = signal.metadata.get("symbols_per_grid", rows)
    symbols = wanted if wanted and rows % wanted == 0 else rows
    facts = {"noise_variance": n0, "average_power_budget": 1.0}
    h = response.reshape(-1, symbols, response.shape[1])
    return {"waveform": signal.with_(y, noise_variance=n0 * oversampling), "state": Signal(h, facts)}


@twin("demodulation.ofdm_receive")
def ofdm_receive(inputs, params, draws, network=None):
    """The DFT of each window, turned back by its start inside the prefix; zf divides by the gains of the state."""
    signal, state = inputs["waveform"], inputs.get("state")
    size, oversampling, early = signal.number("fft_size"), signal.number("oversampling"), params["receiver_cp_offset"]
    prefix, count = signal.number("cp_length"), signal.number("symbol_count")
    if early > prefix:
        raise ValueError(f"a window cannot start {early} samples inside a prefix of {prefix}")
    body, skip = size * oversampling, (prefix - early) * oversampling
    y = signal.data.reshape(signal.number("ofdm_symbol_count"), -1)[:, skip:skip + body]
    bins, frequency = bins_of(signal.metadata, y.device)
    angle = 2 * torch.pi * frequency.double() * early / size
    turn = torch.polar(torch.ones_like(angle), angle).to(y.dtype)
    elements = (torch.fft.fft(y)[:, bins] * turn / (oversampling * size**0.5)).reshape(-1)
    precoded, active = signal.metadata.get("transform_precoding", False), signal.number("active_subcarriers")
    elements = elements if precoded else elements[:count]
    n0, companions, facts = signal.metadata.get("noise_variance"), {}, {}
    if n0 is not None:
        facts["noise_variance"] = n0 / oversampling
    if params["equalize"] == "zf":
        elements, variance = divided(elements, state.data.reshape(-1)[:len(elements)], facts.get("noise_variance", 0.0))
        if precoded:
            variance = variance.reshape(-1, active).mean(1).repeat_interleave(active)[:count]
        companions = {"noise_variance": variance} if facts else {}
    if precoded:
        elements = torch.fft.ifft(elements.reshape(-1, active), norm="ortho").reshape(-1)[:count]
    received = signal.with_(elements, companions, **facts)
    for name in WAVEFORM_KEYS:
        received.metadata.pop(name, None)
    return {"rx_symbols": received}


# Several antennas

TS36101 = {"ts36101_low": (0.0, 0.0), "ts36101_medium": (0.3, 0.9), "ts36101_high": (0.9, 0.9)}


def correlation_factor(params, side, count):
    """Cholesky factor of the correlation of an array; side 0 transmits, 1 receives."""
    model = params["correlation_model"]
    rho = TS36101[model][side] if model in TS36101 else params[("tx_correlation", "rx_correlation")[side]]
    place = torch.arange(count, dtype=torch.float64)
    distance = (place[:, None] - place).abs()
    exponent = (distance / 3) ** 2 if model in TS36101 and count != 2 else distance
    return torch.linalg.cholesky(rho**exponent)


def correlated_taps(params, draws, times=None):
    """Delays, and taps complex128 [time, tap, rx, tx] of a tapped delay line, or of one tap of power 1; one time at rest."""
    tx, rx = params["tx_antennas"], params["rx_antennas"]
    delays, powers, line_of_sight = torch.zeros(1), torch.ones(1), False
    if params["channel_model"] == "tdl":
        delays, powers, line_of_sight = profile({**params, "channel": "ofdm_tdl"})
    if times is None:
        drawn = draws.complex_normal([1, len(powers), rx, tx]).to(torch.complex128)
    else:
        pairs = moving_taps(params, draws, len(powers), line_of_sight, rx * tx, times)
        drawn = pairs.movedim(0, -1).reshape(len(times), len(powers), rx, tx)
    factors = [correlation_factor(params, side, count).to(drawn) for side, count in enumerate((tx, rx))]
    taps = factors[1] @ drawn @ factors[0].mT
    if line_of_sight:
        sight = drawn[:, :1, :1, :1]
        taps = torch.cat([(sight / sight.abs()).expand(-1, -1, rx, tx), taps[:, 1:]], 1)
    return delays, taps * torch.sqrt(powers).to(taps)[:, None, None]


def precoded(h, layers):
    """H W with the strongest right singular vectors, whose first components are real and not negative."""
    v = torch.linalg.svd(h, full_matrices=False)[2].mH[..., :layers]
    first = v[..., :1, :]
    return h @ (v * torch.where(first == 0, torch.ones_like(first), torch.sgn(first).conj()))


@twin("wireless.mimo_ofdm_channel")
def mimo_ofdm_channel(inputs, params, draws, network=None):
    """Layers y = H W x / sqrt(layers) + n, one matrix for each grid and subcarrier; in motion one for each OFDM symbol too."""
    signal, n0 = inputs["symbols"], noise_variance_of(params)
    x, size, rows, rx = signal.data, params["ofdm_fft_size"], params["num_ofdm_symbols"], params["rx_antennas"]
    layers = params["layers"] or params["tx_antennas"]
    grids = -(-len(x) // (size * rows * layers))
    taps_of = cluster_taps if params["channel_model"] == "cdl" else correlated_taps
    matrices, noise = [], []
    explicit, moving = params["channel_state_mode"] == "explicit", is_moving(params)

    def responses(times=None):
        """[time, subcarrier, rx, tx]"""
        delays, taps = taps_of(params, draws, times)
        return torch.einsum("sprt,pk->skrt", taps, rotations(delays, params).to(taps.device))

    # A motion is one realisation over all grids.
    whole = responses(symbol_times(params, grids * rows)) if moving else None
    for grid in range(grids):
        if explicit:
            # [OFDM symbol, subcarrier, rx, tx]
            h = inputs["channel_state"].data[grid].to(torch.complex128)
        else:
            h = whole[grid * rows:(grid + 1) * rows] if moving else responses()
        matrices.append(precoded(h, layers) if params["precoding"] == "svd" else h[..., :layers])
        noise.append(draws.complex_normal([rows, size, rx], n0))
    g = (torch.stack(matrices) / layers**0.5).to(x.dtype)
    sent = functional.pad(x, [0, grids * size * rows * layers - len(x)]).reshape(grids, rows, size, layers)
    y = torch.einsum("gskrl,gskl->gskr", g.expand(-1, rows, -1, -1, -1), sent) + torch.stack(noise)
    # The matrices of a grid that does not change have no axis of OFDM symbols.
    g = g[:, 0] if g.shape[1] == 1 and not moving else g
    facts = {"noise_variance": n0, "layers": layers, "rx_antennas": rx}
    received = signal.with_(y, {}, **facts, symbol_count=len(x), ofdm_fft_size=size, num_ofdm_symbols=rows)
    received.metadata.pop("source_item_counts", None)
    return {"rx_grid": received, "state": Signal(g, facts)}


def separated(y, g, n0, mmse):
    """Estimates [..., layer] of zero forcing or unbiased MMSE, and their noise variances; a singular problem is erased."""
    n0 = torch.as_tensor(n0, dtype=torch.float64, device=y.device)[..., None]
    own = torch.eye(g.shape[-1], dtype=g.dtype, device=g.device)
    gram = g.mH @ g + (torch.clamp(n0, min=1e-12)[..., None] * own if mmse else 0)
    lower, info = torch.linalg.cholesky_ex(gram.detach())
    pivots = power(torch.diagonal(lower, dim1=-2, dim2=-1))
    dead = (info > 0) | (pivots.amin(-1) < 1e-14 * pivots.amax(-1))
    inverse = torch.linalg.inv(torch.where(dead[..., None, None], own, gram))
    share = torch.diagonal(inverse, dim1=-2, dim2=-1).real
    x = (inverse @ g.mH @ y[..., None])[..., 0]
    if mmse:
        lost = torch.clamp(n0, min=1e-12) * share
        gain = torch.clamp(1 - lost, min=1e-12)
        x, variance = x / gain, lost / gain
    else:
        variance = n0 * share
    dead = dead[..., None]
    return torch.where(dead, torch.zeros_like(x), x), torch.where(dead, ERASED_VARIANCE, variance).expand(x.shape)


def points_of(modulation, like):
    """Points of a constellation by label."""
    width = BITS_PER_SYMBOL[modulation]
    return modulate(label_bits(width, like.device).to(torch.float64).reshape(-1), modulation).to(like.dtype)


def successive(y, g, n0, points):
    """MMSE of the layers that remain, the one of least variance first; decided symbols are constants for gradients."""
    count, layers = y.shape[0], g.shape[-1]
    gone = torch.zeros(count, layers, dtype=torch.bool, device=y.device)
    symbols, variances = torch.zeros(count, layers, dtype=y.dtype, device=y.device), n0.new_zeros(count, layers)
    place = torch.arange(layers, device=y.device)
    for _ in range(layers):
        # A layer without gain does not change the filters of the others.
        x, variance = separated(y, g.masked_fill(gone[:, None], 0), n0, True)
        open_variance = variance.detach().masked_fill(gone, torch.inf)
        best = torch.where(open_variance == open_variance.amin(-1, keepdim=True), place, layers).amin(-1, keepdim=True)
        chosen = place == best
        symbols, variances = torch.where(chosen, x, symbols), torch.where(chosen, variance, variances)
        own = x.gather(1, best).detach()
        decision = points[power(own - points).argmin(-1)]
        y = y - g.gather(2, best[:, None].expand(-1, g.shape[1], -1))[..., 0] * decision[:, None]
        gone = gone | chosen
    return symbols, variances


def all_vectors(y, g, points):
    """Distances [n, vector] of all vectors of labels, and these [vector, layer]; the last layer changes first."""
    layers = g.shape[-1]
    labels = torch.cartesian_prod(*[torch.arange(len(points), device=y.device)] * layers).reshape(-1, layers)
    return power(y[:, None] - points[labels] @ g.mT).sum(-1), labels


def triangular(g):
    """Q and R by modified Gram-Schmidt with a real diagonal; a dependent column gets a zero one."""
    columns, rows = list(g.unbind(-1)), []
    for i, column in enumerate(columns):
        length = torch.sqrt(power(column).sum(-1, keepdim=True))
        columns[i] = column = torch.where(length > 0, column / torch.where(length > 0, length, 1), column)
        rest = [(column.conj() * other).sum(-1, keepdim=True) for other in columns[i + 1:]]
        columns[i + 1:] = [other - column * part for other, part in zip(columns[i + 1:], rest)]
        rows.append(torch.cat([torch.zeros_like(g[:, 0, :i]), length.to(g.dtype), *rest], -1))
    return torch.stack(columns, -1), torch.stack(rows, 1)


def best_vectors(y, g, points, keep):
    """Distances [n, path] of the paths of a tree search from the last layer up, and their labels [n, path, layer]."""
    q, triangle = triangular(g)
    count, layers, order = y.shape[0], g.shape[-1], len(points)
    rotated = (q.mH @ y[..., None])[..., 0]
    distances = torch.clamp(power(y).sum(-1) - power(rotated).sum(-1), min=0)[:, None]
    labels = torch.zeros(count, 1, 0, dtype=torch.long, device=y.device)
    for i in reversed(range(layers)):
        known = (points[labels] @ triangle[:, i, i + 1:, None])[..., 0]
        error = (rotated[:, i, None] - known)[..., None] - triangle[:, i, i, None, None] * points
        scores = (distances[..., None] + power(error)).reshape(count, -1)
        # In the order of path and label, as ties of the next layer need it.
        kept = scores.detach().sort(dim=-1, stable=True).indices[:, :keep].sort(-1).values
        paths = torch.div(kept, order, rounding_mode="floor")
        before = labels.gather(1, paths[..., None].expand(-1, -1, labels.shape[-1]))
        labels, distances = torch.cat([(kept % order)[..., None], before], -1), scores.gather(1, kept)
    return distances, labels


def marginal_llr(distances, labels, n0, width, exact, absent):
    """LLRs [n, layer, bit] of distances [n, vector] with labels [n or 1, vector, layer]; a bit value of no vector has `absent`."""
    def side(chosen):
        missing = ~chosen.any(-1, keepdim=True)
        own = distances.masked_fill(~(chosen | missing), torch.inf)
        least = -n0[:, None] * torch.logsumexp(-own / n0[:, None], -1, keepdim=True) if exact else own.amin(-1, keepdim=True)
        return torch.where(missing, absent, least)[..., 0]

    ones = [(labels[..., layer] >> (width - 1 - bit) & 1) == 1 for layer in range(labels.shape[-1]) for bit in range(width)]
    return torch.stack([(side(one) - side(~one)) / n0 for one in ones], -1).reshape(len(n0), -1, width)


#: Distances that a detector keeps at once.
MOST_DISTANCES = 2**22


def compared(y, g, n0, params, modulation):
    """LLRs [n, layer, bit] and hard decisions [n, layer] of ml and kbest."""
    points, layers, width = points_of(modulation, y), g.shape[-1], BITS_PER_SYMBOL[modulation]
    list_search = params["detector"] == "kbest"
    if list_search and g.shape[1] < layers:
        raise ValueError(f"kbest cannot separate {layers} layers on {g.shape[1]} antennas")
    if not list_search and width * layers > 20:
        raise ValueError(f"ml cannot compare 2^{width * layers} vectors")
    vectors = min(params["k_best"], 2 ** (width * layers)) * 2**width if list_search else 2 ** (width * layers)
    step = max(1, MOST_DISTANCES // (vectors * g.shape[1]))
    llr, symbols = [], []
    for y, g, n0 in zip(y.split(step), g.split(step), n0.split(step)):
        if list_search:
            distances, labels = best_vectors(y, g, points, params["k_best"])
        else:
            distances, labels = all_vectors(y, g, points)
            labels = labels.expand(len(y), -1, -1)
        absent = distances.amax(-1, keepdim=True)
        llr.append(marginal_llr(distances, labels, n0, width, params["llr_method"] == "exact", absent))
        least = torch.arange(distances.shape[-1], device=y.device).expand_as(distances)
        first = torch.where(distances == distances.amin(-1, keepdim=True), least, distances.shape[-1]).amin(-1)
        symbols.append(points[labels[torch.arange(len(y), device=y.device), first]])
    return torch.cat(llr), torch.cat(symbols)


@twin("demodulation.mimo_detect")
def mimo_detect(inputs, params, draws, network=None):
    received, channel, context = inputs["rx_grid"], inputs["channel"], inputs.get("pilot_context")
    detector = params["detector"]
    modulation = received.number("modulation") if params["modulation"] == "auto" else params["modulation"]
    y, g, n0 = received.data, channel.data, received.number("noise_variance")
    rx, layers = g.shape[-2:]
    if detector == "zf" and rx < layers:
        raise ValueError(f"zf cannot separate {layers} layers on {rx} antennas")
    if params["include_estimation_error"] and "error_variance" in channel.companions:
        n0 = n0 + channel.companions["error_variance"].double().sum(-1)
    # A true channel has one matrix for all OFDM symbols of a grid.
    g = (g if g.dim() == 5 else g[:, None]).to(torch.complex128)
    wide, variance, llr = y.to(torch.complex128), None, None
    if detector in ("zf", "mmse"):
        x, variance = separated(wide, g, n0, detector == "mmse")
    else:
        flat = wide.reshape(-1, rx), g.expand(*y.shape[:3], rx, layers).reshape(-1, rx, layers)
        n0 = torch.as_tensor(n0, dtype=torch.float64, device=y.device).expand(y.shape[:3]).reshape(-1)
        if detector == "mmse_sic":
            x, variance = successive(*flat, n0, points_of(modulation, wide))
        else:
            llr, x = compared(*flat, torch.clamp(n0, min=1e-12), params, modulation)

    def data(values):
        """Data without padding, layer by layer."""
        values = values.reshape(-1, layers)
        return data_of(context, values) if context else values.reshape(-1)[:received.metadata.get("symbol_count", x.numel())]

    x = data(x).to(y.dtype)
    if llr is None:
        variance = data(variance).to(y.real.dtype)
        llr = demodulate(x, modulation, variance, params["llr_method"] == "exact")
    else:
        llr = torch.stack([data(bit) for bit in llr.unbind(-1)], -1).reshape(-1).to(y.real.dtype)
    symbols = received.with_(x, {} if variance is None else {"noise_variance": variance})
    symbols.metadata.pop(GRID_KEY, None)
    return {**decided(received, llr), "symbols": symbols}
