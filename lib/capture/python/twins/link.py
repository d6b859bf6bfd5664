"""Twins of the bit and symbol path: bits, modulation, power, channels, front ends, demappers, error rates.

Noise is circularly symmetric with total variance N0 per symbol. LLR = ln P(0|y)/P(1|y): positive for bit 0.
"""

import math

import numpy as np
import torch
import torch.nn.functional as functional

from .core import (
    Signal,
    Unsupported,
    as_complex,
    from_db,
    items_of,
    losses_of,
    noise_variance_of,
    per_item,
    power,
    real_imaginary,
    straight_through,
    twin,
)
from .fading import cluster_taps, doppler_of, is_moving, moving_taps, profile, symbol_times

BITS_PER_SYMBOL = {"bpsk": 1, "qpsk": 2, "qam16": 4, "qam64": 6, "qam256": 8}
LEAST_NOISE_VARIANCE = 1e-12
LARGEST_FLOAT32 = torch.finfo(torch.float32).max


# Bits and boundaries


@twin("source.random_bits")
def random_bits(inputs, params, draws, network=None):
    count = params["bit_count"] * params["batch_size"]
    bits = draws.integers([count], 0, 2).to(draws.dtype)
    return {"bits": Signal(bits, {"source_item_counts": [params["bit_count"]] * params["batch_size"]})}


def relay(source, target):
    """An operation that passes its input on."""

    def function(inputs, params, draws, network=None):
        signal = inputs[source]
        return {target: signal.with_(signal.data, soft=signal.soft)}

    return function


for _operation, _source, _target in [
    ("channel.bit_boundary", "bits", "bits"),
    ("channel.identity_encoder", "bits", "coded_bits"),
    ("channel.identity_decoder", "coded_bits", "bits"),
    ("channel.payload_passthrough_encoder", "bits", "bits"),
    ("channel.payload_passthrough_decoder", "bits", "bits"),
    ("channel.identity_link", "bits", "bits"),
    ("channel.symbol_boundary", "symbols", "symbols"),
    ("channel.symbol_power_identity", "symbols", "symbols"),
    ("channel.identity_symbol_link", "symbols", "symbols"),
]:
    twin(_operation)(relay(_source, _target))


# Modulation


def levels(bits):
    """Amplitude of Gray-mapped bits [..., n] of one part, in units of half the distance of neighbours."""
    sign = 1 - 2 * bits
    amplitude = torch.ones_like(sign[..., 0])
    for i in range(bits.shape[-1] - 1, 0, -1):
        amplitude = 2 ** (bits.shape[-1] - i) - sign[..., i] * amplitude
    return sign[..., 0] * amplitude


def unit_of(width):
    """Half the distance of neighbouring levels of a part, at unit mean power."""
    return (1.5 / (2**width - 1)) ** 0.5


def modulate(bits, modulation):
    """Bits [n] to symbols of unit mean power, zero-padded to whole symbols."""
    width = BITS_PER_SYMBOL[modulation]
    bits = functional.pad(bits, [0, -len(bits) % width]).reshape(-1, width)
    if modulation == "bpsk":
        return torch.complex(1 - 2 * bits[:, 0], torch.zeros_like(bits[:, 0]))
    unit = unit_of(width)
    return torch.complex(levels(bits[:, 0::2]), levels(bits[:, 1::2])) * unit


def modulated(bits, symbols, modulation, width):
    items, count = items_of(bits, len(bits.data)), len(bits.data)
    metadata = {k: v for k, v in bits.metadata.items() if k != "source_item_counts"}
    if items is not None:
        metadata["modulated_item_bit_counts"] = items
        if all(item % width == 0 for item in items[:-1]):
            metadata["source_item_counts"] = [-(-item // width) for item in items]
    metadata.update(modulation=modulation, bits_per_symbol=width, modulation_padding_bits=-count % width)
    return Signal(symbols, metadata)


@twin("modulation.digital_modulate")
def digital_modulate(inputs, params, draws, network=None):
    bits, modulation = inputs["bits"], params["modulation"]
    if modulation == "auto":
        raise Unsupported("modulation auto, which an encoder records")
    if modulation not in BITS_PER_SYMBOL or params.get("bpsk_rotation", "none") != "none":
        raise Unsupported("constellations of tables and rotated BPSK")
    return {"symbols": modulated(bits, modulate(bits.data, modulation), modulation, BITS_PER_SYMBOL[modulation])}


@twin("modulation.qpsk_pilot_modulate")
def qpsk_pilot_modulate(inputs, params, draws, network=None):
    """QPSK frames, one for each source item: a preamble of known pilots, then a pilot after each group of data symbols."""
    bits, spacing = inputs["bits"], params["pilot_spacing_data_symbols"]
    items = items_of(bits, len(bits.data)) or [len(bits.data)]
    framed, places, start = [], [], 0
    for part in torch.split(bits.data, items):
        data = modulate(part, "qpsk")
        groups = len(data) // spacing
        places.append(start + torch.cat([
            torch.arange(params["preamble_symbols"]),
            params["preamble_symbols"] + torch.arange(1, groups + 1) * (spacing + 1) - 1,
        ]))
        framed.append((data, len(data) + len(places[-1])))
        start += framed[-1][1]
    positions, lengths = torch.cat(places).to(bits.data.device), [length for _, length in framed]
    # The pilots are part of the operation, not of its noise: those of NumPy's generator with the seed of the parameters.
    labels = torch.from_numpy(np.random.default_rng(params["pilot_seed"]).integers(0, 4, len(positions)))
    values = modulate(label_bits(2, "cpu")[labels].reshape(-1).to(bits.data), "qpsk")
    known = torch.zeros(start, dtype=torch.bool, device=bits.data.device).index_fill(0, positions, True)
    symbols = torch.empty(start, dtype=values.dtype, device=values.device)
    symbols[positions], symbols[~known] = values, torch.cat([data for data, _ in framed])
    signal = modulated(bits, symbols, "qpsk", 2)
    signal.metadata.update(
        modulation_padding_bits=sum(count % 2 for count in items),
        source_item_counts=lengths,
        pilot_symbol_count=len(positions),
    )
    facts = {"frame_symbol_counts": lengths, "frame_bit_counts": items, "preamble_symbols": params["preamble_symbols"]}
    context = Signal(positions.to(torch.int32), facts, {"values": values})
    return {"symbols": signal, "pilot_context": context}


def label_bits(width, device):
    """Bits of all labels [2^width, width], the first bit highest."""
    labels = torch.arange(2**width, device=device)
    return torch.stack([(labels >> (width - 1 - bit)) & 1 for bit in range(width)], -1)


@twin("modulation.learned_constellation")
def learned_constellation(inputs, params, draws, network=None):
    """Points of unit mean power by label; gradients reach the network of the points."""
    bits, width = inputs["bits"], params["bits_per_symbol"]
    labels = label_bits(width, bits.data.device).to(draws.dtype)
    if network is not None:
        points = as_complex(network(label_bits=labels)["points_ri"].to(draws.dtype))
    elif params["mode"] == "qam":
        points = modulate(labels.reshape(-1), next(name for name, n in BITS_PER_SYMBOL.items() if n == width))
    elif params["mode"] == "points":
        points = as_complex(torch.tensor(params["points"], dtype=draws.dtype, device=bits.data.device))
    else:
        raise Unsupported(f"mode {params['mode']}")
    points = points / torch.sqrt(power(points).mean())
    padded = functional.pad(bits.data, [0, -len(bits.data) % width]).reshape(-1, width)
    index = (padded.detach() * 2 ** torch.arange(width - 1, -1, -1, device=padded.device)).sum(-1).long()
    symbols = modulated(bits, points[index], "constellation", width)
    return {"symbols": symbols, "constellation": Signal(points, {"bits_per_symbol": width})}


@twin("modulation.identity_modulate")
def identity_modulate(inputs, params, draws, network=None):
    bits = inputs["bits"]
    return {"symbols": modulated(bits, torch.complex(bits.data, torch.zeros_like(bits.data)), "identity", 1)}


@twin("channel.symbol_power_normalize")
def symbol_power_normalize(inputs, params, draws, network=None):
    signal = inputs["symbols"]
    x = signal.data
    items = items_of(signal, len(x)) if params["normalization_scope"] == "source_item" else None
    mean = torch.stack([power(part).mean() for part in torch.split(x, items or [len(x)])])
    gain = torch.sqrt(params["target_power"] / torch.clamp(mean, min=params["eps"]))
    return {"symbols": signal.with_(x * per_item(gain, items or [len(x)]))}


# Channels


def rotations(delays, params):
    """exp(-j 2 pi (k - F//2) df tau_l) [tap, subcarrier]"""
    count = params["ofdm_fft_size"]
    k = torch.arange(count, dtype=torch.float64) - count // 2
    angle = -2 * torch.pi * k * params["subcarrier_spacing_khz"] * 1e3 * delays[:, None]
    return torch.polar(torch.ones_like(angle), angle)


def grid_responses(params, grids, draws):
    """H [grid, OFDM symbol or 1, subcarrier], H_k = sum over l of h_l exp(-j 2 pi (k - F//2) df tau_l); 1 at rest."""
    delays, powers, line_of_sight = profile(params)
    if is_moving(params):
        rows = params["num_ofdm_symbols"]
        times = symbol_times(params, grids * rows)
        if params["channel"] == "ofdm_cdl":
            taps = cluster_taps({**params, "rx_antennas": 1, "tx_antennas": 1}, draws, times)[1][:, :, 0, 0]
        else:
            taps = moving_taps(params, draws, len(powers), line_of_sight, 1, times)[0] * torch.sqrt(powers).to(draws.device)
        return (taps @ rotations(delays, params).to(taps.device)).reshape(grids, rows, -1)
    taps = draws.complex_normal([grids, len(powers)]).to(torch.complex128)
    if line_of_sight:
        taps = torch.cat([taps[:, :1] / taps[:, :1].abs(), taps[:, 1:]], 1)
    return (taps * torch.sqrt(powers).to(taps.device) @ rotations(delays, params).to(taps.device))[:, None]


def one_tap(x, gain, noise, variance):
    """x + n/h with the variance N0/|h|² of each symbol; a gain of zero is an erasure."""
    strength = power(gain)
    dead = strength == 0
    safe = torch.where(dead, torch.ones_like(gain), gain)
    estimate = torch.where(dead, torch.zeros_like(x), x + noise / safe)
    return estimate, torch.where(dead, torch.full_like(strength, LARGEST_FLOAT32), variance / power(safe))


def awgn(x, params, signal, draws, n0):
    return x + draws.complex_normal(x.shape, n0), {}, n0


def flat_rayleigh(x, params, signal, draws, n0):
    items = fading_items(params, signal, len(x))
    gain = draws.complex_normal([len(items) if items else len(x)])
    gain = per_item(gain, items) if items else gain
    noise = draws.complex_normal(x.shape, n0)
    if params["receiver_processing"] == "none":
        return gain * x + noise, {"channel_gain": gain}, n0
    estimate, variance = one_tap(x, gain, noise, n0)
    return estimate, {"noise_variance": variance}, n0


def fading_items(params, signal, count):
    """Elements of each source item where the fading is constant over an item."""
    if params.get("fading_scope") != "source_item":
        return None
    items = items_of(signal, count)
    if items is None:
        raise ValueError("fading_scope source_item needs symbols with source items")
    return items


def interference(x, params, signal, draws, n0):
    streams = params["interferers"]
    strength = from_db(-params["interference_sir_db"]) if streams else 0.0
    y = x
    for _ in range(streams):
        label = draws.integers(x.shape, 0, 4)
        point = torch.complex((1 - 2 * (label >> 1)).to(x.real.dtype), (1 - 2 * (label & 1)).to(x.real.dtype))
        y = y + (strength / streams / 2) ** 0.5 * point
    return y + draws.complex_normal(x.shape, n0), {}, n0 + strength


def mimo_flat(x, params, signal, draws, n0):
    """Vectors of tx symbols through H / sqrt(tx), and zero forcing."""
    tx, rx = params["tx_antennas"], params["rx_antennas"]
    items = fading_items(params, signal, len(x))
    runs = items or [len(x)]
    vectors = [-(-count // tx) for count in runs]
    padded = torch.cat([functional.pad(part, [0, -len(part) % tx]) for part in torch.split(x, runs)])
    channel = draws.complex_normal([len(runs) if items else sum(vectors), rx, tx])
    channel = per_item(channel, vectors) if items else channel
    noise = draws.complex_normal([sum(vectors), rx], n0)
    wide = channel.to(torch.complex128)
    gram = torch.linalg.inv(wide.mH @ wide)
    # (H^H H)^-1 H^H y = x + (H^H H)^-1 H^H n sqrt(tx)
    error = (gram @ wide.mH @ noise.to(torch.complex128)[:, :, None])[:, :, 0] * tx**0.5
    estimate = (padded.reshape(-1, tx) + error.to(x.dtype)).reshape(-1)
    variance = (tx * n0 * torch.diagonal(gram, dim1=1, dim2=2).real).to(x.real.dtype).reshape(-1)
    lengths = [count * tx for count in vectors]
    cut = lambda values: torch.cat([part[:n] for part, n in zip(torch.split(values, lengths), runs)])
    return cut(estimate), {"noise_variance": cut(variance)}, n0


def ofdm(x, params, signal, draws, n0):
    """Grids of subcarriers and OFDM symbols, one tap each; log-normal shadowing per item for urban_micro."""
    size, symbols = params["ofdm_fft_size"], params["num_ofdm_symbols"]
    grids = -(-len(x) // (size * symbols))
    shadow = None
    if params["channel"] == "urban_micro":
        items = items_of(signal, len(x)) or [len(x)]
        shadow = per_item(10 ** (-7.82 * draws.normal([len(items)]) / 20), items)
    response = grid_responses(params, grids, draws).to(x.dtype)
    noise = draws.complex_normal([grids * symbols * size], n0)[: len(x)]
    gain = response.expand(grids, symbols, size).reshape(-1)[: len(x)]
    gain = gain if shadow is None else gain * shadow
    if params["receiver_processing"] == "none":
        return gain * x + noise, {"channel_gain": gain}, n0
    estimate, variance = one_tap(x, gain, noise, n0)
    return estimate, {"noise_variance": variance}, n0


PRESETS = {
    "awgn": awgn,
    "flat_rayleigh": flat_rayleigh,
    "interference_awgn": interference,
    "mimo_flat": mimo_flat,
    "ofdm_tdl": ofdm,
    "ofdm_cdl": ofdm,
    "urban_micro": ofdm,
}


@twin("wireless.channel")
def wireless_channel(inputs, params, draws, network=None):
    signal, n0 = inputs["symbols"], noise_variance_of(params)
    state = inputs.get("channel_state")
    if state is not None:
        gain = state.data.reshape(-1)[: len(signal.data)]
        y, variance = one_tap(signal.data, gain, draws.complex_normal(signal.data.shape, n0), n0)
        added, total = {"noise_variance": variance}, n0
    else:
        y, added, total = PRESETS[params["channel"]](signal.data, params, signal, draws, n0)
    kept = {k: v for k, v in signal.companions.items() if k not in ("noise_variance", "channel_gain")}
    changes = state is not None or is_moving(params)
    record = {"maximum_doppler_hz": doppler_of(params) if changes else 0.0}
    return {"rx_symbols": signal.with_(y, {**kept, **added}, noise_variance=total, wireless_channel=record)}


@twin("wireless.carrier_phase_impairment")
def carrier_phase_impairment(inputs, params, draws, network=None):
    signal = inputs["rx_symbols"]
    count = len(signal.data)
    items = [1] * count if params.get("phase_scope") == "symbol" else items_of(signal, count) or [count]
    start = draws.uniform([len(items)], params["initial_phase_min_rad"], params["initial_phase_max_rad"])
    offset = draws.uniform([len(items)], params["cfo_min_cycles_per_symbol"], params["cfo_max_cycles_per_symbol"])
    steps = draws.normal([count], 0.0, params["phase_noise_increment_std_rad"])
    first = torch.cumsum(torch.tensor(items), 0) - torch.tensor(items)
    place = torch.arange(count) - per_item(first, items)
    walk = torch.cumsum(functional.pad(steps.double(), [1, 0]), 0)
    walk = (walk[1:] - per_item(walk[first], items)).to(steps.dtype)
    phase = per_item(start, items) + 2 * torch.pi * per_item(offset, items) * place.to(steps.device) + walk
    turned = signal.data * torch.polar(torch.ones_like(phase), phase)
    return {"rx_symbols": signal.with_(turned), "phase_truth": Signal(phase)}


@twin("hardware.receiver_iq_imbalance")
def receiver_iq_imbalance(inputs, params, draws, network=None):
    """I = a Re r + dc_i, Q = (Im r cos e + Re r sin e) / a + dc_q, r = x exp(j phase), a = 10^(gain/40)."""
    signal = inputs["rx_symbols"]
    gain = 10 ** (params["gain_imbalance_db"] / 40)
    turn, skew = torch.deg2rad(
        torch.tensor([params["phase_offset_deg"], params["quadrature_error_deg"]], dtype=torch.float64)
    )
    r = signal.data * complex(torch.cos(turn), torch.sin(turn))
    i = gain * r.real + params["dc_offset_i"]
    q = (r.imag * float(torch.cos(skew)) + r.real * float(torch.sin(skew))) / gain + params["dc_offset_q"]
    return {"rx_symbols": signal.with_(torch.complex(i, q), receiver_iq_imbalance=dict(params))}


def rapp(z, params):
    """z / (1 + (|z|/A)^2p)^(1/2p), by logarithms: the power of a large ratio would overflow."""
    level = torch.log(torch.clamp(power(z), min=1e-30)) - 2 * math.log(params["saturation_amplitude"])
    exponent = params["smoothness"] * level
    return z * torch.exp(-torch.logaddexp(torch.zeros_like(exponent), exponent) / (2 * params["smoothness"]))


def saleh(z, params):
    strength = power(z)
    gain = params["alpha_amplitude"] / (1 + params["beta_amplitude"] * strength)
    return z * torch.polar(gain, params["alpha_phase"] * strength / (1 + params["beta_phase"] * strength))


@twin("hardware.power_amplifier")
def power_amplifier(inputs, params, draws, network=None):
    x = inputs["signal"].data
    scale, total = 1.0, power(x).sum()
    if params.get("input_back_off_db") is not None and total > 0:
        scale = params["saturation_amplitude"] * from_db(-params["input_back_off_db"]) ** 0.5 / torch.sqrt(total / len(x))
    z = x * scale
    y = {"ideal": lambda z, _: z, "rapp": rapp, "saleh": saleh}[params["model"]](z, params) / scale
    if params["normalize_gain"] and total > 0:
        y = y * total / (y * x.conj()).sum()
    return {"signal": inputs["signal"].with_(y)}


@twin("hardware.quantizer")
def quantizer(inputs, params, draws, network=None):
    """Mid-rise quantiser of I and Q; its gradient is that of the clipping."""
    x, clip = real_imaginary(inputs["signal"].data), params["clip_value"]
    mean = (x.detach().double() ** 2).mean()
    if params["scale"] == "rms" and mean > 0:
        clip = clip * torch.sqrt(mean).item()
    half = 2 ** (params["bits"] - 1)
    step = clip / half
    index = torch.floor(x.double() / step).clamp(-half, half - 1)
    quantised = straight_through(((index + 0.5) * step).to(x.dtype), x.clamp(-clip, clip))
    return {"signal": inputs["signal"].with_(as_complex(quantised))}


@twin("hardware.envelope_clip")
def envelope_clip(inputs, params, draws, network=None):
    x = inputs["signal"].data
    strength, limit = power(x), params.get("clip_amplitude")
    level = limit**2 if limit is not None else strength.mean() * from_db(params["clip_ratio_db"])
    above = strength > level
    # The square root has no derivative at zero, where nothing is above.
    gain = torch.sqrt(level / torch.where(above, strength, torch.ones_like(strength)))
    return {"signal": inputs["signal"].with_(torch.where(above, x * gain, x))}


# Demappers


def noise_of(signal, state=None):
    """N0 of each symbol or of all: after equalisation, of the metadata, of a channel state, or 1."""
    if "noise_variance" in signal.companions:
        return signal.companions["noise_variance"]
    if "noise_variance" in signal.metadata:
        return signal.metadata["noise_variance"]
    if state is not None:
        return state.metadata.get("noise_variance", 1.0) / power(state.data.reshape(-1)[: len(signal.data)])
    return 1.0


def part_llr(t, bits, unit):
    """Max-log LLRs (over 4·unit/N0) of the Gray-mapped bits of one part, [..., bits]."""
    found, edge, half = [], 2 * unit, 2 ** (bits - 1)
    for _ in range(bits):
        size = t.abs()
        found.append(t + torch.sign(t) * sum(torch.clamp(size - k * edge, min=0) for k in range(1, half)))
        # The levels of the next bits are those of |t|, centred between them.
        half //= 2
        t = half * edge - size
    return torch.stack(found, -1)


def exact_part_llr(t, bits, unit, precision):
    """LLRs as logarithms of sums over all levels of one part, [..., bits]."""
    labels = label_bits(bits, t.device)
    distance = (t[:, None].double() - levels(labels.double()) * unit) ** 2 * precision[..., None].double()
    side = lambda value, bit: torch.logsumexp(-distance[:, labels[:, bit] == value], -1)
    return torch.stack([side(0, bit) - side(1, bit) for bit in range(bits)], -1).to(t.dtype)


def demodulate(y, modulation, variance, exact=False):
    """LLRs [symbols * bits per symbol]: BPSK and QPSK exact, QAM max-log or exact."""
    variance = torch.as_tensor(variance, dtype=y.real.dtype, device=y.device)
    precision = (1 / torch.clamp(variance, min=LEAST_NOISE_VARIANCE)).expand(len(y))
    if modulation == "bpsk":
        return 4 * precision * y.real
    width = BITS_PER_SYMBOL[modulation]
    unit = unit_of(width)
    if exact and width > 2:
        parts = [exact_part_llr(part, width // 2, unit, precision) for part in (y.real, y.imag)]
        return torch.stack(parts, -1).reshape(-1)
    parts = [part_llr(part, width // 2, unit) for part in (y.real, y.imag)]
    llr = 4 * unit * torch.stack(parts, -1).reshape(len(y), width)
    return (llr * precision[..., None]).reshape(-1)


def decided(signal, llr, bits=None):
    """Hard bits and LLRs; a decided bit has the gradient of its probability."""
    llr = llr[: len(llr) - signal.metadata.get("modulation_padding_bits", 0)]
    drop = ("modulation", "bits_per_symbol", "modulation_padding_bits", "source_item_counts")
    metadata = {k: v for k, v in signal.metadata.items() if k not in drop}
    items = metadata.pop("modulated_item_bit_counts", None)
    if items is not None and sum(items) == len(llr):
        metadata["source_item_counts"] = items
    hard = (llr < 0).to(llr.dtype) if bits is None else bits
    return {
        "bits": Signal(straight_through(hard, torch.sigmoid(-llr)), metadata, soft=llr),
        "llr": Signal(llr, metadata),
    }


@twin("demodulation.digital_demodulate")
def digital_demodulate(inputs, params, draws, network=None):
    signal, allocation = inputs["rx_symbols"], inputs.get("allocation")
    modulation = signal.number("modulation") if params["modulation"] == "auto" else params["modulation"]
    if modulation not in (*BITS_PER_SYMBOL, "bit_loaded"):
        raise Unsupported("constellations of tables")
    y, variance = signal.data, noise_of(signal, inputs.get("channel_state"))
    exact = params.get("llr_method") == "exact"
    if allocation is None:
        return decided(signal, demodulate(y, modulation, variance, exact))
    if "bits_per_symbol" in allocation.companions or modulation not in BITS_PER_SYMBOL:
        raise Unsupported("bit loading")
    share = allocation.data.reshape(-1)[: len(y)].to(y.real.dtype)
    erased = share == 0
    safe = torch.where(erased, torch.ones_like(share), share)
    llr = demodulate(y / torch.sqrt(safe), modulation, variance / safe, exact).reshape(len(y), -1)
    return decided(signal, torch.where(erased[:, None], torch.zeros_like(llr), llr).reshape(-1))


@twin("demodulation.constellation_demapper")
def constellation_demapper(inputs, params, draws, network=None):
    signal, points = inputs["rx_symbols"], inputs["constellation"].data
    y = signal.data
    if network is not None:
        return decided(signal, network(rx_symbols_ri=real_imaginary(y))["bit_llr"].reshape(-1))
    if params["mode"] not in ("exact", "max_log"):
        raise Unsupported(f"mode {params['mode']}")
    width = len(points).bit_length() - 1
    variance = torch.as_tensor(noise_of(signal), dtype=y.real.dtype, device=y.device)
    precision = (1 / torch.clamp(variance, min=LEAST_NOISE_VARIANCE)).expand(len(y))
    metric = -power(y[:, None] - points).double() * precision[:, None].double()
    bits = label_bits(width, y.device)
    over = torch.logsumexp if params["mode"] == "exact" else torch.amax
    side = lambda value, bit: over(metric[:, bits[:, bit] == value], -1)
    llr = torch.stack([side(0, bit) - side(1, bit) for bit in range(width)], -1)
    return decided(signal, llr.to(y.real.dtype).reshape(-1))


@twin("demodulation.identity_demodulate")
def identity_demodulate(inputs, params, draws, network=None):
    signal = inputs["rx_symbols"]
    y = signal.data.real
    variance = torch.as_tensor(noise_of(signal), dtype=y.dtype, device=y.device)
    return decided(signal, (1 - 2 * y) / torch.clamp(variance, min=LEAST_NOISE_VARIANCE))


@twin("demodulation.neural_receiver_adapter")
def neural_receiver(inputs, params, draws, network=None):
    signal = inputs["rx_symbols"]
    if network is not None:
        real = signal.data.real
        noise = torch.as_tensor(noise_of(signal), dtype=real.dtype, device=real.device).expand(real.shape)[:, None]
        found = network(rx_symbols_ri=real_imaginary(signal.data), noise_variance=noise)
        return decided(signal, found["bit_llr"].reshape(-1))
    if params["mode"] != "reference_qpsk":
        raise Unsupported(f"mode {params['mode']}")
    return decided(signal, demodulate(signal.data, "qpsk", noise_of(signal)))


# Phase tracking


def unwrapped(phases):
    """Phases moved by whole turns so that no step exceeds half a turn; the turns have no gradient."""
    turns = torch.round(torch.diff(phases.detach()) / (2 * torch.pi))
    return phases - 2 * torch.pi * functional.pad(torch.cumsum(turns, 0), [1, 0])


def interpolated_phase(y, positions, values):
    """Phase of every symbol, linear between the phases of the pilots, the nearest pilot's outside."""
    phases = unwrapped(torch.angle(y[positions] * values.conj()))
    k = torch.arange(len(y), device=y.device)
    right = torch.searchsorted(positions, k).clamp(max=len(positions) - 1)
    left = (torch.searchsorted(positions, k) - 1).clamp(min=0)
    between = (positions[left] < k) & (positions[right] >= k)
    gap = torch.where(between, positions[right] - positions[left], torch.ones_like(k))
    share = torch.where(between, (k - positions[left]) / gap, torch.ones_like(gap, dtype=phases.dtype))
    return phases[left] + share * (phases[right] - phases[left])


def pilot_frames(context, count):
    """Slice, number of bits, positions and values of the pilots of each frame; records of several runs follow each other."""
    lengths, bits = context.number("frame_symbol_counts"), context.number("frame_bit_counts")
    runs = count // sum(lengths)
    positions, values = context.data.reshape(runs, -1).long(), context.companions["values"].reshape(runs, -1)
    for run in range(runs):
        start = run * sum(lengths)
        for length, own in zip(lengths, bits):
            first = start - run * sum(lengths)
            chosen = (positions[run] >= first) & (positions[run] < first + length)
            yield slice(start, start + length), own, positions[run][chosen] - first, values[run][chosen]
            start += length


def phase_features(y, positions, values, phase, n0):
    """The eleven features of a symbol; see the interface of the receiver."""
    known = torch.zeros_like(y).index_copy(0, positions, values.to(y.dtype))
    pilot = torch.zeros_like(y.real).index_fill(0, positions, 1)
    turned = y * torch.polar(torch.ones_like(phase), -phase)
    place = torch.linspace(0, 1, len(y), dtype=y.real.dtype, device=y.device) if len(y) > 1 else torch.zeros_like(y.real)
    noise = torch.log10(torch.clamp(n0, min=LEAST_NOISE_VARIANCE))
    columns = [y.real, y.imag, turned.real, turned.imag, pilot, known.real, known.imag]
    return torch.stack([*columns, torch.cos(phase), torch.sin(phase), place, noise], -1)


@twin("demodulation.phase_tracking_receiver_adapter")
def phase_tracking_receiver(inputs, params, draws, network=None):
    """The phase between pilots, plus the network's correction; frames of one length are one call."""
    signal = inputs["rx_symbols"]
    y = signal.data
    n0 = torch.as_tensor(noise_of(signal), dtype=y.real.dtype, device=y.device).expand(len(y))
    frames = list(pilot_frames(inputs["pilot_context"], len(y)))
    if network is None and params["mode"] not in ("uncompensated", "pilot_interpolation"):
        raise Unsupported(f"mode {params['mode']}")
    phases = [interpolated_phase(y[place], positions, values) for place, _, positions, values in frames]
    if network is None and params["mode"] == "uncompensated":
        phases = [torch.zeros_like(phase) for phase in phases]
    for length in dict.fromkeys(len(phase) for phase in phases) if network is not None else ():
        own = [i for i, phase in enumerate(phases) if len(phase) == length]
        features = [phase_features(y[frames[i][0]], *frames[i][2:], phases[i], n0[frames[i][0]]) for i in own]
        residual = network(receiver_features_v3=torch.stack(features))["residual_phase_rad"]
        for row, i in enumerate(own):
            phases[i] = phases[i] + residual[row]
    llr = []
    for (place, bits, positions, _), phase in zip(frames, phases):
        data = torch.ones(len(phase), dtype=torch.bool, device=y.device).index_fill(0, positions, False)
        turned = y[place][data] * torch.polar(torch.ones_like(phase), -phase)[data]
        llr.append(demodulate(turned, "qpsk", n0[place][data])[:bits])
    plain = signal.with_(y)
    plain.metadata.pop("modulation_padding_bits", None)
    return {**decided(plain, torch.cat(llr)), "diagnostics": Signal(torch.cat(phases))}


# Losses


@twin("metrics.bit_error_rate")
def bit_error_rate(inputs, params, draws, network=None):
    """Cross entropy of the bits in nats, from their LLRs; hard decisions alone have no such loss."""
    candidate, reference = inputs["candidate"], inputs["reference"]
    count = min(len(candidate.data), len(reference.data))
    wrong = (candidate.data[:count].detach() != reference.data[:count]).to(reference.data.dtype).mean()
    metrics = {f"channel.{params['label']}": wrong}
    if candidate.soft is None:
        return {"report": Signal(wrong, metrics)}
    sign = 2 * reference.data[:count] - 1
    return losses_of({"bit_cross_entropy": functional.softplus(sign * candidate.soft[:count]).mean()}, metrics)
