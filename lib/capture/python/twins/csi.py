"""Twins of channel state information: feedback, precoding, beams, pilots and channel estimates.

CSI, its reconstruction and a precoder are complex [row, tx, subcarrier]; channels of estimators are complex [example, rx, tx,
subcarrier]. The receiver gets y = h^H w x + n.
"""

import torch

from .core import (
    Signal,
    Unsupported,
    as_complex,
    from_db,
    losses_of,
    power,
    real_imaginary,
    straight_through,
    twin,
)


def unit(weights, dim):
    """Vectors of norm 1; equal weights for a vector of zeros."""
    norm = torch.sqrt(power(weights).sum(dim, keepdim=True))
    equal = torch.full_like(weights, weights.shape[dim] ** -0.5)
    return torch.where(norm == 0, equal, weights / torch.where(norm == 0, torch.ones_like(norm), norm))


# Feedback


@twin("model.csi_feedback_encoder")
def csi_feedback_encoder(inputs, params, draws, network=None):
    signal = inputs["csi"]
    planes = torch.stack([signal.data.real, signal.data.imag], 1)
    if network is not None:
        code = network(csi_ri=planes)["feedback_code"]
    elif params["runtime"] == "identity":
        code = planes.flatten(1)
    elif params["runtime"] == "truncated_angular_delay":
        code = truncated(signal.data, params["feedback_dimension"])
    else:
        raise Unsupported(f"runtime {params['runtime']}")
    tx, subcarriers = signal.data.shape[1:]
    return {"feedback_code": signal.with_(code, {}, tx_antennas=tx, ofdm_fft_size=subcarriers)}


def truncated(h, dimension):
    """Angular-delay coefficients of smallest delay, angle fastest; the largest has the modulus 1."""
    tx, subcarriers = h.shape[1:]
    a = torch.fft.fft(torch.fft.ifft(h, dim=2), dim=1) * (subcarriers / tx) ** 0.5
    kept = a.transpose(1, 2).flatten(1)[:, : dimension // 2]
    largest = kept.abs().amax(1, keepdim=True)
    kept = torch.where(largest > 0, kept / torch.where(largest > 0, largest, torch.ones_like(largest)), kept)
    return torch.cat([kept.real, kept.imag], 1)


@twin("channel.csi_feedback_link")
def csi_feedback_link(inputs, params, draws, network=None):
    """Mid-rise quantiser of 2^b levels; its gradient is that of the clipping."""
    signal = inputs["feedback_code"]
    code = signal.data
    if params["mode"] == "uniform_quantized":
        clip, levels = params["clip_value"], 2 ** params["bits_per_latent"]
        step = 2 * clip / levels
        clipped = code.clamp(-clip, clip)
        index = torch.floor((clipped.double() + clip) / step).clamp(max=levels - 1)
        code = straight_through(((index + 0.5) * step - clip).to(code.dtype), clipped)
    return {"received_code": signal.with_(code)}


@twin("model.csi_feedback_decoder")
def csi_feedback_decoder(inputs, params, draws, network=None):
    signal = inputs["received_code"]
    tx, subcarriers = signal.number("tx_antennas"), signal.number("ofdm_fft_size")
    if network is not None:
        planes = network(feedback_code=signal.data)["csi_hat_ri"]
        return {"reconstruction": signal.with_(torch.complex(planes[:, 0], planes[:, 1]))}
    code = torch.complex(*torch.chunk(signal.data, 2, dim=1))
    if params["runtime"] == "identity":
        return {"reconstruction": signal.with_(code.reshape(-1, tx, subcarriers))}
    if params["runtime"] != "truncated_angular_delay":
        raise Unsupported(f"runtime {params['runtime']}")
    a = torch.nn.functional.pad(code, [0, tx * subcarriers - code.shape[1]]).reshape(-1, subcarriers, tx)
    h = torch.fft.fft(torch.fft.ifft(a.transpose(1, 2), dim=1), dim=2) * (tx / subcarriers) ** 0.5
    mean = torch.sqrt(power(h).mean(dim=(1, 2), keepdim=True))
    return {"reconstruction": signal.with_(h / torch.where(mean > 0, mean, torch.ones_like(mean)))}


@twin("model.csi_mrt_precoder")
def csi_mrt_precoder(inputs, params, draws, network=None):
    signal = inputs["reconstruction"]
    return {"precoder": signal.with_(unit(signal.data, 1))}


@twin("metrics.csi_feedback")
def csi_feedback_scores(inputs, params, draws, network=None):
    """Losses: NMSE between channels scaled to equal power, and the negative rate."""
    truth = inputs["true_csi"]
    h, found, w = truth.data, inputs["reconstruction"].data, inputs["precoder"].data
    n0 = truth.number("noise_variance")
    rate = torch.log2(1 + power((h.conj() * w).sum(1)) / n0).mean()
    perfect = torch.log2(1 + power(h).sum(1) / n0).mean()
    flat = lambda x: x.flatten(1)
    norm = lambda x: torch.sqrt(power(flat(x)).sum(1, keepdim=True))
    scaled = lambda x: flat(x) / torch.where(norm(x) > 0, norm(x), torch.ones_like(norm(x)))
    heard = norm(h)[:, 0] > 0
    nmse = power(scaled(found) - scaled(h)).sum(1)[heard].mean()
    cosine = (scaled(found) * scaled(h).conj()).sum(1).abs()[heard].mean()
    return losses_of({"nmse": nmse, "negative_rate": -rate}, {
        "csi_feedback.nmse": nmse,
        "csi_feedback.phase_invariant_cosine": cosine,
        "csi_feedback.achieved_spectral_efficiency_bps_hz": rate,
        "csi_feedback.perfect_csit_spectral_efficiency_bps_hz": perfect,
    })


# Beams


@twin("model.beamforming_adapter")
def beamforming(inputs, params, draws, network=None):
    h = inputs["problem"].data
    if network is not None:
        return {"decision": Signal(unit(as_complex(network(channels_ri=real_imaginary(h))["weights_ri"]), 1))}
    if params["mode"] != "mrt":
        raise Unsupported(f"mode {params['mode']}")
    return {"decision": Signal(unit(h, 1))}


@twin("model.mrt_beamformer")
def mrt_beamformer(inputs, params, draws, network=None):
    return {"decision": Signal(unit(inputs["problem"].data, 1))}


@twin("metrics.beamforming")
def beamforming_scores(inputs, params, draws, network=None):
    problem = inputs["problem"]
    gain = power((problem.data.conj() * inputs["decision"].data).sum(1))
    strength = power(problem.data).sum(1)
    rate = torch.log2(1 + gain / problem.number("noise_variance")).mean()
    share = (gain / strength)[strength > 0].mean()
    return losses_of({"negative_rate": -rate}, {
        "beamforming.spectral_efficiency_bps_hz": rate,
        "beamforming.normalized_gain": share,
    })


# Pilots and estimates


def pilot_positions(pilots):
    return [torch.nonzero(row).flatten() for row in pilots]


def least_squares(received, pilots):
    """y/x at the pilots, zero elsewhere; and linear interpolation between them: [example, rx, tx, subcarrier] each."""
    mask = pilots != 0
    safe = torch.where(mask, pilots, torch.ones_like(pilots))
    sparse = torch.where(mask, received[:, :, None, :] / safe, torch.zeros_like(received[:, :, None, :]))
    full = torch.empty_like(sparse)
    subcarriers = pilots.shape[1]
    k = torch.arange(subcarriers, device=pilots.device)
    for antenna, own in enumerate(pilot_positions(pilots)):
        right = own[torch.searchsorted(own, k).clamp(max=len(own) - 1)]
        left = own[(torch.searchsorted(own, k) - 1).clamp(min=0)]
        between = (right > k) & (left < k)
        gap = torch.where(between, right - left, torch.ones_like(left))
        weight = torch.where(between, (k - left) / gap, torch.ones_like(gap, dtype=sparse.real.dtype))
        values = sparse[:, :, antenna]
        full[:, :, antenna] = (1 - weight) * values[..., left] + weight * values[..., right]
    return sparse, full


@twin("wireless.pilot_observation")
def pilot_observation(inputs, params, draws, network=None):
    h, pilots, n0 = inputs["channel"].data, inputs["pilots"].data, from_db(-params["snr_db"])
    received = torch.einsum("ertk,tk->erk", h, pilots) + draws.complex_normal([*h.shape[:2], h.shape[3]], n0)
    sparse, full = least_squares(received, pilots)
    density = (pilots != 0).sum(1).double().mean().item() / pilots.shape[1]
    facts = {"noise_variance": n0, "pilot_density": density}
    mask = (pilots != 0).to(h.real.dtype).expand(len(h), *pilots.shape)
    return {
        "observation": Signal(received, facts, {"pilots": pilots}),
        "problem": Signal(received, facts, {"pilots": pilots, "channel": h}),
        "truth": Signal(h, facts),
        "pilot_ls": Signal(sparse),
        "ls_estimate": Signal(full),
        "pilot_mask": Signal(mask),
        "noise_variance": Signal(torch.full_like(mask[:, 0, :1], n0)),
    }


@twin("model.ls_channel_estimator")
def ls_channel_estimator(inputs, params, draws, network=None):
    problem = inputs["problem"]
    return {"estimate": Signal(least_squares(problem.data, problem.companions["pilots"])[1])}


@twin("model.channel_estimator_adapter")
def channel_estimator(inputs, params, draws, network=None):
    problem = inputs["problem"]
    pilots = problem.companions["pilots"]
    sparse, full = least_squares(problem.data, pilots)
    real, n0 = sparse.real, problem.number("noise_variance")
    if network is None and params["mode"] == "least_squares":
        first = torch.stack([row[row != 0][0] for row in pilots])
        return {"estimate": estimate_of(full, n0 / power(first)[:, None])}
    if network is None:
        return {"estimate": estimate_of(*linear_mmse(sparse, pilots, params, n0))}
    found = network(
        ls_estimate_ri=real_imaginary(full),
        noise_variance=torch.full_like(real[:, 0, 0, :1], n0),
        pilot_ls_ri=real_imaginary(sparse),
        pilot_mask=(pilots != 0).to(real.dtype).expand(len(real), *pilots.shape),
    )
    return {"estimate": estimate_of(as_complex(found["h_hat_ri"]), found.get("error_variance"))}


def estimate_of(h, error):
    """An estimate, and the variance of its error where that is known."""
    return Signal(h, {}, {} if error is None else {"error_variance": error.to(h.real.dtype).expand(h.shape)})


def linear_mmse(sparse, pilots, params, n0):
    """A (A_p^H A_p + N0)^-1 A_p^H h_LS with A = sqrt(P_l) exp(-j 2 pi k l / F) and P_l proportional to e^-l, of sum 1.

    Returns the estimate and its error variance [tx, subcarrier].
    """
    count, taps = pilots.shape[1], params["lmmse_assumed_tap_count"]
    l = torch.arange(taps, dtype=torch.float64, device=pilots.device)
    powers = torch.exp(-l) / torch.exp(-l).sum()
    k = torch.arange(count, dtype=torch.float64, device=pilots.device)
    a = torch.polar(torch.sqrt(powers).expand(count, taps), -2 * torch.pi * torch.outer(k, l) / count)
    columns, errors = [], []
    for antenna, own in enumerate(pilot_positions(pilots)):
        seen = a[own]
        gram = seen.mH @ seen + max(n0, 1e-12) * torch.eye(taps, dtype=a.dtype, device=a.device)
        weights = a @ torch.linalg.solve(gram, seen.mH)
        columns.append(sparse[:, :, antenna][..., own] @ weights.to(sparse.dtype).T)
        errors.append(((a - weights @ seen) * a.conj()).sum(-1).real.clamp(min=0))
    return torch.stack(columns, 2), torch.stack(errors)


@twin("metrics.channel_estimation")
def channel_estimation_scores(inputs, params, draws, network=None):
    problem, found = inputs["problem"], inputs["estimate"].data
    h = problem.companions.get("channel", problem.data)
    error, total = power(found - h), power(h).sum()
    nmse = error.sum() / total
    cosine = (found * h.conj()).sum().abs() / torch.sqrt(power(found).sum() * total)
    return losses_of({"nmse": nmse, "mse": error.mean()}, {
        "channel_estimation.nmse": nmse,
        "channel_estimation.mse": error.mean(),
        "channel_estimation.complex_correlation": cosine,
    })
