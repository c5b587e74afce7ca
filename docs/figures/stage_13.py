"""Figures of stage 13, whole networks. Drawn by make_figures.py."""

import ast
import math
import pathlib
import re
import struct

from make_figures import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, RED, Drawing
from read_results import read_results

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = ROOT / "stages" / "13_network" / "digits"
RESULTS = ROOT / "docs" / "results"
PLANS = ROOT / "docs" / "results" / "network_plans.txt"
FILL = {"NCHW": "read", "CHWN": "mask"}
LINE = {"NCHW": BLUE, "CHWN": PURPLE}


def read_npy(name):
    """The values of an NPY file that digits/train.py wrote, in one list."""
    data = (DIGITS / name).read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    code = {"|u1": "B", "<f4": "f"}[header["descr"]]
    values = data[10 + length:]
    return struct.unpack(f"<{len(values) // struct.calcsize(code)}{code}", values)


def planned(layer):
    """The lines of a layer in the recorded plan that were chosen: (mark, kernel, megabytes)."""
    text = PLANS.read_text(encoding="utf-8")
    part = re.search(rf"\[doc:digits_{layer}\]\n(.*?)\[/doc", text, re.S)[1]
    return [(mark.strip(), kernel.strip(), float(cost)) for mark, kernel, cost in
            re.findall(r"^  -> (.{10})(.{26})([\d.]+) MB", part, re.M)]


def network_plan():
    layers = ["conv1", "pool1", "conv2", "pool2", "fc1", "fc2", "softmax"]
    sizes = ["8 x 8 x 16", "4 x 4 x 16", "4 x 4 x 32", "2 x 2 x 32", "64", "10", "10"]
    plan = [planned(layer) for layer in layers]
    layouts = [next(mark for mark, _, _ in steps if mark in FILL) for steps in plan]
    said = "; ".join(f"{layer} in {layout}" for layer, layout in zip(layers, layouts))
    d = Drawing(940, 352, "The network digits as it is planned for 64 images",
                f"Seven layers in a row: {said}. A transform stands wherever the layout changes. Each "
                "box has its kernels and what they move, in megabytes as counted.")
    w, h, gap, top = 112, 128, 14, 92
    d.text(470, 34, "digits on 64 images, planned from counted costs", 16, bold=True)
    before = "NCHW"
    for i, (layer, size, steps, layout) in enumerate(zip(layers, sizes, plan, layouts)):
        x = 30 + i * (w + gap + 1)
        d.rect(x, top, w, h, FILL[layout], radius=6)
        d.rect(x + 5, top + 46, w - 10, h - 52, stroke=None)
        d.text(x + w / 2, top + 22, layer, 15, bold=True, halo=True)
        d.text(x + w / 2, top + 40, layout, 13, colour=LINE[layout], bold=True, halo=True)
        y = top + 62
        for mark, kernel, cost in steps:
            if mark.startswith("to "):
                continue
            # A long name takes two lines: 13 register_tile_chwn.
            cut = kernel.rfind("_") if len(kernel) > 16 else -1
            for part in ([kernel[:cut], kernel[cut:]] if cut > 0 else [kernel]):
                d.text(x + w / 2, y, part, 11)
                y += 14
            d.text(x + w / 2, y + 1, f"{cost:.3f} MB", 11)
            y += 20
        d.text(x + w / 2, top + h + 18, size, 12, colour=GREY)
        if i + 1 < len(layers):
            d.line(x + w, top + h / 2, x + w + gap, top + h / 2, INK, 1.8, arrow=True)
        if layout != before:
            mark, kernel, cost = next(step for step in steps if step[0].startswith("to "))
            edge = x - gap / 2 - 0.5
            d.line(edge, top - 22, edge, top + h + 44, RED, 2.4, dashed=True)
            d.text(edge, top + h + 62, f"transform {mark}", 12, colour=RED)
            d.text(edge, top + h + 78, f"{kernel}, {cost:.3f} MB", 12, colour=RED)
        before = layout
    d.text(470, 328, "Under each box what it writes, for one image. Dashed: the layout changes there.", 13,
           colour=GREY)
    return d


# An example to work out by hand: (NCHW, CHWN) of each layer, and the transform before it.
WAYS = [("conv1", (4, 8), 1), ("pool1", (9, 3), 2), ("conv2", (5, 6), 3), ("softmax", (1, None), 1)]


def cheapest_way():
    """Costs of the ways, and for each node where it came from."""
    best, table = {0: 0, 1: None}, []
    for _, own, transform in WAYS:
        here = {}
        for to in (0, 1):
            if own[to] is None:
                continue
            ways = [(best[source] + (transform if source != to else 0) + own[to], source)
                    for source in (to, 1 - to) if best.get(source) is not None]
            here[to] = min(ways, key=lambda way: way[0])
        table.append(here)
        best = {to: cost for to, (cost, _) in here.items()}
    return table


def plan_ways():
    table = cheapest_way()
    path, node = [], 0
    for here in reversed(table):
        path.append(node)
        node = here[node][1]
    path = path[::-1]
    names = ["NCHW", "CHWN"]
    chosen = ", ".join(f"{WAYS[i][0]} in {names[p]}" for i, p in enumerate(path))
    d = Drawing(900, 372, "The plan as the cheapest way through a graph",
                "Two rows of nodes, one for each layout, and a column for each layer. A node has the "
                "layer's cost in that layout, a slanted line the cost of a transform. The cheapest way "
                f"is {chosen}, for {table[-1][0][0]} in all.")
    x0, step, rows, r = 120, 200, (110, 250), 30
    at = {}
    for i, (name, own, transform) in enumerate(WAYS):
        x = x0 + 100 + i * step - 40
        d.text(x, 44, name, 15, bold=True)
        for to in (0, 1):
            if own[to] is not None:
                at[(i, to)] = (x, rows[to])
    at[(-1, 0)] = (x0 - 60, rows[0])
    for i, (name, own, transform) in enumerate(WAYS):
        for to in (0, 1):
            if (i, to) not in at:
                continue
            for source in (0, 1):
                if (i - 1, source) not in at:
                    continue
                x1, y1 = at[(i - 1, source)]
                x2, y2 = at[(i, to)]
                length = math.hypot(x2 - x1, y2 - y1)
                ux, uy = (x2 - x1) / length, (y2 - y1) / length
                before = 0 if i == 0 else path[i - 1]
                taken = before == source and path[i] == to
                d.line(x1 + ux * r, y1 + uy * r, x2 - ux * (r + 3), y2 - uy * (r + 3),
                       ORANGE if taken else GREY, 4 if taken else 1.4, dashed=not taken, arrow=True)
                if source != to:
                    along = 0.34
                    d.text(x1 + (x2 - x1) * along, y1 + (y2 - y1) * along + 4, f"+{transform}", 13,
                           colour=RED, bold=True, halo=True)
    d.circle(*at[(-1, 0)], 22)
    d.text(at[(-1, 0)][0], at[(-1, 0)][1] + 5, "input", 12)
    for (i, to), (x, y) in at.items():
        if i < 0:
            continue
        on = path[i] == to
        d.circle(x, y, r, ORANGE if on else INK, "#ffffff")
        d.text(x, y + 6, str(WAYS[i][1][to]), 17, bold=on)
        d.text(x, y + (-38 if to == 0 else 50), f"so far {table[i][to][0]}", 13,
               colour=GREEN, bold=on)
    for to in (0, 1):
        d.text(884, rows[to] + 5, names[to], 14, "end", colour=LINE[names[to]], bold=True)
    d.text(450, 344, "In the nodes: the layer's cost in that layout. +: a transform. Thick: the cheapest way.",
           13, colour=GREY)
    return d


def digit_answers():
    labels, predictions = read_npy("test_labels.npy"), read_npy("test_predictions.npy")
    logits, pictures = read_npy("test_logits.npy"), read_npy("test_pictures.npy")
    right = next(n for n in range(len(labels)) if labels[n] == 3 and predictions[n] == 3)
    wrong = next(n for n in range(len(labels)) if labels[n] != predictions[n])

    def probabilities(n):
        row = logits[n * 10:n * 10 + 10]
        powers = [math.exp(value - max(row)) for value in row]
        return [power / sum(powers) for power in powers]

    d = Drawing(900, 330, "Two test pictures and what the network says of them",
                f"Left: a handwritten {labels[right]} of 8 x 8 pixels; the largest of ten probabilities is "
                f"that of {predictions[right]}. Right: a {labels[wrong]} that the network takes for a "
                f"{predictions[wrong]}.")
    for n, x0 in ((right, 40), (wrong, 480)):
        is_right = labels[n] == predictions[n]
        title = (f"test picture {n}: a {labels[n]}, and it says {predictions[n]}" if is_right else
                 f"test picture {n}: a {labels[n]}, but it says {predictions[n]}")
        d.text(x0 + 190, 34, title, 15, bold=True)
        size = 19
        for i in range(64):
            value = pictures[n * 64 + i]
            x, y = x0 + i % 8 * size, 76 + i // 8 * size
            d.parts.append(f'<rect x="{x}" y="{y}" width="{size}" height="{size}" '
                           f'fill="#{value:02x}{value:02x}{value:02x}" stroke="#888888" '
                           'stroke-width="0.5"/>')
        d.text(x0 + 4 * size, 76 + 8 * size + 22, "8 x 8 pixels", 12, colour=GREY)
        for digit, share in enumerate(probabilities(n)):
            y = 60 + digit * 23
            said = digit == predictions[n]
            d.text(x0 + 186, y + 15, str(digit), 14, "end", bold=said)
            if share * 150 >= 0.5:
                d.rect(x0 + 194, y + 2, share * 150, 17, "tile" if said else "bad")
            d.text(x0 + 200 + share * 150, y + 15, f"{share * 100:.1f} %", 12, "start",
                   colour=INK if said else GREY)
    d.text(450, 314, "Bars: the ten probabilities. Dotted: the largest, which is the answer.", 13,
           colour=GREY)
    return d


def against_cudnn():
    """cuDNN's chain over the planned network, each network a bar, on a scale of doublings."""
    run = read_results(RESULTS / "bench_network.json")
    taken = {(row["problem"]["network"], row["problem"]["N"], row["variant"]): row["time"]["hot"]["median_ms"]
             for row in run["rows"] if row["problem"]["layer"] == "all" and row["time"]["status"] == "MEASURED"}
    # The batches' record compares no launches that overlap.
    ways = {1: ("planned", "planned_overlapped"), 128: ("planned",)}
    found = [(name, n, taken[name, n, "cudnn_chain"] / min(taken[name, n, way] for way in ways[n]
                                                           if (name, n, way) in taken))
             for n in ways for name in ("digits", "lenet", "cifar10", "alexnet", "zfnet", "vgg")
             if (name, n, "cudnn_chain") in taken]
    said = "; ".join(f"{name} on {n} {'image' if n == 1 else 'images'}: {ratio:.2f}" for name, n, ratio in found)
    d = Drawing(760, 90 + 27 * len(found), "Networks beside cuDNN and cuBLAS",
                f"Time of a chain of cuDNN and cuBLAS over that of the planned network. {said}.")
    d.text(380, 28, "The chain of cuDNN and cuBLAS: its time / ours", 16, bold=True)
    left, scale = 330, 130
    x_of = lambda ratio: left + scale * math.log2(ratio)
    bottom = 52 + 27 * len(found)
    for ratio in (0.5, 1, 2, 4):
        d.line(x_of(ratio), 44, x_of(ratio), bottom, INK if ratio == 1 else PALE, 1.6 if ratio == 1 else 1)
        d.text(x_of(ratio), bottom + 16, f"{ratio:g}", 12, colour=GREY)
    for i, (name, n, ratio) in enumerate(found):
        y = 50 + 27 * i
        d.text(150, y + 15, f"{name}, {n} {'image' if n == 1 else 'images'}", 13, "end")
        begin, end = sorted((x_of(1), x_of(ratio)))
        d.rect(begin, y, end - begin, 19, "tile" if ratio >= 1 else "bad")
        d.text(max(end, x_of(1)) + 8, y + 15, f"{ratio:.2f}", 13, "start",
               colour=INK if ratio >= 1 else RED, bold=ratio < 1)
    d.text(380, bottom + 34, "NVIDIA H200. File: docs/results/bench_network.json", 11, colour=GREY)
    return d


def fused_network():
    layers = ["conv1", "pool1", "conv2", "pool2", "fc1", "fc2", "softmax"]
    maps = ["picture", "8x8x16", "4x4x16", "4x4x32", "2x2x32", "64", "10", "answer"]
    d = Drawing(940, 428, "Seven layers as seven launches, and as one",
                "Above: seven kernels, one for each layer. Each reads a map from global memory and "
                "writes the next one there. Below: one kernel. The picture and all filters come from "
                "global memory once; the maps between the layers are in shared memory, with a barrier "
                "between layers; the answer is written to global memory.")
    pitch, w, h = 112, 74, 36
    spots = [78 + i * pitch for i in range(8)]  # the middle of each map

    d.text(470, 32, "a kernel for each layer", 15, bold=True)
    top, memory = 52, 136
    d.rect(30, memory - 8, 880, h + 16, "plain", GREY, radius=6)
    for x, name in zip(spots, maps):
        d.rect(x - w / 2, memory, w, h, "read")
        d.text(x, memory + 23, name, 13, halo=True)
    for i, layer in enumerate(layers):
        x = (spots[i] + spots[i + 1]) / 2
        d.rect(x - w / 2, top, w, h, "pale", radius=6)
        d.text(x, top + 23, layer, 14, bold=True)
        d.line(spots[i] + 12, memory, x - 18, top + h + 3, BLUE, 2.2, arrow=True)
        d.line(x + 18, top + h, spots[i + 1] - 12, memory - 3, RED, 2.2, arrow=True)
    d.text(470, memory + h + 28, "global memory: every map is written once and read once", 12, colour=GREY)

    d.line(30, 220, 910, 220, GREY, 1, dashed=True)
    d.text(470, 246, "one kernel: a block for each image", 15, bold=True)
    top, tile, low = 262, 274, 370
    d.rect(134, top, 672, 78, "pale", radius=6)
    for x, name in zip(spots[1:7], maps[1:7]):
        d.rect(x - w / 2, tile, w, h, "tile")
        d.text(x, tile + 23, name, 13, halo=True)
    for here, there in zip(spots[1:6], spots[2:7]):
        d.line((here + there) / 2, tile - 4, (here + there) / 2, tile + h + 4, INK, 2)
    d.text(470, tile + h + 24, "maps in shared memory, a barrier between layers", 12, colour=GREY)
    d.rect(30, low - 8, 880, h + 16, "plain", GREY, radius=6)
    for x, width, name in ((spots[0], w, "picture"), (spots[1] + 30, 100, "all filters"), (spots[7], w, "answer")):
        d.rect(x - width / 2, low, width, h, "read")
        d.text(x, low + 23, name, 13, halo=True)
    d.line(spots[0] + 16, low, 146, top + 81, BLUE, 2.2, arrow=True)
    d.line(spots[1] + 30, low, spots[1] + 30, top + 81, BLUE, 2.2, arrow=True)
    d.line(794, top + 78, spots[7] - 16, low - 3, RED, 2.2, arrow=True)
    d.text(510, low + 23, "global memory: read once, written once", 12, colour=GREY)
    return d


FIGURES = {
    "fused_network": fused_network,
    "networks_against_cudnn": against_cudnn,
    "network_plan": network_plan,
    "plan_ways": plan_ways,
    "digit_answers": digit_answers,
}
