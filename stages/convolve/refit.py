#!/usr/bin/env python3
"""Fits the rule by which `convolve` chooses a kernel to the kernels' times.

    build/stages/convolve/convolve-cuda measure --times times.json --out samples.json
    python3 stages/convolve/refit.py samples.json --out common/data/rules/h200.json

A sample is the time of one contender on one layer, with the terms of its cost model there (common/convolve/rule.hpp).
"""
import argparse
import json
import pathlib
import sys

import numpy as np

RULES = pathlib.Path(__file__).resolve().parents[2] / "common" / "data" / "rules"
FOLDS = 8
SLOWER = 1.02  # measured again and so many times as long is slower, and not only by chance


def least_squares(products, wanted):
    """For many problems at once the x, none negative, with the least x'Px - 2x'w. By one coefficient after the other,
    each the best with the others as they are; what is minimised is convex, so that ends at its least."""
    problems, n = wanted.shape
    found, settled = np.zeros((problems, n)), np.zeros(problems, dtype=bool)
    diagonal = np.einsum("pii->pi", products)
    for _ in range(20_000):
        moved = np.zeros(problems)
        for i in range(n):
            rest = wanted[:, i].copy()
            for j in range(n):
                if j != i:
                    rest -= products[:, i, j] * found[:, j]
            counts = (diagonal[:, i] > 0) & ~settled
            best = np.maximum(0.0, np.divide(rest, diagonal[:, i], out=np.zeros(problems), where=counts))
            # In shares of a time, so that the terms' units do not matter.
            moved = np.maximum(moved, np.where(counts, abs(best - found[:, i]) * np.sqrt(diagonal[:, i]), 0))
            found[:, i] = np.where(counts, best, found[:, i])
        settled |= moved < 1e-7
        if settled.all():
            break
    return found


def predicted(coefficients, terms):
    us = 0.0
    for coefficient, term in zip(coefficients, terms):
        us += coefficient * term
    return us


class Measurements:
    """All samples, contender by contender. Of a time that is there twice the lesser counts."""

    def __init__(self, data):
        self.tensor_cores = dict(data["contenders"])
        least = {}
        self.layers, self.single = [], {}  # labels in their order; that of one image
        for layer, single, contender, us, terms in data["samples"]:
            if contender not in self.tensor_cores or us <= 0:
                continue
            if layer not in self.single:
                self.layers.append(layer)
                self.single[layer] = single
            known = least.get((contender, layer))
            if known is None or us < known["us"]:
                least[contender, layer] = {"layer": layer, "us": us, "terms": terms}
        if not least:
            raise ValueError("no times of our contenders to fit a rule to")
        self.best, self.measured = {}, {}  # of a layer, without tensor cores: the best time, how many contenders
        for (contender, layer), sample in least.items():
            if not self.tensor_cores[contender]:
                self.measured[layer] = self.measured.get(layer, 0) + 1
                self.best[layer] = min(self.best.get(layer, float("inf")), sample["us"])
        self.samples = {name: [least[name, layer] for layer in self.layers if (name, layer) in least]
                        for name in self.tensor_cores}
        for samples in self.samples.values():
            for sample in samples:
                # Where it is far from the best nobody asks how far.
                share = min(1.0, self.best.get(sample["layer"], float("inf")) / sample["us"])
                sample["weight"] = share * share
        # Layers that differ in their images only are left out together.
        number = {single: at for at, single in enumerate(sorted(set(self.single.values())))}
        self.fold = {layer: number[self.single[layer]] % FOLDS for layer in self.layers}

    def fit(self):
        """Each contender's coefficients, none negative: those whose predictions are off by least, as shares of the
        times, the sum of (weight * (predicted / us - 1))^2. With all layers, then without those of each fold."""
        names = list(self.samples)
        n = len(next(one for samples in self.samples.values() for one in samples)["terms"])
        products, wanted = np.zeros((len(names), 1 + FOLDS, n, n)), np.zeros((len(names), 1 + FOLDS, n))
        for at, name in enumerate(names):
            for sample in self.samples[name]:
                used = [0] + [1 + fold for fold in range(FOLDS) if fold != self.fold[sample["layer"]]]
                scale = sample["weight"] / sample["us"]
                scaled = scale * np.array(sample["terms"], dtype=float)
                wanted[at, used] += scaled * sample["weight"]
                products[at, used] += (scaled * scale)[:, None] * np.array(sample["terms"], dtype=float)[None, :]
        found = least_squares(products.reshape(-1, n, n), wanted.reshape(-1, n)).reshape(len(names), 1 + FOLDS, n)
        return dict(zip(names, found.tolist()))

    def judge_left_out(self, coefficients):
        """What choosing by models alone costs on layers they are not fitted to."""
        judged = {"layers": 0, "mean": 0.0, "worst": 0.0, "worst_layer": ""}
        if len(set(self.single.values())) < 2:
            return judged
        chosen = {}  # of a layer: predicted and true
        for name, its in coefficients.items():
            for sample in self.samples[name]:
                layer = sample["layer"]
                by_others = its[1 + self.fold[layer]]
                if not self.tensor_cores[name] and any(by_others):
                    one = (predicted(by_others, sample["terms"]), sample["us"])
                    chosen[layer] = min(chosen.get(layer, one), one)
        for fold in range(FOLDS):
            for layer in self.layers:
                if self.fold[layer] != fold or layer not in chosen or self.measured[layer] < 2:
                    continue
                loss = chosen[layer][1] / self.best[layer] - 1
                judged["layers"] += 1
                judged["mean"] += loss
                if loss > judged["worst"]:
                    judged["worst"], judged["worst_layer"] = loss, layer
        if judged["layers"]:
            judged["mean"] /= judged["layers"]
        return judged


def fastest(all_):
    """Of each layer the fastest without tensor cores, and one with them if that was faster still."""
    times = {(name, one["layer"]): one["us"] for name, samples in all_.samples.items() for one in samples}
    layers = []
    for layer in all_.layers:
        if all_.measured.get(layer, 0) < 2:
            continue  # nobody knows who is fastest
        best = float("inf")
        for tensor_cores in (False, True):
            winner = None
            for name, cores in all_.tensor_cores.items():
                us = times.get((name, layer))
                if cores == tensor_cores and us is not None and us < best:
                    best, winner = us, name
            if winner is not None:
                layers.append([layer, winner, best])
    return layers


def fit(data):
    """The rule for these samples, which are of one GPU."""
    all_ = Measurements(data)
    coefficients = all_.fit()
    models = []
    for name, samples in all_.samples.items():
        if not samples:
            continue
        its = coefficients[name][0]
        errors = sorted(abs(predicted(its, one["terms"]) / one["us"] - 1) for one in samples)
        models.append({"variant": name, "microseconds": dict(zip(data["terms"], its)),
                       "layers": len(samples), "error": errors[len(errors) // 2]})
    return {"gpu": data["gpu"], "also_for": [], "multiprocessors": data["multiprocessors"], "date": data["date"],
            "command": data["command"], "left_out": all_.judge_left_out(coefficients),
            "added": [], "models": models, "layers": fastest(all_), "packing": [], "overlapping": []}


def best_of(rule, layer, contenders):
    """The entry of the fastest of these on a measured layer; None if there is none."""
    return min((one for one in rule["layers"] if one[0] == layer and one[1] in contenders),
               key=lambda one: one[2], default=None)


def offer(rule, layer, contender, us, tensor_cores):
    """The layer's fastest becomes this one, if it is faster: without tensor cores; with them it is another entry."""
    overall = best_of(rule, layer, tensor_cores)
    if tensor_cores[contender] and overall is not None and overall[2] <= us:
        return
    best = best_of(rule, layer, [name for name in tensor_cores if tensor_cores[name] == tensor_cores[contender]])
    if best is None:
        rule["layers"].append([layer, contender, us])
    elif us < best[2]:
        best[:] = [layer, contender, us]


def add(rule, data, contenders):
    """Adds contenders to the rule, or puts them in the place of what they were: their models, and the measured layers on
    which one of them is the fastest now. Layers on which one was, and all of them are slower by over 2 % now, are
    forgotten: models choose there."""
    tensor_cores = dict(data["contenders"])
    of_layer = {}
    for contender in contenders:
        its = [one for one in data["samples"] if one[2] == contender]
        if not its:
            raise ValueError(f"--add: there are no times of a contender {contender}")
        rule["models"] = [one for one in rule["models"] if one["variant"] != contender]
        rule["models"] += fit({**data, "samples": its})["models"]
        rule["added"] = [one for one in rule["added"] if one != contender] + [contender]
        for layer, _, _, us, _ in its:
            of_layer.setdefault(layer, []).append((us, contender))
    for layer, times in of_layer.items():
        if best_of(rule, layer, tensor_cores) is None:
            continue  # it was never measured
        for kind in (False, True):
            us, fastest = min((one for one in times if tensor_cores[one[1]] == kind), default=(None, None))
            own = best_of(rule, layer, [name for name in contenders if tensor_cores[name] == kind])
            # Nobody knows who is the fastest. On tensor cores it stays: without an entry the layer is the others'.
            if own is not None and us > SLOWER * own[2] and not kind:
                rule["layers"].remove(own)
            elif own is not None:
                own[:] = [layer, fastest, us]
            elif fastest is not None:
                offer(rule, layer, fastest, us, tensor_cores)


def refine(rule, data):
    """Keeps the fastest of several contenders on these layers; the models stay."""
    all_ = Measurements(data)
    for layer in all_.layers:
        if all_.measured.get(layer, 0) < 2:
            raise ValueError(f"{layer}: one contender alone says nothing of which is the fastest")
    rule["layers"] = [one for one in rule["layers"] if one[0] not in all_.single]
    for layer, _, contender, us, _ in data["samples"]:
        offer(rule, layer, contender, us, all_.tensor_cores)


def note_others(rule, calls, data):
    """From times of calls that pack, or that overlap: of measured layers those on which others are the fastest then."""
    all_ = Measurements(data)
    times = {(name, one["layer"]): one["us"] for name, samples in all_.samples.items() for one in samples}
    rule[calls] = [one for one in rule[calls] if one[0] not in all_.single]
    now = fastest(all_)
    for layer in all_.layers:
        known = [one[1] for one in rule["layers"] if one[0] == layer]
        its = [one for one in now if one[0] == layer]

        def is_beaten(name, by):
            same = all_.tensor_cores.get(name) == all_.tensor_cores[by[1]]
            return same and times.get((name, layer), float("inf")) > SLOWER * by[2]
        if known and (len(its) != len(known) or any(is_beaten(name, one) for name in known for one in its)):
            rule[calls] += its


def to_text(rule):
    """A model and a layer a line, figures with six digits."""
    def six(value):
        return float(f"{value:.6g}")

    def line(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def listed(values):
        return "[" + ",".join("\n" + line(value) for value in values) + "\n]"

    left_out = {**rule["left_out"], "mean": six(rule["left_out"]["mean"]), "worst": six(rule["left_out"]["worst"])}
    models = [{**model, "microseconds": {term: six(us) for term, us in model["microseconds"].items() if us > 0},
               "error": six(model["error"])} for model in rule["models"]]
    times = [f'"{key}": ' + listed([[layer, variant, six(us)] for layer, variant, us in rule[key]])
             for key in ("layers", "packing", "overlapping")]
    head = {key: rule[key] for key in ("gpu", "also_for", "multiprocessors", "date", "command")}
    lines = [f'"{key}": {line(value)}' for key, value in [*head.items(), ("left_out", left_out),
                                                                ("added", rule["added"])]]
    return "{\n" + ",\n".join([*lines, f'"models": {listed(models)}', *times]) + "\n}\n"


def known_rule(gpu, folder=RULES):
    for path in sorted(folder.glob("*.json")):
        rule = json.loads(path.read_text(encoding="utf-8"))
        if rule["gpu"] == gpu:
            return rule
    raise ValueError(f"there is no rule for {gpu} yet")


def table(rule):
    lines = [f"{'contender':28} {'layers':>7}  off by, in the middle"]
    lines += [f"{one['variant']:28} {one['layers']:7}  {one['error']:.1%}" for one in rule["models"]]
    left = rule["left_out"]
    worst = f" ({left['worst_layer']})" if left["worst_layer"] else ""
    return "\n".join(lines + [
        f"{len(rule['layers'])} layers were measured with several contenders.",
        f"Chosen by models alone, on {left['layers']} layers they were not fitted to: {left['mean']:.1%} over the best "
        f"in the mean, {left['worst']:.1%} at worst{worst}."])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("samples", help="what `convolve-cuda measure --out` wrote")
    parser.add_argument("--out", required=True, help="where the rule is written")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--add", metavar="CONTENDER[,CONTENDER]",
                     help="add these to the rule that there is for this GPU, or put them in the place of what "
                          "they were")
    how.add_argument("--refine", action="store_true",
                     help="keep the fastest of each of these layers in the rule that there is; its models stay")
    how.add_argument("--packing", action="store_true",
                     help="the times are with packing: note who is the fastest then, where it is another")
    how.add_argument("--overlapping", action="store_true", help="the same of calls that overlap")
    options = parser.parse_args(arguments)
    try:
        data = json.loads(pathlib.Path(options.samples).read_text(encoding="utf-8"))
        calls = "packing" if options.packing else "overlapping" if options.overlapping else None
        if options.add is None and not options.refine and calls is None:
            rule = fit(data)
        else:
            rule = known_rule(data["gpu"])
            if options.refine:
                refine(rule, data)
            elif calls is not None:
                note_others(rule, calls, data)
            else:
                add(rule, data, options.add.split(","))
            # One that was given before says nothing new.
            rule["command"] = "; ".join(dict.fromkeys([*rule["command"].split("; "), data["command"]]))
            rule["date"] = max(rule["date"], data["date"])
        pathlib.Path(options.out).write_text(to_text(rule), encoding="utf-8")
    except (OSError, ValueError, KeyError) as error:
        print(f"refit: {error}", file=sys.stderr)
        return 2
    print(table(rule))
    return 0


if __name__ == "__main__":
    sys.exit(main())
