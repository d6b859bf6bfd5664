"""Objects, questions and sentences of scenes of `source.synthetic_scenes`, and the image network that the models of both share.

Colours are read from the pixel at the centre of a box, which every shape covers. Questions and sentences are worded as
`ops/source/synthetic_scenes.ts` and `lib/numeric/image/scenes.ts` word them.

The image network gives features per cell of 8 pixels. Three heads, trained with the cells of the objects, add to them the
probability of an object's centre, of each shape and of each colour.
"""

import re

import numpy as np
import torch
from torch import nn

from scene_networks import Block
from scenes import CLASSES, SIZE, STRIDE, noisy, planes

COLOURS = {"red": (220, 40, 40), "green": (40, 170, 60), "blue": (50, 80, 220), "yellow": (235, 205, 40),
           "magenta": (200, 60, 200), "cyan": (50, 195, 210)}
GROUNDS = {"white": 245, "silver": 185, "grey": 95, "black": 20}
PLACES = ("top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right")
NAMES = list(COLOURS)
CELLS = SIZE // STRIDE
MOST_NOISE = 0.3
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PAD, UNKNOWN, START, END = range(4)


class Thing:
    """An object: shape, colour, place, the cell of its centre and the cells inside its box."""

    def __init__(self, image, box):
        label, x0, y0, x1, y1 = (int(value) for value in box)
        self.shape = CLASSES[label]
        pixel = image[(y0 + y1) // 2, (x0 + x1) // 2]
        self.colour = next(name for name, rgb in COLOURS.items() if tuple(pixel) == rgb)
        third = [min(2, 3 * (low + high) // (2 * SIZE)) for low, high in ((y0, y1), (x0, x1))]
        self.place = PLACES[3 * third[0] + third[1]]
        self.centre = ((y0 + y1) // 2 // STRIDE, (x0 + x1) // 2 // STRIDE)


def things_of(scenes):
    return [[Thing(image, box) for box in boxes] for image, boxes in zip(scenes.images, scenes.boxes)]


def ground_of(image):
    return next(name for name, level in GROUNDS.items() if image[0, 0, 0] == level)


def unique(things, key):
    """The first object whose key no other has."""
    keys = [key(thing) for thing in things]
    return next((thing for thing in things if keys.count(key(thing)) == 1), None)


def asked(things, index):
    """(topic, question, answer) about a scene, as the source asks them; `index` of the scene chooses the counted shape."""
    counted = CLASSES[index % len(CLASSES)]
    rows = [("count", "How many objects are there?", str(len(things))),
            ("count_shape", f"How many {counted}s are there?", str(sum(t.shape == counted for t in things)))]
    shape, colour = unique(things, lambda t: t.shape), unique(things, lambda t: t.colour)
    both = unique(things, lambda t: (t.colour, t.shape))
    if shape:
        rows.append(("colour", f"What colour is the {shape.shape}?", shape.colour))
    if colour:
        rows.append(("shape", f"What shape is the {colour.colour} object?", colour.shape))
    if both:
        rows.append(("position", f"Where is the {both.colour} {both.shape}?", both.place))
    return rows


def sentence(things, ground):
    """The sentence of a scene."""
    phrases = [f"a {t.colour} {t.shape} at the {t.place}" for t in things]
    text = " and ".join([", ".join(phrases[:-1]), phrases[-1]]) if len(phrases) > 1 else phrases[0]
    return f"{text[0].upper()}{text[1:]} on a {ground} ground."


def words_of(text):
    return re.findall(r"\w+|[^\w\s]", text.lower())


def table_of(texts, number):
    """Ids [text, token] between [CLS] and [SEP], padded."""
    rows = [[START, *(number.get(word, UNKNOWN) for word in words_of(text)), END] for text in texts]
    table = np.full((len(rows), max(map(len, rows))), PAD)
    for row, ids in zip(table, rows):
        row[:len(ids)] = ids
    return table


def tokenizer_of(names):
    """tokenizer.json of lower-case words and punctuation marks between [CLS] and [SEP]."""
    added = [{"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, content in enumerate(SPECIAL)]
    special = lambda token: {"SpecialToken": {"id": token, "type_id": 0}}  # noqa: E731
    framed = [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": framed, "pair": framed, "special_tokens": {
            token: {"id": token, "ids": [i], "tokens": [token]} for i, token in ((START, "[CLS]"), (END, "[SEP]"))}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {name: i for i, name in enumerate(names)}},
    }


PREPROCESSOR = {"do_resize": True, "size": {"height": SIZE, "width": SIZE}, "resample": 2, "do_center_crop": False,
                "do_rescale": True, "do_normalize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [1, 1, 1]}


def pixels(images, rng=None, most_noise=MOST_NOISE):
    """Input tensors of uint8 images; with a generator half of them get Gaussian noise up to `most_noise` of the range."""
    if rng is not None:
        images = noisy(images, rng.uniform(0, most_noise, len(images)) * (rng.random(len(images)) < 0.5), rng)
    return torch.from_numpy(planes(images) - np.float32(0.5))


class Cells(nn.Module):
    """pixels [n, 3, 96, 96] -> features [n, channels + 1 + shapes + 1 + colours + 1, 12, 12]."""

    def __init__(self, widths):
        super().__init__()
        a, b, c = widths
        self.down = nn.ModuleList([Block(3, a, 2), Block(a, b, 2), Block(b, b), Block(b, c, 2)])
        self.body = nn.ModuleList([Block(c, c) for _ in range(3)])
        self.centre = nn.Conv2d(c, 1, 1)
        self.shape = nn.Conv2d(c, 1 + len(CLASSES), 1)
        self.colour = nn.Conv2d(c, 1 + len(NAMES), 1)
        nn.init.constant_(self.centre.bias, -4.0)  # few cells hold the centre of an object
        self.channels = c + 1 + self.shape.out_channels + self.colour.out_channels

    def heads(self, x):
        for block in self.down:
            x = block(x)
        for block in self.body:
            x = x + block(x)
        return x, self.centre(x), self.shape(x), self.colour(x)

    def joined(self, x, centre, shape, colour):
        return torch.cat((x, torch.sigmoid(centre), torch.softmax(shape, 1), torch.softmax(colour, 1)), 1)

    def forward(self, x):
        return self.joined(*self.heads(x))

    def centre_of(self, features):
        """The probability of an object's centre [n, 1, 12, 12] among the features."""
        at = self.centre.in_channels
        return features[:, at:at + 1]

    def graph(self, g, x):
        """The network as nodes of a graph: features and centres. Its normalisation is folded before."""
        block = lambda y, module, label: g.node("Relu", [g.conv(y, module.conv, label)])  # noqa: E731
        for i, module in enumerate(self.down):
            x = block(x, module, f"down.{i}")
        for i, module in enumerate(self.body):
            x = g.node("Add", [x, block(x, module, f"body.{i}")])
        centre = g.node("Sigmoid", [g.conv(x, self.centre, "centre")])
        shape = g.node("Softmax", [g.conv(x, self.shape, "shape")], axis=1)
        colour = g.node("Softmax", [g.conv(x, self.colour, "colour")], axis=1)
        return g.node("Concat", [x, centre, shape, colour], axis=1), centre

    def fold(self):
        for block in (*self.down, *self.body):
            block.fold()


def cell_targets(things):
    """Per scene the centre, shape and colour of every cell [n, 3, 12, 12]; shape and colour hold at centres only."""
    targets = np.zeros((len(things), 3, CELLS, CELLS), np.int64)
    for target, found in zip(targets, things):
        for thing in found:
            target[(slice(None), *thing.centre)] = 1, 1 + CLASSES.index(thing.shape), 1 + NAMES.index(thing.colour)
    return targets


def cell_loss(centre, shape, colour, targets):
    """Cross-entropies of the heads."""
    targets = torch.from_numpy(targets)
    entropy = nn.functional.binary_cross_entropy_with_logits(centre[:, 0], targets[:, 0].float(), reduction="sum")
    weight = 0.05 + targets[:, 0].float()
    total = entropy / len(targets)
    for logits, target in ((shape, targets[:, 1]), (colour, targets[:, 2])):
        total = total + (weight * nn.functional.cross_entropy(logits, target, reduction="none")).sum() / len(targets)
    return total
