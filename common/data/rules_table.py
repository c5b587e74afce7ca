"""Makes a C++ file of the rules in common/data/rules, in the order given, as tables that need no reading when a program
starts.

    rules_table.py OUTPUT RULE.json..."""
import json
import pathlib
import sys


def text(value):
    return json.dumps(value)  # of such words the same in C++


def rows(values, row):
    return "".join(f"    {{{row(one)}}},\n" for one in values)


def table(number, rule):
    """The arrays of a rule, and what says where they are."""
    left_out = rule["left_out"]
    terms = [(name, value) for model in rule["models"] for name, value in model["microseconds"].items()]
    models, first = "", 0
    for model in rule["models"]:
        count = len(model["microseconds"])
        models += (f"    {{{text(model['variant'])}, {model['layers']}, {model['error']!r}, "
                   f"std::span(kTerms{number}).subspan({first}, {count})}},\n")
        first += count
    arrays = (f"constexpr RuleTerm kTerms{number}[] = {{\n{rows(terms, lambda one: f'{text(one[0])}, {one[1]!r}')}}};\n"
              f"constexpr RuleModel kModels{number}[] = {{\n{models}}};\n"
              + "".join(f"constexpr RuleLayer k_{name}{number}[] = {{\n"
                        # An array has an element at least.
                        f"{rows(rule[name] or [['', '', 0.0]], lambda one: f'{text(one[0])}, {text(one[1])}, {one[2]!r}')}}};\n"
                        for name in ("layers", "packing", "overlapping")))
    for name in ("also_for", "added"):
        words = ", ".join(text(one) for one in rule[name]) or '""'
        arrays += f"constexpr std::string_view k_{name}{number}[] = {{{words}}};\n"
    what = (f"    {{{text(rule['gpu'])}, std::span(k_also_for{number}).first({len(rule['also_for'])}), "
            f"{rule['multiprocessors']}, {text(rule['date'])},\n     {text(rule['command'])},\n"
            f"     {left_out['layers']}, {left_out['mean']!r}, {left_out['worst']!r}, {text(left_out['worst_layer'])},\n"
            f"     std::span(k_added{number}).first({len(rule['added'])}), kModels{number}, "
            f"k_layers{number},\n     std::span(k_packing{number}).first({len(rule['packing'])}), "
            f"std::span(k_overlapping{number}).first({len(rule['overlapping'])})}},\n")
    return arrays, what


def main():
    output, *files = sys.argv[1:]
    tables = [table(number, json.loads(pathlib.Path(file).read_text())) for number, file in enumerate(files)]
    pathlib.Path(output).write_text(
        "// Made from common/data/rules/*.json by common/data/rules_table.py: change those instead.\n"
        '#include "common/data/convolution_rules.hpp"\n\nnamespace halo::data {\n\nnamespace {\n\n'
        + "".join(arrays for arrays, _ in tables)
        + "constexpr RuleTable kRules[] = {\n" + "".join(what for _, what in tables) + "};\n\n"
        "}  // namespace\n\nstd::span<const RuleTable> convolution_rules() { return kRules; }\n\n}  // namespace halo::data\n")


main()
