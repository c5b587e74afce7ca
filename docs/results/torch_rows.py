#!/usr/bin/env python3
"""Adds PyTorch's times to a results file of softmax, pooling or changes of layout, on the machine that has just written it.

    docs/results/torch_rows.py results.json

The file's problems are computed by PyTorch as it stands (`torch`) and by what torch.compile makes of the same line
(`torch_compile`, mode max-autotune-no-cudagraphs), and become rows beside the others, of the role peer. A time is taken as
the benchmark takes it: a CUDA graph of so many calls that it runs for a millisecond, in nine rounds, of which the median
counts. Only hot caches. What comes out is compared with the same line in double precision.

Exit status: 0 good, 1 a result is wrong, 77 no PyTorch or no GPU.
"""

import json
import pathlib
import statistics
import sys

ROUNDS = 9
ROUND_MS = 1.0
NOT_HERE = {"status": "NOT RUN", "reason": "counted and searched in the simulator only"}

try:
    import torch
    import torch.nn.functional as functional
except ImportError:
    print("torch_rows: NOT RUN: PyTorch is not installed", file=sys.stderr)
    sys.exit(77)


def line_of(problem):
    """(shape of the input, what computes the output) of a problem."""
    p = problem
    if "from" in p:
        rows, columns = (p["C"] * p["H"] * p["W"], p["N"]) if p["from"] == "chwn" else (p["N"], p["C"] * p["H"] * p["W"])
        return (rows, columns), lambda x: x.t().contiguous()
    if "kind" in p:
        kind = functional.max_pool2d if p["kind"] == "max" else functional.avg_pool2d
        window = {"kernel_size": (p["R"], p["S"]), "stride": p["stride"], "padding": p["padding"],
                  "ceil_mode": p["rounding"] == "ceil"}
        return (p["N"], p["C"], p["H"], p["W"]), lambda x: kind(x, **window)
    if set(p) == {"N", "C"}:
        return (p["N"], p["C"]), lambda x: torch.softmax(x, dim=1)
    raise SystemExit(f"torch_rows: a problem of {', '.join(p)} is not one of softmax, pooling or layouts")


def milliseconds(compute, x):
    """Of each round, for one call, and the calls of a round."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            compute(x)
    torch.cuda.synchronize()

    def graph_of(calls):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                compute(x)
        return graph

    def run(graph):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)

    once = graph_of(1)
    run(once)
    calls = max(1, min(1000, int(ROUND_MS / max(run(once), 1e-3)) * 2))
    graph = graph_of(calls)
    run(graph)
    return [run(graph) / calls for _ in range(ROUNDS)], calls


def time_of(rounds, calls, megabytes):
    ordered = sorted(rounds)
    median = statistics.median(ordered)
    return {"status": "MEASURED", "method": f"graph of {calls} calls",
            "hot": {"rounds": len(rounds), "median_ms": median, "p10_ms": ordered[0], "p90_ms": ordered[-1]},
            "gb_per_s": megabytes / median}


def text_of(results):
    """As the benchmark writes it: a line for each variant and each row."""
    parts = []
    for key, value in results.items():
        if key in ("variants", "rows"):
            lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in value)
            parts.append(f' "{key}": [\n{lines}\n ]')
        else:
            parts.append(f' "{key}": ' + json.dumps(value, indent=1).replace("\n", "\n "))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not torch.cuda.is_available():
        print("torch_rows: NOT RUN: PyTorch finds no GPU", file=sys.stderr)
        return 77
    file = pathlib.Path(sys.argv[1])
    results = json.loads(file.read_text())
    results["machine"].setdefault("libraries", {})["PyTorch"] = torch.__version__
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    problems, megabytes = {}, {}
    for row in results["rows"]:
        problems.setdefault(row["label"], row["problem"])
        if "gb_per_s" in row.get("time", {}):  # of the same bytes
            megabytes[row["label"]] = row["time"]["gb_per_s"] * row["time"]["hot"]["median_ms"]
    status = 0
    for label, problem in problems.items():
        shape, compute = line_of(problem)
        torch.manual_seed(1)
        x = torch.randn(shape, device="cuda")
        expected = compute(x[:1024].double()) if "from" not in problem else compute(x).double()
        torch._dynamo.reset()
        compiled = torch.compile(compute, mode="max-autotune-no-cudagraphs", dynamic=False)
        for name, its in (("torch", compute), ("torch_compile", compiled)):
            found = its(x)
            found = found[:1024] if "from" not in problem else found
            worst = float((found.double() - expected).abs().max())
            status |= worst > 1e-6
            rounds, calls = milliseconds(its, x)
            results["rows"].append({
                "stage": "peers", "backend": "gpu", "variant": name, "source": "docs/results/torch_rows.py",
                "description": "PyTorch's operation" if name == "torch" else "what torch.compile makes of it",
                "detail": f"PyTorch {torch.__version__}; at most {worst:.1e} from the same in double", "role": "peer",
                "problem": problem, "label": label, "check": {"status": "NOT RUN", "reason": "only timed"},
                "hazards": NOT_HERE, "traffic": NOT_HERE, "time": time_of(rounds, calls, megabytes[label])})
            print(f"{label:20} {name:14} {statistics.median(rounds) * 1e3:10.2f} us, off by {worst:.1e}", flush=True)
    file.write_text(text_of(results))
    return status


if __name__ == "__main__":
    sys.exit(main())
