"""Twins of estimation and recognition: directions of arrival, positions, near fields, satellites, modulations."""

import torch

from .core import Signal, Unsupported, from_db, losses_of, real_imaginary, straight_through, twin


def root_mean_square(errors):
    return torch.sqrt((errors**2).mean())


def clamped(values, low, high):
    """Values within limits; beyond them the gradient stays, so that training can return."""
    return straight_through(values.clamp(low, high), values)


# Directions of arrival


@twin("wireless.ula_array_observation")
def ula_array_observation(inputs, params, draws, network=None):
    scene = inputs["scene"]
    angles = scene.data if scene.data.dim() == 2 else scene.data[:, None]
    antennas, snapshots, n0 = params["antenna_count"], params["snapshot_count"], from_db(-params["snr_db"])
    sources = angles.shape[1]
    signal = draws.complex_normal([len(angles), sources, snapshots])
    noise = draws.complex_normal([len(angles), antennas, snapshots], n0)
    m = torch.arange(antennas, device=angles.device)
    phase = 2 * torch.pi * params["element_spacing_wavelengths"] * torch.sin(torch.deg2rad(angles))[:, None] * m[:, None]
    steering = torch.polar(torch.ones_like(phase), phase)
    received = steering @ (source_factor(scene, sources, angles).to(signal.dtype) @ signal) + noise
    facts = {"noise_variance": n0, "element_spacing_wavelengths": params["element_spacing_wavelengths"]}
    return {
        "observation": Signal(received, facts),
        "problem": Signal(received, facts, {"angles": scene.data}),
        "truth": Signal(scene.data),
    }


def source_factor(scene, sources, like):
    """The lower triangular factor of the covariance of the sources, zero columns included."""
    powers = scene.metadata.get("source_powers_db", [0.0] * sources)
    correlation = scene.metadata.get("source_correlation", 0.0)
    lower = torch.zeros(sources, sources, dtype=like.dtype, device=like.device)
    for j in range(sources):
        for i in range(j, sources):
            entry = from_db((powers[i] + powers[j]) / 2) * (1.0 if i == j else correlation)
            rest = entry - float(lower[i, :j] @ lower[j, :j])
            if i == j:
                lower[i, j] = rest**0.5 if rest > 1e-12 * entry else 0.0
            elif lower[j, j] > 0:
                lower[i, j] = rest / lower[j, j]
    return lower


@twin("model.aoa_estimator_adapter")
def aoa_estimator(inputs, params, draws, network=None):
    if network is None:
        raise Unsupported(f"mode {params['mode']}")
    return {"estimate": Signal(network(snapshots_ri=real_imaginary(inputs["problem"].data))["angles_deg"])}


@twin("metrics.aoa_estimation")
def aoa_scores(inputs, params, draws, network=None):
    truth = inputs["problem"].companions.get("angles", inputs["problem"].data)
    estimate = inputs["estimate"].data
    if estimate.dim() == 2 or truth.dim() == 2:
        if estimate.shape != truth.shape or "source_count" in inputs["estimate"].companions:
            raise Unsupported("estimates of another number of sources")
        # In ascending order the pairs have the least squares.
        estimate, truth = estimate.sort(dim=1).values, truth.sort(dim=1).values
    errors = estimate - truth
    return losses_of({"mse": (errors**2).mean()}, {
        "aoa.rmse_deg": root_mean_square(errors),
        "aoa.mae_deg": errors.abs().mean(),
    })


# Positions


@twin("wireless.range_observation")
def range_observation(inputs, params, draws, network=None):
    scene = inputs["scene"]
    positions = scene.data
    anchors = scene.companions["anchors"].expand(len(positions), -1, 2)
    ranges = torch.sqrt(((positions[:, None] - anchors) ** 2).sum(-1))
    sigma = (params["range_noise_floor_m"] ** 2 + from_db(-params["snr_db"])) ** 0.5
    blocked = (draws.uniform(ranges.shape) < params["nlos_probability"]).to(ranges.dtype)
    ranges = ranges + params["nlos_bias_m"] * blocked + sigma * draws.normal(ranges.shape)
    facts = {"area_m": scene.number("area_m"), "range_noise_std_m": sigma}
    return {
        "observation": Signal(ranges, facts, {"anchors": anchors}),
        "problem": Signal(ranges, facts, {"anchors": anchors, "positions": positions}),
        "truth": Signal(positions),
    }


@twin("model.localization_adapter")
def localization(inputs, params, draws, network=None):
    problem = inputs["problem"]
    if network is None:
        raise Unsupported(f"mode {params['mode']}")
    positions = network(anchors=problem.companions["anchors"], ranges=problem.data)["positions"]
    return {"estimate": Signal(clamped(positions, 0, problem.number("area_m")))}


@twin("metrics.localization")
def localization_scores(inputs, params, draws, network=None):
    truth = inputs["problem"].companions.get("positions", inputs["problem"].data)
    squares = ((inputs["estimate"].data - truth) ** 2).sum(-1)
    return losses_of({"mse": squares.mean()}, {
        "localization.rmse_m": torch.sqrt(squares.mean()),
        "localization.mae_m": torch.sqrt(squares).mean(),
    })


# Near fields


@twin("model.near_field_estimator_adapter")
def near_field_estimator(inputs, params, draws, network=None):
    if network is None:
        raise Unsupported(f"mode {params['mode']}")
    return {"estimate": Signal(network(array_ri=real_imaginary(inputs["problem"].data))["range_angle"])}


@twin("metrics.near_field_focusing")
def near_field_scores(inputs, params, draws, network=None):
    """Loss: squared errors of range and angle, each relative to the span of the scene."""
    problem = inputs["problem"]
    errors = inputs["estimate"].data - inputs["truth"].data
    span = lambda name, unit: problem.number(f"{name}_max_{unit}") - problem.number(f"{name}_min_{unit}") or 1.0
    spans = torch.tensor([span("range", "m"), span("angle", "deg")], dtype=errors.dtype, device=errors.device)
    return losses_of({"relative_mse": ((errors / spans) ** 2).mean()}, {
        "near_field.range_rmse_m": root_mean_square(errors[:, 0]),
        "near_field.angle_rmse_deg": root_mean_square(errors[:, 1]),
    })


# Satellites


@twin("model.leo_ntn_tracking_adapter")
def leo_tracker(inputs, params, draws, network=None):
    if network is None:
        raise Unsupported(f"mode {params['mode']}")
    problem = inputs["problem"]
    facts = {"max_doppler_hz": problem.number("max_doppler_hz"), "beam_count": problem.number("beam_count")}
    return {"decision": Signal(network(track_features=problem.data)["decision"], facts)}


@twin("metrics.leo_ntn_tracking")
def leo_scores(inputs, params, draws, network=None):
    """Loss: squared errors of Doppler and beam, relative to the largest Doppler shift and the number of beams."""
    decision = inputs["decision"]
    errors = decision.data - inputs["truth"].data
    scales = [decision.metadata.get("max_doppler_hz", 1.0), decision.metadata.get("beam_count", 1)]
    relative = errors / torch.tensor(scales, dtype=errors.dtype, device=errors.device)
    return losses_of({"relative_mse": (relative**2).mean()}, {
        "ntn.doppler_mae_hz": errors[:, 0].abs().mean(),
        "ntn.doppler_rmse_hz": root_mean_square(errors[:, 0]),
    })


# Modulations


@twin("wireless.modulation_awgn_observation")
def modulation_observation(inputs, params, draws, network=None):
    frames = inputs["frames"].data
    count, length = frames.shape
    drawn = lambda low, high: draws.uniform([count], 0.0, 1.0) * (params[high] - params[low]) + params[low]
    snr = drawn("snr_db_min", "snr_db_max")
    phase = drawn("carrier_phase_min_rad", "carrier_phase_max_rad")
    offset = drawn("frequency_offset_min_cycles_per_symbol", "frequency_offset_max_cycles_per_symbol")
    n0 = from_db(-snr)
    angle = phase[:, None] + 2 * torch.pi * offset[:, None] * torch.arange(length, device=frames.device)
    turned = frames * torch.polar(torch.ones_like(angle), angle)
    received = turned + torch.sqrt(n0)[:, None] * draws.complex_normal([count, length])
    return {"observation": Signal(received, companions={"noise_variance": n0, "snr_db": snr})}


@twin("model.modulation_classifier_adapter")
def modulation_classifier(inputs, params, draws, network=None):
    if network is None:
        raise Unsupported(f"mode {params['mode']}")
    scores = network(iq_ri=real_imaginary(inputs["observation"].data))["class_logits"]
    return {"prediction": Signal(scores.argmax(-1), companions={"scores": scores})}


@twin("metrics.modulation_classification")
def modulation_scores(inputs, params, draws, network=None):
    prediction, truth = inputs["prediction"], inputs["truth"].data.long()
    accuracy = (prediction.data == truth).to(draws.dtype).mean()
    metrics = {"modulation_recognition.accuracy": accuracy}
    if "scores" not in prediction.companions:
        return {"report": Signal(accuracy, metrics)}
    return losses_of({"cross_entropy": torch.nn.functional.cross_entropy(prediction.companions["scores"], truth)}, metrics)
