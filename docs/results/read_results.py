"""Reads what `--json` wrote, for the scripts of the pages and of the tests."""

import json
import pathlib


def read_results(path):
    """The file's object, each of its rows whole: with what all rows of its variant say alike, which the file says once
    (common/report/compact_rows.hpp). A file without such rows comes as it is."""
    results = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    shared = {variant_of(variant): variant for variant in results.pop("variants", ())}
    if shared:
        results["rows"] = [whole(row, shared.get(variant_of(row), {})) for row in results["rows"]]
    return results


def variant_of(row):
    return row["stage"], row["backend"], row["variant"]


def whole(row, shared):
    parts = {name: {**shared[name], **part} for name, part in row.items()
             if isinstance(part, dict) and isinstance(shared.get(name), dict)}
    return {**shared, **row, **parts}
