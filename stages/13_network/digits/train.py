#!/usr/bin/env python3
"""Trains the network `digits` of stage 13 and writes its weights and what the tests compare with.

    python3 train.py --out FOLDER

Data: the 1,797 handwritten digits of scikit-learn's load_digits, 8 x 8 pixels, 0 (paper) to 16 (ink);
they are the test half of UCI's "Optical Recognition of Handwritten Digits". 1,437 train, 360 test; the
split and everything random come from fixed seeds. Each picture is first made what a PNG file holds,
whole numbers 0 ... 255 (white ink on black), and the network's input is those / 255: a picture that was
saved and read again gives the same input, bit for bit.

The network is `digits` of common/network/networks.cpp:
    conv1  16 filters 3 x 3, padding 1, bias, ReLU    8 x 8 x  1 -> 8 x 8 x 16
    pool1  maximum of 2 x 2                                      -> 4 x 4 x 16
    conv2  32 filters 3 x 3, padding 1, bias, ReLU               -> 4 x 4 x 32
    pool2  maximum of 2 x 2                                      -> 2 x 2 x 32
    fc1    64, bias, ReLU                                        -> 64
    fc2    10, bias, then softmax                                -> 10
13,706 weights. Training is on the CPU with one thread: the same versions of PyTorch and NumPy on the
same kind of processor give the same weights. `training.txt` says which ones gave these.

Writes into FOLDER:
    weights/LAYER.filters.npy   float32: [K][C][R][S] of a convolution, [outputs][features] of fc1, fc2
    weights/LAYER.bias.npy      float32 [K]
    test_pictures.npy           uint8 [360][8][8]
    test_labels.npy             uint8 [360]
    test_predictions.npy        uint8 [360]: PyTorch's answers
    test_logits.npy             float32 [360][10]: PyTorch's values before the softmax
    pictures/digit_D.png        the first test picture of each digit D that is answered rightly, grey
    pictures/digit_D_64.png     of 3 and 8: 64 x 64 pixels, each pixel 8 x 8 times
    training.txt                versions, seeds, accuracy
"""

import argparse
import platform
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
from sklearn import __version__ as sklearn_version
from sklearn.datasets import load_digits
from torch import nn

SEED = 13
TEST_PICTURES = 360
EPOCHS = 60
BATCH = 32


def pictures_and_labels():
    """All pictures as uint8 [1797][8][8], white ink on black, and their labels."""
    digits = load_digits()
    ink = digits.images  # float64, whole numbers 0 ... 16
    assert ink.shape == (1797, 8, 8) and ink.min() == 0 and ink.max() == 16
    return np.rint(ink * 255 / 16).astype(np.uint8), digits.target.astype(np.uint8)


def split(pictures, labels):
    # RandomState's stream is frozen: every NumPy gives this permutation.
    order = np.random.RandomState(SEED).permutation(len(pictures))
    test, train = order[:TEST_PICTURES], order[TEST_PICTURES:]
    return pictures[train], labels[train], pictures[test], labels[test]


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


LAYERS = {"conv1": 0, "conv2": 3, "fc1": 7, "fc2": 9}  # places in the sequence


def as_input(pictures):
    return (torch.from_numpy(pictures).float() / 255).unsqueeze(1)  # [N][1][8][8]


def moved(images, generator):
    """Each picture shifted by up to one pixel down and across: 1,437 pictures are few."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    out = torch.empty_like(images)
    shifts = torch.randint(0, 3, (len(images), 2), generator=generator)
    for i, (down, across) in enumerate(shifts.tolist()):
        out[i] = padded[i, :, down:down + 8, across:across + 8]
    return out


def train(pictures, labels):
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    model = network()
    images, wanted = as_input(pictures), torch.from_numpy(labels).long()
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    steps = EPOCHS * ((len(images) + BATCH - 1) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for epoch in range(EPOCHS):
        model.train()
        total = 0.0
        for chosen in torch.randperm(len(images), generator=generator).split(BATCH):
            loss = nn.functional.cross_entropy(model(moved(images[chosen], generator)), wanted[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item() * len(chosen)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1} of {EPOCHS}: loss {total / len(images):.4f}", flush=True)
    return model.eval()


def write_png(path, picture):
    """An 8-bit grey PNG; picture is uint8 [rows][columns]."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))
    rows, columns = picture.shape
    lines = b"".join(b"\0" + row.tobytes() for row in picture)
    path.write_bytes(b"\x89PNG\r\n\x1a\n"
                     + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the files; made if missing")
    out = parser.parse_args().out
    for folder in (out / "weights", out / "pictures"):
        folder.mkdir(parents=True, exist_ok=True)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)

    pictures, labels, test_pictures, test_labels = split(*pictures_and_labels())
    model = train(pictures, labels)
    with torch.no_grad():
        logits = model(as_input(test_pictures))
        exact = network().double()
        exact.load_state_dict({name: value.double() for name, value in model.state_dict().items()})
        off = (exact.eval()(as_input(test_pictures).double()) - logits.double()).abs().max().item()
        train_right = (model(as_input(pictures)).argmax(1).numpy() == labels).sum()
    predictions = logits.argmax(1).numpy().astype(np.uint8)
    right = int((predictions == test_labels).sum())
    two = logits.sort(1).values[:, -2:]
    margin = (two[:, 1] - two[:, 0]).min().item()

    weights = 0
    for name, place in LAYERS.items():
        for kind, array in (("filters", model[place].weight), ("bias", model[place].bias)):
            values = array.detach().numpy().astype("<f4")
            weights += values.size
            np.save(out / "weights" / f"{name}.{kind}.npy", np.ascontiguousarray(values))
    np.save(out / "test_pictures.npy", test_pictures)
    np.save(out / "test_labels.npy", test_labels)
    np.save(out / "test_predictions.npy", predictions)
    np.save(out / "test_logits.npy", np.ascontiguousarray(logits.numpy().astype("<f4")))
    for digit in range(10):
        chosen = np.flatnonzero((test_labels == digit) & (predictions == digit))[0]
        write_png(out / "pictures" / f"digit_{digit}.png", test_pictures[chosen])
        if digit in (3, 8):
            large = test_pictures[chosen].repeat(8, axis=0).repeat(8, axis=1)
            write_png(out / "pictures" / f"digit_{digit}_64.png", large)

    report = (f"weights        {weights}\n"
              f"test           {right} of {len(test_labels)} right\n"
              f"training       {train_right} of {len(labels)} right\n"
              f"smallest margin between an answer and the next, in logits: {margin:.6f}\n"
              f"float32 against float64, worst logit: {off:.3g}\n"
              f"seed {SEED}, {EPOCHS} epochs, batches of {BATCH}, on the CPU, one thread\n"
              f"PyTorch {torch.__version__}, NumPy {np.__version__}, scikit-learn {sklearn_version}, "
              f"Python {platform.python_version()}, {platform.machine()}\n")
    (out / "training.txt").write_text(report)
    print(report, end="")
    return 0 if right >= 0.95 * len(test_labels) else 1


if __name__ == "__main__":
    sys.exit(main())
