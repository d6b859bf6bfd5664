"""Twins of power allocation: resource elements, sensing with communication, softmax policies, and sum rates."""

import torch

from .core import Signal, Unsupported, losses_of, power, project_onto_simplex, real_imaginary, twin, water_fill


def rows_of(values, repeat):
    """Each row repeated for its OFDM symbols."""
    return torch.repeat_interleave(values, repeat, dim=0)


def symbol_power_allocator(feature):
    """Symbols scaled by the root of their power: a network's scores on the simplex of each row, or a fixed power.

    Bit loading has no gradient: then there are no symbols, and the power is trained on the rates of the allocation.
    """

    def function(inputs, params, draws, network=None):
        signal, state = inputs["symbols"], inputs.get("channel_state")
        budget, loaded = params["target_power"], params["transport_mode"] != "fixed_modulation"
        if loaded and network is None:
            raise Unsupported("bit loading")
        if network is None and params["policy"] != "fixed":
            raise Unsupported(f"policy {params['policy']}")
        if state is None:
            columns = params["subcarrier_count"]
            allocation = torch.full([-(-len(signal.data) // columns), columns], budget, dtype=draws.dtype)
        else:
            report = state.metadata.get("csi_role") == "transmitter"
            h = state.data if report else state.data.reshape(-1, 1, state.data.shape[-1])
            rows, history, columns = h.shape
            repeat = state.metadata.get("allocation_ofdm_symbols", 1) if report else 1
            if network is None:
                allocation = torch.full([rows * repeat, columns], budget, dtype=draws.dtype, device=h.device)
            else:
                column = lambda value: torch.full([rows, 1], value, dtype=draws.dtype, device=h.device)
                seen = power(h[:, -1]) if feature == "channel_gain" else real_imaginary(h)
                feeds = {
                    "average_power_budget": column(budget),
                    feature: seen.to(draws.dtype),
                    "noise_variance": column(state.number("noise_variance")),
                }
                scores = network(**feeds)["allocation_scores"]
                allocation = rows_of(project_onto_simplex(scores, budget * columns), repeat)
        facts = {} if state is None else {"noise_variance": state.number("noise_variance")}
        given = {"allocation": Signal(allocation, facts)}
        if loaded:
            return given
        amplitude = torch.sqrt(allocation.reshape(-1)[: len(signal.data)])
        return {"symbols": signal.with_(signal.data * amplitude), **given}

    return function


twin("model.symbol_power_allocator")(symbol_power_allocator("channel_gain"))
twin("model.causal_csi_power_allocator")(symbol_power_allocator("csi_history"))


def rates(allocation, gains, n0):
    return torch.log2(1 + torch.clamp(allocation, min=0) * gains / n0)


def rate_scores(allocation, gains, n0):
    """Loss: the negative mean rate of an element."""
    rate = rates(allocation, gains, n0)
    mean = rate.mean()
    return losses_of({"negative_rate": -mean}, {
        "resource.theoretical_shannon_spectral_efficiency_bps_hz": mean,
        "resource.theoretical_shannon_sum_bits_per_ofdm_symbol": rate.sum(-1).mean(),
    })


@twin("metrics.ofdm_power_allocation")
def ofdm_allocation_scores(inputs, params, draws, network=None):
    state, allocation = inputs["state"], inputs["allocation"].data
    gains = power(state.data).reshape(allocation.shape)
    return rate_scores(allocation, gains, state.number("noise_variance"))


# Resource allocation over parallel channels


@twin("model.resource_allocation_adapter")
def softmax_allocator(inputs, params, draws, network=None):
    problem = inputs["problem"]
    gains = power(problem.data)
    shares = torch.softmax(gains / params["temperature"], -1)
    return {"decision": Signal(problem.number("total_power") * shares)}


@twin("model.equal_power_allocator")
def equal_power(inputs, params, draws, network=None):
    problem = inputs["problem"]
    gains = power(problem.data)
    return {"decision": Signal(torch.full_like(gains, problem.number("total_power") / gains.shape[-1]))}


@twin("model.water_filling_power_allocator")
def water_filling(inputs, params, draws, network=None):
    problem = inputs["problem"]
    gains = power(problem.data)
    total = problem.number("total_power")
    filled = water_fill(problem.number("noise_variance") / gains, total)
    dead = (gains == 0).all(-1, keepdim=True)
    return {"decision": Signal(torch.where(dead, torch.full_like(gains, total / gains.shape[-1]), filled))}


@twin("metrics.resource_allocation")
def resource_scores(inputs, params, draws, network=None):
    problem = inputs["problem"]
    return rate_scores(inputs["decision"].data, power(problem.data), problem.number("noise_variance"))


# Sensing with communication


def isac_gains(problem):
    n0 = problem.number("noise_variance")
    return power(problem.data) / n0, power(problem.companions["sensing"]) / n0


@twin("model.isac_ofdm_allocator_adapter")
def isac_allocator(inputs, params, draws, network=None):
    problem = inputs["problem"]
    communication, sensing = isac_gains(problem)
    total, columns = problem.number("total_power"), communication.shape[-1]
    if network is None:
        if params["mode"] != "equal_power":
            raise Unsupported(f"mode {params['mode']}")
        return {"decision": Signal(torch.full_like(communication, total / columns))}
    constant = lambda value: torch.full_like(communication, value)
    weight = problem.number("sensing_weight")
    features = torch.stack([communication, sensing, constant(weight), constant(total / columns)], -1)
    return {"decision": Signal(project_onto_simplex(network(features=features)["power"], total))}


@twin("metrics.isac_ofdm")
def isac_scores(inputs, params, draws, network=None):
    """Loss: the negative utility (1-w) R/R_max + w S/S_max."""
    problem, allocation = inputs["problem"], inputs["decision"].data
    communication, sensing = isac_gains(problem)
    total, weight = problem.number("total_power"), problem.number("sensing_weight")
    rate = torch.log2(1 + communication * allocation).mean(-1)
    echo = (sensing * allocation).sum(-1)
    best = rates(water_fill(1 / communication, total), communication, 1.0).mean(-1)
    share = lambda part, whole: torch.where(whole > 0, part / torch.where(whole > 0, whole, 1.0), 0.0)
    utility = ((1 - weight) * share(rate, best) + weight * share(echo, total * sensing.amax(-1))).mean()
    return losses_of({"negative_utility": -utility}, {
        "isac.scalarized_utility": utility,
        "isac.communication_rate_bps_hz": rate.mean(),
    })
