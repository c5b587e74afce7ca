"""The site's page with every measured kernel under the roofs of its GPU, from the results in docs/results."""

import csv
import html
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 1000, 620, 64, 984, 16, 560
OCTAVES = (-3, 11)  # of flop per byte
DECADES = (-2.3, 2.8)  # of TFLOP/s
FAMILIES = {"02": "conv1d", "03": "conv1d", "04": "conv1d", "05": "conv1d", "11": "pooling", "12": "softmax", "13": "network"}


def measured(root):
    """Of each kernel on the GPU the row of its highest speed, [{stage, variant, role, flop_per_byte, tflop_per_s, problem, file}], and
    the roofs, (GPU, GB/s, GFLOP/s)."""
    sys.path[:0] = [str(root / "docs" / "results"), str(root / "docs")]
    from check_docs import problem_name
    from read_results import read_results
    best, roofs = {}, None
    for file in sorted((root / "docs" / "results").glob("*.json")):
        if not file.name.startswith(("bench_", "convolve_")):
            continue
        results = read_results(file)
        its = results["machine"].get("roofs", {}).get("gpu")
        if not its:
            continue
        roofs = roofs or (results["machine"]["gpu"], its["copy_gb_per_s"], its["fp32_gflop_per_s"])
        if results["machine"]["gpu"] != roofs[0]:
            continue  # one GPU's roofs are drawn: the first's
        for row in results["rows"]:
            time = row.get("time", {})
            if row["backend"] != "gpu" or row.get("role") == "beside" or not time.get("gflop_per_s") or not time.get("gb_per_s"):
                continue
            key = row["stage"], row["variant"]
            if key not in best or time["gflop_per_s"] > best[key]["tflop_per_s"] * 1000:
                best[key] = {"stage": row["stage"], "variant": row["variant"], "role": row.get("role"), "file": file,
                             "flop_per_byte": time["gflop_per_s"] / time["gb_per_s"], "tflop_per_s": time["gflop_per_s"] / 1000,
                             "problem": problem_name(row)}
    return sorted(best.values(), key=lambda one: (one["role"] != "variant", one["stage"], one["variant"])), roofs


def page_of(root, kernel):
    """The page that tells of a kernel, without .md: the stage's, or its tuned one where only that names it. None: a peer."""
    if kernel["role"] != "variant":
        return None
    with open(root / "stages" / "course.csv", encoding="utf-8") as file:
        pages = {row["stage"]: row["page"] for row in csv.DictReader(line for line in file if not line.startswith("#"))}
    page = pages.get(kernel["stage"], kernel["stage"])
    both = [name for name in (page, f"{page[:2]}_tuned") if (root / "docs" / f"{name}.md").is_file()]
    naming = [name for name in both if f"`{kernel['variant']}`" in (root / "docs" / f"{name}.md").read_text(encoding="utf-8")]
    return (naming or both)[0]


def figure(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def drawing(kernels, roofs):
    gpu, bandwidth, peak = roofs[0], roofs[1] / 1000, roofs[2] / 1000

    def x(intensity):
        return LEFT + (math.log2(intensity) - OCTAVES[0]) / (OCTAVES[1] - OCTAVES[0]) * (RIGHT - LEFT)

    def y(speed):
        return BOTTOM - (math.log10(speed) - DECADES[0]) / (DECADES[1] - DECADES[0]) * (BOTTOM - TOP)

    parts = []
    for octave in range(OCTAVES[0], OCTAVES[1] + 1):
        at = x(2.0 ** octave)
        name = f"1/{2 ** -octave}" if octave < 0 else str(2 ** octave)
        parts.append(f'<line class="grid" x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{BOTTOM}"/>'
                     f'<text x="{at:.1f}" y="{BOTTOM + 18}" text-anchor="middle">{name}</text>')
    for decade in range(math.ceil(DECADES[0]), math.floor(DECADES[1]) + 1):
        at = y(10.0 ** decade)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{at:.1f}" x2="{RIGHT}" y2="{at:.1f}"/>'
                     f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0 ** decade:g}</text>')
    ridge, least = peak / bandwidth, 2.0 ** OCTAVES[0]
    parts.append(f'<polyline class="roof" points="{x(least):.1f},{y(least * bandwidth):.1f} {x(ridge):.1f},{y(peak):.1f} '
                 f'{RIGHT},{y(peak):.1f}"/>')
    parts.append(f'<text x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 16}" text-anchor="middle">arithmetic intensity, flop per byte</text>')
    parts.append(f'<text transform="translate(14 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">TFLOP/s</text>')
    for kernel in kernels:
        stage = kernel["stage"]
        mark = stage[:2] if stage[:2].isdigit() else stage[0].upper()
        family = "peer" if not kernel["page"] else FAMILIES.get(mark, "conv2d")
        said = html.escape(f"{stage}, {kernel['variant']}: {figure(kernel['tflop_per_s'])} TFLOP/s at "
                           f"{figure(kernel['flop_per_byte'])} flop per byte ({kernel['problem']})")
        at = f"{x(kernel['flop_per_byte']):.1f}", f"{y(kernel['tflop_per_s']):.1f}"
        point = (f'<g class="point {family}" data-stage="{html.escape(stage)}"><title>{said}</title>'
                 f'<circle cx="{at[0]}" cy="{at[1]}" r="8"/><text x="{at[0]}" y="{float(at[1]) + 3.5:.1f}" text-anchor="middle">'
                 f'{mark}</text></g>')
        parts.append(f'<a href="../{kernel["page"]}.html">{point}</a>' if kernel["page"] else point)
    return (f'<div class="roofline"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Every measured kernel under the roofs '
            f'of an {html.escape(gpu)}; the table below has the same">{"".join(parts)}</svg></div>')


def roofline(root):
    """The page, in Markdown."""
    kernels, roofs = measured(root)
    for kernel in kernels:
        kernel["page"] = page_of(root, kernel)
    rows = []
    for kernel in kernels:
        limit = min(roofs[2], kernel["flop_per_byte"] * roofs[1]) / 1000
        name = f"`{kernel['variant']}`"
        rows.append(f"| {kernel['stage']} | {'[' + name + '](../' + kernel['page'] + '.md)' if kernel['page'] else name} | {kernel['problem']} "
                    f"| {figure(kernel['flop_per_byte'])} | {figure(kernel['tflop_per_s'])} | {kernel['tflop_per_s'] / limit:.0%} |".replace("%", " %"))
    return "\n".join([
        "# Every kernel under the roofs", "",
        f"Each point is a kernel that was measured on an {roofs[0]}, at its fastest problem; it leads to its page. The roofs are "
        f"a copy of {roofs[1]:,.0f} GB/s and {roofs[2] / 1000:.1f} TFLOP/s of multiply-adds, measured too. Bytes and operations are those "
        "that the problem needs: above the slope the L2 cache delivers, above the flat roof a method multiplies less often. Layout "
        "transforms compute nothing, and have no point. The number is the stage's, C is the dispatcher, hollow points are libraries.", "",
        drawing(kernels, roofs), "",
        "| stage | kernel | fastest problem | flop/byte | TFLOP/s | of the roof |", "|---|---|---|---:|---:|---:|", *rows]) + "\n"
