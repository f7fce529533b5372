#!/usr/bin/env python3
# Makes the table of tests/bench/leaktrend from what its boots have printed, and
# says which targets are met. Exit status: 0 all are, 1 some are not, 2 usage.

import os
import re
import sys

# What each row of the table is: (name of the boot, description).
BOOTS = [
    ("unpatched", "unpatched"),
    ("n", "CONFIG_LEAKTREND=n"),
    ("off", "built in, off"),
    ("standby", "leaktrend=standby"),
    ("on", "leaktrend=on"),
    ("rate100", "on, rate 100, no governor"),
    ("rate1", "on, rate 1, no governor"),
    ("peers", "all peers built in, off"),
    ("page_owner", "  page_owner=on"),
    ("page_owner+on", "  page_owner=on leaktrend=on"),
    ("profiling", "  allocation profiling"),
    ("kmemleak", "  kmemleak=on"),
    ("slab_debug", "unpatched, slab_debug=U"),
]
ALLOCATOR = ["kmalloc-64", "cache-64", "bulk-16", "kmalloc-16k", "page-0", "page-9",
             "pages-bulk-16", "fill-drain-512", "remote-free", "kfree_rcu"]
WORK = ["fork-exec", "tmpfs-file", "unix-ping-pong", "tcp-ping-pong", "pipe-ping-pong",
        "mmap-faults-256", "module-load"]


class Boot:
    """What one boot has printed."""

    def __init__(self, path):
        self.least = {}
        self.mean = {}
        self.notes = []
        self.status = {}
        with open(path, encoding="utf-8") as f:
            for line in f:
                self.take(line.strip())

    def take(self, line):
        if line.startswith("note="):
            self.notes.append(line[5:])
        elif line.startswith("status="):
            name, _, value = line[7:].partition(" ")
            self.status[name] = value
        elif m := re.match(r"row=(\S+) (?:depth=(\d+) )?min=([\d.]+) mean=([\d.]+)", line):
            key = (m[1], int(m[2] or 0))
            self.least[key] = float(m[3])
            self.mean[key] = float(m[4])


def words(line):
    """name=value words of a line."""
    return dict(w.split("=", 1) for w in line.split() if "=" in w)


def number(value):
    return "-" if value is None else f"{value:.0f}" if value >= 100000 else f"{value:.1f}"


def table(title, boots, rows, get, show, first=None):
    """A line per boot, a column per row. get(boot, row) may be None."""
    print(f"\n## {title}\n")
    width = [max(len(r), 9) for r in rows]
    print(f"{first or '':28}" + "".join(f" {r:>{w}}" for r, w in zip(rows, width)))
    for name, text in BOOTS:
        if name in boots:
            cells = [show(get(name, r)) for r in rows]
            print(f"{text:28}" + "".join(f" {c:>{w}}" for c, w in zip(cells, width)))


def print_tables(boots):
    def mean(depth):
        return lambda b, r: boots[b].mean.get((r, depth))

    def least(b, r):
        return boots[b].least.get((r, 0))

    def ratio_of(what):
        def get(b, r):
            value, base = what(b, r), what("unpatched", r)
            return value / base if value is not None and base else None
        return get

    def ratio(value):
        return "-" if value is None else f"{value:.3f}"

    for depth in 0, 8:
        table(f"Instructions per allocation and free, mean, {depth} calls further down", boots,
              ALLOCATOR, mean(depth), number)
        table("The same in relation to unpatched", boots, ALLOCATOR, ratio_of(mean(depth)), ratio)
    table("Instructions per allocation and free when nothing is sampled: the least batch", boots,
          [r for r in ALLOCATOR if r != "kfree_rcu"], least, number)
    # To load a module is to wait for a grace period now and then: that is time.
    table("Instructions of common work, mean (module-load: and waiting)", boots, WORK, mean(0),
          number)
    table("The same in relation to unpatched", boots, WORK, ratio_of(mean(0)), ratio)
    table("The same in relation to unpatched, the least batch", boots, WORK, ratio_of(least), ratio)


def print_sizes(directory):
    print("\n## Text and data\n")
    print(f"{'':28} {'text':>10} {'data':>10} {'bss':>10}")
    for line in open(os.path.join(directory, "size.out"), encoding="utf-8"):
        kind, name, *rest = line.split()
        if kind == "kernel":
            print(f"{'vmlinux, ' + name:28}" + "".join(f" {v:>10}" for v in rest[:3]))
        elif kind == "files":
            print(f"{'objects of ' + name:28}" + "".join(f" {v:>10}" for v in rest[:3]))
        else:
            print(f"bloat-o-meter, unpatched to {name}: {' '.join(rest)}")


def print_scale(directory):
    path = os.path.join(directory, "scale.out")
    if not os.path.exists(path):
        return
    print("\n## Instructions for a round, and to read a file, by the number of sites and samples\n")
    steps = []
    for line in open(path, encoding="utf-8"):
        w = words(line)
        if "scale" in w:
            steps.append({"#sites": w["sites"], "#samples": w["samples"], "memory": w["memory"]})
        elif "write" in w:
            steps[-1]["round"] = w["cycles"]
        elif "file" in w:
            steps[-1][w["file"]] = w["cycles"]
    columns = ["#sites", "#samples", "memory", "round", "status", "sites", "trends", "suspects",
               "objects"]
    print("".join(f" {c:>11}" for c in columns))
    for step in steps:
        print("".join(f" {step.get(c, '-'):>11}" for c in columns))


class Targets:
    """Prints a line for each and remembers whether one was missed."""

    def __init__(self, boots):
        self.boots = boots
        self.missed = 0

    def value(self, boot, row, depth, least=False):
        b = self.boots.get(boot)
        return b and (b.least if least else b.mean).get((row, depth))

    def say(self, what, value, limit, form="{:.3f}"):
        if value is None:
            self.missed += 1
            print(f"MISSING {what}: was not measured")
        elif value <= limit:
            print(f"pass    {what}: {form.format(value)}, at most {form.format(limit)}")
        else:
            self.missed += 1
            print(f"MISSED  {what}: {form.format(value)}, at most {form.format(limit)}, "
                  f"over by {form.format(value - limit)}")

    def ratio(self, boot, base, row, limit, depth):
        value, of = self.value(boot, row, depth), self.value(base, row, depth)
        self.say(f"{boot} / {base}, {row}, depth {depth}",
                 value / of if value is not None and of else None, limit)


def check_code(directory, targets):
    differ = {}
    objects = functions = 0
    for line in open(os.path.join(directory, "code.out"), encoding="utf-8"):
        m = re.match(r"code (\S+) functions=(\d+) differ=(.*) added=(.*)", line)
        if not m:
            continue
        objects += 1
        functions += int(m[2])
        if m[3] != "none":
            differ[m[1]] = m[3]
        if m[4] != "none":
            print(f"        only in the patched {m[1]}: {m[4]}")
    for name, which in differ.items():
        print(f"        differs: {name}: {which}")
    targets.say(f"objects that differ with CONFIG_LEAKTREND=n, of {objects} with "
                f"{functions} functions", len(differ), 0, "{}")


def check_targets(directory, boots):
    print("\n## Targets\n")
    t = Targets(boots)
    check_code(directory, t)

    for row, limit in ("kmalloc-64", 2), ("cache-64", 2), ("page-0", 1), ("page-9", 1):
        value, base = t.value("off", row, 0, True), t.value("unpatched", row, 0, True)
        t.say(f"off - unpatched, instructions a pair, {row}",
              None if value is None or base is None else value - base, limit, "{:.2f}")
    for depth in 0, 8:
        for row in "kmalloc-64", "cache-64", "bulk-16":
            t.ratio("on", "unpatched", row, 1.08, depth)
        for row in "kmalloc-16k", "page-0":
            t.ratio("on", "unpatched", row, 1.03, depth)
    for row in WORK:
        t.ratio("on", "unpatched", row, 1.01, 0)
    for depth in 0, 8:
        t.ratio("rate100", "unpatched", "kmalloc-64", 1.75, depth)
        for row in "kmalloc-64", "cache-64", "bulk-16":
            t.ratio("rate1", "slab_debug", row, 0.6, depth)
        for row in "kmalloc-16k", "page-0", "page-9":
            t.ratio("page_owner+on", "page_owner", row, 1.03, depth)
        pair, base = t.value("rate1", "kmalloc-64", depth), t.value("off", "kmalloc-64", depth)
        bare = t.value("rate1", "bare-stack", depth)
        t.say(f"a sample / stack_trace_save() and stack_depot_save(), depth {depth}",
              (pair - base) / bare if pair and base and bare else None, 1.15)
    return t.missed


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print("usage: table.py DIRECTORY", file=sys.stderr)
        return 2
    directory = sys.argv[1]
    boots = {}
    for name, _ in BOOTS:
        path = os.path.join(directory, name + ".out")
        if os.path.exists(path):
            boots[name] = Boot(path)
    if "unpatched" not in boots:
        print(f"table.py: {directory} has no unpatched.out: boot it first", file=sys.stderr)
        return 2
    for name, boot in boots.items():
        for note in boot.notes:
            print(f"# {name}: {note}")
    print_tables(boots)
    if "on" in boots and "effective_rate" in boots["on"].status:
        print("\nAt the end of the boot with leaktrend=on: "
              f"effective_rate {boots['on'].status['effective_rate']}")
    print_sizes(directory)
    print_scale(directory)
    return 1 if check_targets(directory, boots) else 0


if __name__ == "__main__":
    sys.exit(main())
