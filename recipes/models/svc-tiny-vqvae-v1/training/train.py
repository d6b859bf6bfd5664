"""Trains the image tokeniser svc-tiny-vqvae-v1: a vector-quantised autoencoder, one of 256 codewords for 8 x 8 pixels.

    encoder   sample [batch, 3, H, W] in -1 … 1 -> latent_sample [batch, 16, H/8, W/8]; the nearest codeword is sent
    decoder   latent_sample of codewords -> sample [batch, 3, H, W]

    linear part   first 16 of the 192 coefficients of a Karhunen-Loève transform of 8 x 8 x 3 samples, and its inverse
    residual      ConvNeXt-like blocks on the grid of latents in both networks; their last layers start at zero
    codebook      k-means of the linear latents, then exponential means of the latents of each cell; a codeword without a vector
                  in 50 steps is drawn again from the batch. Ordered from dark to bright at the end

The loss is the mean of 10·log10(MSE + 0.0002) with straight-through gradients, and 6 times the commitment.

    PYTHONPATH=<torch> python3 recipes/models/svc-tiny-vqvae-v1/training/train.py <folder for the photographs> <package folder> [<seed>]

The candidate `linear` is the same without residuals, with the k-means codebook. One thread, seeded; ten minutes. The photographs are those of deepjscc-film-v1 (../../deepjscc-film-v1/training/photographs.tsv).

Sources: van den Oord, Vinyals and Kavukcuoglu, Neural Discrete Representation Learning, NeurIPS 2017; Liu et al., A ConvNet for the
2020s, 2022.
"""

import copy
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "training"), str(HERE.parents[1] / "deepjscc-film-v1" / "training")]
import photographs  # noqa: E402
from onnx_graph import HalfGraph, halve  # noqa: E402
from pictures import centre, psnr  # noqa: E402
from records import digest, write_components, write_curve, write_json, write_reference  # noqa: E402

torch.set_num_threads(1)
SEED = 61
SIDE, DEPTH, COEFFICIENTS, ENTRIES = 8, 16, 192, 256
WIDTH, BLOCKS, EXPANSION, KERNEL = 96, 4, 3, 5
STEPS, BATCH, CROP = 1600, 16, 64
LEARNING_RATE, WARM_UP, AVERAGE, DECAY, COMMITMENT, IDLE = 7e-4, 100, 0.99, 0.98, 6.0, 50
RECORD_EVERY = 100


class Block(nn.Module):
    """Depthwise convolution, root-mean-square norm, two layers over the channels."""

    def __init__(self):
        super().__init__()
        self.spread = nn.Conv2d(WIDTH, WIDTH, KERNEL, padding=KERNEL // 2, groups=WIDTH)
        self.expand = nn.Conv2d(WIDTH, EXPANSION * WIDTH, 1)
        self.reduce = nn.Conv2d(EXPANSION * WIDTH, WIDTH, 1)

    def forward(self, x):
        y = self.spread(x)
        y = y * torch.rsqrt((y * y).mean(1, keepdim=True) + 1e-6)
        return x + self.reduce(nn.functional.silu(self.expand(y)))

    def to_onnx(self, graph, x, label):
        y = graph.conv(x, self.spread, f"{label}.spread")
        square = graph.node("ReduceMean", [graph.node("Mul", [y, y])], axes=[1], keepdims=1)
        y = graph.node("Div", [y, graph.node("Sqrt", [graph.node("Add", [square, graph.constant("norm_floor", 1e-6)])])])
        y = graph.conv(y, self.expand, f"{label}.expand")
        y = graph.node("Mul", [y, graph.node("Sigmoid", [y])])
        return graph.node("Add", [x, graph.conv(y, self.reduce, f"{label}.reduce")])


class Residual(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.entry = nn.Conv2d(inputs, WIDTH, 1)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.exit = nn.Conv2d(WIDTH, outputs, 1)
        nn.init.zeros_(self.exit.weight)
        nn.init.zeros_(self.exit.bias)

    def forward(self, x):
        x = self.entry(x)
        for block in self.blocks:
            x = block(x)
        return self.exit(x)

    def to_onnx(self, graph, x):
        x = graph.conv(x, self.entry, "entry")
        for index, block in enumerate(self.blocks):
            x = block.to_onnx(graph, x, f"blocks.{index}")
        return graph.conv(x, self.exit, "exit")


class Encoder(nn.Module):
    """Latents in units of the standard deviation of the first coefficient."""

    def __init__(self, transform, mean, variances):
        super().__init__()
        self.analysis = nn.Conv2d(3, COEFFICIENTS, SIDE, SIDE)
        self.analysis.weight.data = torch.from_numpy(transform.reshape(COEFFICIENTS, 3, SIDE, SIDE) / 2)
        self.analysis.bias.data = torch.from_numpy(transform @ (0.5 - mean))
        self.register_buffer("whitening", torch.from_numpy(variances ** -0.5).reshape(1, -1, 1, 1))
        self.scale = float(variances[0] ** -0.5)
        self.residual = Residual(COEFFICIENTS, DEPTH)

    def forward(self, sample):
        coefficients = self.analysis(sample)
        return coefficients[:, :DEPTH] * self.scale + self.residual(coefficients * self.whitening)

    def to_onnx(self) -> bytes:
        graph = HalfGraph("svc_tiny_vqvae_encoder")
        coefficients = graph.conv(graph.input("sample", [1, 3, "height", "width"]), self.analysis, "analysis")
        first = graph.node("Slice", [coefficients, graph.integers("zero", [0]), graph.integers("depth", [DEPTH]), graph.integers("axis", [1])])
        linear = graph.node("Mul", [first, graph.constant("scale", self.scale)])
        whitened = graph.node("Mul", [coefficients, graph.constant("whitening", self.whitening.numpy())])
        graph.node("Add", [linear, self.residual.to_onnx(graph, whitened)], "latent_sample")
        graph.output("latent_sample", [1, DEPTH, "rows", "columns"])
        return graph.bytes()


class Decoder(nn.Module):
    def __init__(self, transform, mean, variances):
        super().__init__()
        self.synthesis = nn.Conv2d(DEPTH, COEFFICIENTS, 1)
        inverse = 2 * transform[:DEPTH].T * np.sqrt(variances[0])
        self.synthesis.weight.data = torch.from_numpy(np.ascontiguousarray(inverse, np.float32)[:, :, None, None])
        self.synthesis.bias.data = torch.from_numpy(2 * mean - 1)
        self.residual = Residual(DEPTH, COEFFICIENTS)

    def forward(self, latents):
        return nn.functional.pixel_shuffle(self.synthesis(latents) + self.residual(latents), SIDE)

    def to_onnx(self) -> bytes:
        graph = HalfGraph("svc_tiny_vqvae_decoder")
        latents = graph.input("latent_sample", [1, DEPTH, "rows", "columns"])
        pixels = graph.node("Add", [graph.conv(latents, self.synthesis, "synthesis"), self.residual.to_onnx(graph, latents)])
        graph.node("DepthToSpace", [pixels], "sample", blocksize=SIDE, mode="CRD")
        graph.output("sample", [1, 3, "height", "width"])
        return graph.bytes()


def vectors(latents):
    return latents.permute(0, 2, 3, 1).reshape(-1, DEPTH)


def nearest(latents, codebook):
    """Index of the nearest codeword of each vector, and the latents of codewords."""
    flat = vectors(latents)
    index = torch.cdist(flat, codebook, compute_mode="donot_use_mm_for_euclid_dist").argmin(1)
    batch, _, rows, columns = latents.shape
    return index, codebook[index].reshape(batch, rows, columns, DEPTH).permute(0, 3, 1, 2)


def k_means(samples, rng, rounds=25):
    codebook = samples[rng.permutation(len(samples))[:ENTRIES]].clone()
    for _ in range(rounds):
        index = torch.cdist(samples, codebook).argmin(1)
        counts = torch.bincount(index, minlength=ENTRIES)
        sums = torch.zeros_like(codebook).index_add_(0, index, samples)
        codebook = torch.where(counts[:, None] > 0, sums / counts[:, None].clamp_min(1), codebook)
    return codebook


def karhunen_loeve(pictures, rng):
    """Transform [192, 192], mean [192] and variances of 8 x 8 blocks (colour, row, column), falling."""
    blocks = []
    for _ in range(40_000):
        picture = pictures[int(rng.integers(len(pictures)))][0]
        top, left = (int(rng.integers(0, extent - SIDE + 1)) for extent in picture.shape[:2])
        blocks.append(picture[top:top + SIDE, left:left + SIDE].transpose(2, 0, 1).ravel())
    samples = np.stack(blocks).astype(np.float64) / 255
    mean = samples.mean(0)
    values, vectors_ = np.linalg.eigh(np.cov(samples, rowvar=False))
    transform = vectors_.T[::-1]
    transform = transform * np.sign(transform.sum(1, keepdims=True) + 1e-12)
    return transform.astype(np.float32), mean.astype(np.float32), np.maximum(values[::-1], 1e-7).astype(np.float32)


def crop(picture, rng):
    """A crop of a reduction of a photograph in -1 … 1, turned and mirrored; a tenth grey, a third of other contrast."""
    reduction = picture[min(int(rng.choice(3, p=(0.5, 0.3, 0.2))), len(picture) - 1)]
    top, left = (int(rng.integers(0, extent - CROP + 1)) for extent in reduction.shape[:2])
    patch = np.rot90(reduction[top:top + CROP, left:left + CROP], int(rng.integers(4))).astype(np.float32) / 255
    if rng.random() < 0.5:
        patch = patch[:, ::-1]
    if rng.random() < 0.1:
        patch = np.broadcast_to(patch.mean(-1, keepdims=True), patch.shape)
    if rng.random() < 0.3:
        patch = np.clip((patch - 0.5) * rng.uniform(0.6, 1.2) + 0.5 + rng.uniform(-0.15, 0.15), 0, 1)
    return 2 * patch.transpose(2, 0, 1) - 1


def measure(encoder, decoder, codebook, pictures):
    """PSNR in dB of each picture, after rounding to 8 bits, and the number of codewords used."""
    values, used = [], set()
    with torch.no_grad():
        for picture in pictures:
            x = torch.from_numpy(picture.astype(np.float32).transpose(2, 0, 1)[None] / 255)
            index, latents = nearest(encoder(2 * x - 1), codebook)
            used.update(index.tolist())
            values.append(psnr(x.numpy(), decoder(latents).numpy() / 2 + 0.5))
    return values, len(used)


def main(folder, output, seed):
    rng, generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    cached = folder / "vqvae.pt"
    if not cached.exists():
        torch.save({split: photographs.load(folder, split) for split in ("train", "validation", "test")}, cached)
    splits = torch.load(cached, weights_only=False)
    pictures = splits["train"]
    held = {split: [centre(picture[0], 256) for picture in splits[split]] for split in ("validation", "test")}
    parts = karhunen_loeve(pictures, rng)
    encoder, decoder = Encoder(*parts), Decoder(*parts)
    batch = lambda: torch.from_numpy(np.stack([crop(pictures[int(rng.integers(len(pictures)))], rng) for _ in range(BATCH)]))
    with torch.no_grad():
        samples = torch.cat([vectors(encoder(batch())) for _ in range(20)])
    codebook = k_means(samples, rng)
    linear_networks, linear_codebook = [halve(copy.deepcopy(net)) for net in (encoder, decoder)], codebook.clone()
    sums, counts, idle = codebook.clone(), torch.ones(ENTRIES), torch.zeros(ENTRIES)
    linear, _ = measure(encoder, decoder, codebook, held["validation"])
    rows = [{"candidate": "linear", "step": 0, "training_loss_db": "", "validation_psnr_db": f"{np.mean(linear):.3f}"}]
    print(rows[-1], flush=True)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, LEARNING_RATE, betas=(0.9, 0.99))
    average, running, started = [copy.deepcopy(net) for net in (encoder, decoder)], 0.0, time.monotonic()
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1, step / WARM_UP, 2 * (STEPS - step + 1) / STEPS)
        x = batch()
        latents = encoder(x)
        index, chosen = nearest(latents.detach(), codebook)
        y = decoder(latents + (chosen - latents).detach())
        error = ((x - y) ** 2).mean((1, 2, 3)) / 4
        loss = (10 * torch.log10(error + 2e-4)).mean()
        total = loss + COMMITMENT * ((latents - chosen) ** 2).sum(1).mean()
        optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(parameters, 10.0)
        optimizer.step()
        with torch.no_grad():
            flat, used = vectors(latents.detach()), torch.bincount(index, minlength=ENTRIES).float()
            counts.mul_(DECAY).add_(used, alpha=1 - DECAY)
            sums.mul_(DECAY).add_(torch.zeros_like(sums).index_add_(0, index, flat), alpha=1 - DECAY)
            idle = torch.where(used > 0, 0, idle + 1)
            for entry in torch.nonzero(idle > IDLE)[:, 0].tolist():
                drawn = flat[int(rng.integers(len(flat)))]
                counts[entry], sums[entry], idle[entry] = 1, drawn, 0
            codebook = sums / counts[:, None].clamp_min(1e-6)
            for kept, net in zip(average, (encoder, decoder)):
                for a, b in zip(kept.parameters(), net.parameters()):
                    a.lerp_(b, 1 - min(AVERAGE, step / (step + 10)))
        running += loss.item()
        if step % RECORD_EVERY == 0:
            values, used_entries = measure(*average, codebook, held["validation"])
            rows.append({"candidate": "vq", "step": step, "training_loss_db": f"{running / RECORD_EVERY:.3f}", "validation_psnr_db": f"{np.mean(values):.3f}"})
            print(rows[-1], used_entries, f"{time.monotonic() - started:.0f} s", flush=True)
            running = 0.0
    encoder, decoder = (halve(net) for net in average)
    # From dark to bright: by the mean sample of the decoded codeword without neighbours, the linear part.
    with torch.no_grad():
        bright = decoder.synthesis(codebook[:, :, None, None]).mean((1, 2, 3))
    codebook = codebook[torch.argsort(bright)].contiguous()
    candidates = {"linear": (*linear_networks, linear_codebook), "vq": (encoder, decoder, codebook)}
    write(output, candidates, held, rows, seed)


def write(output, candidates, held, curve, seed):
    """Everything that is kept: networks and codebook of the better candidate, records of both."""
    training, objectives, results = output / "training", {}, {}
    for name, (encoder, decoder, codebook) in candidates.items():
        files = {"encoder": encoder.to_onnx(), "decoder": decoder.to_onnx()}
        for split, crops in held.items():
            values, used = measure(encoder, decoder, codebook, crops)
            results.setdefault(split, {})[name] = {"psnr_db": [round(value, 4) for value in values], "used_entries": used}
            print(name, split, np.mean(values), used, flush=True)
        objectives[name] = float(np.mean(results["validation"][name]["psnr_db"]))
        write_json(training / "candidates" / f"{name}.json", {
            "candidate": name, "residual": name == "vq", "width": WIDTH, "blocks": BLOCKS, "entries": ENTRIES, "depth": DEPTH,
            "steps": STEPS if name == "vq" else 0, "batch": BATCH, "crop": CROP, "learning_rate": LEARNING_RATE, "seed": seed,
        })
        if name == "linear":
            write_components(training / "candidates" / "linear.components.json", files)
            continue
        for half, content in files.items():
            (output / f"vae_{half}").mkdir(parents=True, exist_ok=True)
            (output / f"vae_{half}" / "model.onnx").write_bytes(content)
        np.save(output / "codebook.npy", codebook.numpy())
        x = torch.from_numpy(2 * centre(held["validation"][0], 32).astype(np.float32).transpose(2, 0, 1)[None] / 255 - 1)
        with torch.no_grad():
            latents = encoder(x)
            _, chosen = nearest(latents, codebook)
            write_reference(training / "reference.encoder.json", {"sample": x.numpy()}, {"latent_sample": latents.numpy()})
            write_reference(training / "reference.decoder.json", {"latent_sample": chosen.numpy()}, {"sample": decoder(chosen).numpy()})
    write_curve(training / "loss_curve.csv", curve)
    write_json(training / "evaluation.json", {
        "objective": "mean PSNR in dB of the centres, 256 x 256 pixels, of the validation photographs",
        "candidates": objectives, "selected": max(sorted(objectives), key=objectives.get), "seed": seed,
        "parameters": {half: sum(p.numel() for p in net.parameters()) for half, net in zip(("encoder", "decoder"), candidates["vq"])},
        "population_sha256": digest(*held["validation"]), **results,
    })


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else SEED)
