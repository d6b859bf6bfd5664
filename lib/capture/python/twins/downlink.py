"""Twins of the multi-user downlink: linear precoders and the rates of the users. y_k = H_k W s + n_k with n_k ~ CN(0, N0 I)."""

import torch

from .core import Signal, losses_of, power, twin, water_fill

#: Singular values below this share of the largest one count as zero.
RANK_TOLERANCE = 1e-12


def share_power(gains, params, n0, total):
    """Powers of streams from their gains; a stream without gain gets none."""
    if params["power"] == "water_filling":
        return water_fill(n0 / gains, total)
    live = (gains > 0).to(gains.dtype)
    return total * live / live.sum(-1, keepdim=True).clamp(min=1)


def pseudo_inverse(h):
    return torch.linalg.pinv(h, rtol=RANK_TOLERANCE)


def column_energies(w):
    return power(w).sum(-2)


def scaled_to(w, total):
    used = column_energies(w).sum(-1)[:, None, None]
    return w * torch.sqrt(torch.where(used > 0, total / torch.where(used > 0, used, 1.0), 0.0))


def maximum_ratio(h, total):
    """conj(h_k)/‖h_k‖ with equal powers; a row of zeros gets equal weights."""
    rows, tx = h.shape[1:]
    norm = torch.sqrt(power(h).sum(-1, keepdim=True))
    silent = norm == 0
    weights = torch.where(silent, torch.full_like(h, tx**-0.5), h.conj() / torch.where(silent, 1.0, norm))
    return (total / rows) ** 0.5 * weights.mT


def zero_forcing(h, params, n0, total):
    w = pseudo_inverse(h)
    energies = column_energies(w)
    gains = torch.where(energies > 0, 1 / torch.where(energies > 0, energies, 1.0), 0.0)
    return w * torch.sqrt(share_power(gains, params, n0, total) * gains)[:, None]


def regularized(h, alpha, total):
    """Hᴴ(HHᴴ + αI)⁻¹ on the budget."""
    if alpha == 0:
        return scaled_to(pseudo_inverse(h), total)
    own = torch.eye(h.shape[1], dtype=h.dtype, device=h.device)
    return scaled_to(h.mH @ torch.linalg.inv(h @ h.mH + alpha * own), total)


def block_diagonal(h, rx, params, n0, total):
    """Right singular vectors, first components real, of each user's rows without their part along the rows of the others."""
    columns, gains = [], []
    for first in range(0, h.shape[1], rx):
        own, others = h[:, first : first + rx], torch.cat([h[:, :first], h[:, first + rx :]], 1)
        effective = own - own @ pseudo_inverse(others) @ others if others.shape[1] else own
        _, values, v = torch.linalg.svd(effective, full_matrices=False)
        turn = torch.sgn(v[:, :, :1])
        v = (v * torch.where(turn == 0, torch.ones_like(turn), turn).conj()).mH
        live = values > RANK_TOLERANCE * torch.sqrt(power(own).sum((1, 2)))[:, None]
        columns.append(v * live[:, None])
        gains.append(torch.where(live, values**2, 0.0))
    shares = share_power(torch.cat(gains, 1), params, n0, total)
    return torch.cat(columns, 2) * torch.sqrt(shares)[:, None]


def power_limited_inverse(b, e, dead, total):
    """Bᴴ(BBᴴ + μI)⁻¹E with the least μ >= 0 at which ‖·‖_F² <= P; rows of B that are zero give nothing."""
    gram = b @ b.mH + torch.diag_embed(dead.to(b.dtype))
    own = torch.eye(b.shape[1], dtype=b.dtype, device=b.device)
    solved = lambda mu: b.mH @ torch.linalg.solve(gram + mu[:, None, None] * own, e)
    with torch.no_grad():
        values, u = torch.linalg.eigh(b @ b.mH)
        shares = power(u.mH @ e).sum(-1)
        kept = values > (RANK_TOLERANCE**2) * values[:, -1:]
        used = lambda mu: torch.where(kept, shares * values / (values + mu[:, None]) ** 2, 0.0).sum(-1)
        low = torch.zeros_like(values[:, 0])
        high = torch.sqrt(power(b.mH @ e).sum((1, 2)) / total)
        limited = used(low) > total
        for _ in range(200):
            middle = (low + high) / 2
            above = used(middle) > total
            low, high = torch.where(above, middle, low), torch.where(above, high, middle)
        mu = torch.where(limited, high, torch.zeros_like(high))
        slope = torch.where(kept, -2 * shares * values / (values + mu[:, None]) ** 3, 0.0).sum(-1)
    # One Newton step, so that the multiplier has the gradient of the condition that it solves.
    excess = power(solved(mu)).sum((1, 2)) - total
    mu = torch.where(limited, mu - excess / torch.where(limited, slope, -1.0), mu)
    return solved(mu)


def weighted_mmse(h, params, n0, total):
    """The weighted MMSE iteration from maximum ratio; users have one antenna."""
    users = h.shape[1]
    weights = torch.tensor(params["user_weights"] or [1.0] * users, dtype=h.real.dtype, device=h.device)
    v = maximum_ratio(h, total)
    for _ in range(params["wmmse_iterations"]):
        received = h @ v
        gain = torch.diagonal(received, dim1=1, dim2=2)
        others = (power(received).sum(-1) - power(gain)).clamp(min=0)
        whole = power(received).sum(-1) + n0
        weight = torch.sqrt(weights * whole / (others + n0))
        heard = gain != 0
        size = torch.sqrt(torch.where(heard, power(gain), 1.0))
        root = torch.where(heard, weight * size / whole, 0.0)
        target = torch.where(heard, weight * gain / size, torch.zeros_like(gain))
        dead = root <= RANK_TOLERANCE * root.amax(-1, keepdim=True)
        b = h * torch.where(dead, 0.0, root)[:, :, None]
        v = power_limited_inverse(b, torch.diag_embed(target), dead, total)
    return v


@twin("model.mu_mimo_precoder")
def mu_mimo_precoder(inputs, params, draws, network=None):
    problem, mode = inputs["problem"], params["mode"]
    examples, users, rx, tx = problem.data.shape
    h = problem.data.reshape(examples, users * rx, tx).to(torch.complex128)
    n0, total = problem.number("noise_variance"), problem.number("total_power")
    if mode == "mrt":
        w = maximum_ratio(h, total)
    elif mode == "zf":
        w = zero_forcing(h, params, n0, total)
    elif mode == "rzf":
        alpha = params.get("regularization")
        w = regularized(h, users * rx * n0 / total if alpha is None else alpha, total)
    elif mode == "block_diagonalization":
        w = block_diagonal(h, rx, params, n0, total)
    else:
        w = weighted_mmse(h, params, n0, total)
    return {"decision": Signal(w.to(problem.data.dtype), {"noise_variance": n0, "total_power": total})}


@twin("metrics.mu_mimo")
def mu_mimo_scores(inputs, params, draws, network=None):
    """Loss: the negative sum rate; a user decodes its own streams jointly and takes the others as noise."""
    problem, w = inputs["problem"], inputs["decision"].data
    h, n0 = problem.companions.get("true_channel", problem.data), problem.number("noise_variance")
    users, rx = h.shape[1:3]
    received = torch.einsum("eurt,ets->eurs", h, w).to(torch.complex128)
    own = received.shape[-1] // users
    noise = n0 * torch.eye(rx, dtype=received.dtype, device=h.device)
    wanted = torch.eye(users, device=h.device).repeat_interleave(own, 1)[:, None]
    covariance = lambda x: x @ x.mH + noise
    heard, disturbing = received * wanted, received * (1 - wanted)
    # log2 det of Hermitian positive definite matrices
    log = lambda x: torch.logdet(covariance(x)).real / torch.log(torch.tensor(2.0, dtype=torch.float64))
    rates = log(received) - log(disturbing)
    sums = rates.sum(-1)
    jain = sums**2 / (users * (rates**2).sum(-1))
    metrics = {
        "mu_mimo.sum_rate_bps_hz": sums.mean(),
        "mu_mimo.min_rate_bps_hz": rates.amin(-1).mean(),
        "mu_mimo.jain_fairness": jain[jain.isfinite()].mean(),
        "mu_mimo.mean_interference_to_signal_db": 10 * torch.log10(power(disturbing).sum() / power(heard).sum()),
    }
    return losses_of({"negative_rate": -sums.mean()}, metrics)
