#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges what tests/guest/quality.sh has brought home from its runs.

For each detector it says which scenarios were found and what was accused that
is no leak. A leak is found when a LIKELY_LEAK (or ORPHANED) names the function
that loses the memory; whatever else gets such a verdict is a false alarm.

Of the other detectors a verdict is what grew by min_bytes between a snapshot
before and one after, that being what a person would look at, and of kmemleak
what it reported two objects of or more. What is on leaktrend's ignore list is
passed over in their case, too.
"""
import argparse
import collections
import os
import re
import sys

# Which negative a false alarm belongs to, by what is in the stack; the first
# that fits. What no scenario brings about is "other".
NEGATIVES = [
    ("N11", r"^(leaktrend|lt)_"),
    ("N10", r"^(scn_tables|load_module)$"),
    ("N12", r"ring_buffer|^rb_|^tracing_|printk"),
    ("N6", r"^(xas_|shmem_|xa_)"),
    ("N1", r"^(proc_pid_|proc_lookup|proc_pident|proc_fill|d_alloc_parallel|proc_sys_lookup|getdents|iterate_dir)"),
    ("N9", r"^(copy_process|kernel_clone|do_sys_open|do_filp_open|bprm_execve|exec_binprm|vm_mmap_pgoff|path_openat|seq_open)"),
    ("N8", r"^(start_kernel|kernel_init|do_one_initcall)"),
]
NEGATIVE_NAMES = {
    "N1": "tree walk", "N2": "ramp", "N3": "burst", "N4": "sawtooth, flat floor",
    "N5": "sparse slabs", "N6": "page cache", "N7": "kfree_rcu backlog",
    "N8": "boot-time pools", "N9": "fork storm", "N10": "module tables",
    "N11": "the tracker itself", "N12": "trace and log buffers",
    "innocent": "innocent neighbours", "other": "anything else",
}
INNOCENT = {"scn_innocent", "scn_neighbour"}
PEERS = ["kmemleak", "slub_debug", "allocinfo", "page_owner"]


def read_ignored():
    path = os.path.join(os.path.dirname(__file__), "../tools/mm/leaktrend/ignore.list")
    with open(path) as f:
        return {line.split()[0] for line in f if line.strip() and not line.startswith("#")}


IGNORED = read_ignored()


class Scenario:
    def __init__(self, line):
        (self.id, self.name, self.function, _, _, lost, size,
         first) = (line.split() + ["0", "0"])[:8]
        self.lost, self.bytes, self.first_ms = int(lost), int(size), int(first)
        self.leak = not self.id.startswith("N")


def read_run(directory):
    with open(f"{directory}/run") as f:
        return {key: int(value) for key, value in
                (field.split("=") for field in f.read().split())}


def read_truth(directory):
    with open(f"{directory}/truth") as f:
        return [Scenario(line) for line in f if not line.startswith("#")]


def read_dumps(path):
    """Yields (round, ms, [block]) for each time that a file was read."""
    header = None
    blocks = []
    block = None
    with open(path, errors="replace") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("=== "):
                if header:
                    yield (*header, blocks)
                header = tuple(int(x) for x in line.split()[1:3])
                blocks = []
                block = None
            elif line.startswith("site #"):
                block = {"head": line, "stack": []}
                blocks.append(block)
            elif line.startswith(" ") and block is not None:
                block["stack"].append(re.split(r"[+ ]", line.strip())[0])
            elif ":" in line and block is not None:
                key, value = line.split(":", 1)
                block[key.strip()] = value.strip()
    if header:
        yield (*header, blocks)


def label(stack, leaks, others):
    """Whose this stack is: (True, id) of a leak, (False, id) of what is none."""
    for function in stack:
        if function in INNOCENT:
            return False, "innocent"
    for function in stack:
        if function in leaks:
            return True, leaks[function]
    for function in stack:
        if function in others:
            return False, others[function]
    for name, pattern in NEGATIVES:
        if any(re.search(pattern, function) for function in stack):
            return False, name
    return False, "other"


class Verdicts:
    """The first round in which each scenario was accused."""

    def __init__(self, scenarios):
        self.leaks = {s.function: s.id for s in scenarios if s.leak}
        self.others = {s.function: s.id for s in scenarios if not s.leak}
        self.found = {}
        self.alarms = collections.OrderedDict()

    def accuse(self, round_nr, stack):
        is_leak, name = label(stack, self.leaks, self.others)
        if is_leak:
            self.found.setdefault(name, round_nr)
        else:
            key = (name, " < ".join(stack[:12]))
            self.alarms.setdefault(key, round_nr)


def leaktrend(run):
    verdicts = Verdicts(run.scenarios)
    for round_nr, _, blocks in run.suspects:
        for block in blocks:
            if block.get("status") in ("LIKELY_LEAK", "ORPHANED"):
                verdicts.accuse(round_nr, block["stack"])
    return verdicts


def peer(detector):
    """The judge for what one of the other detectors reported at the end."""
    def judge(run):
        verdicts = Verdicts(run.scenarios)
        with open(f"{run.directory}/peers/growth.{detector}") as f:
            for line in f:
                *_, amount, functions = line.rstrip("\n").split("\t")
                least = 2 if detector == "kmemleak" else run.values["min_bytes"]
                stack = [name.split(".")[0] for name in functions.split()]
                if int(amount) >= least and not IGNORED.intersection(stack):
                    verdicts.accuse(None, stack)
        return verdicts
    return judge


def seconds(text):
    return float(text.split()[0])


def original(run):
    """The three rules on instantaneous counts that leaktrend replaces: over
    min_rounds what is outstanding never fell and did rise; it is min_bytes or more;
    its oldest sample is min_age old."""
    values = run.values
    min_rounds = values["min_rounds"]
    verdicts = Verdicts(run.scenarios)
    for round_nr, _, blocks in read_dumps(f"{run.directory}/trends"):
        for block in blocks:
            head = re.search(r"outstanding=(\d+), bytes=(\d+)", block["head"])
            numbers = [int(x) for x in re.findall(r"\d+", block.get("trend", ""))]
            outstanding, size = int(head[1]), int(head[2])
            if not outstanding or "oldest" not in block or len(numbers) < min_rounds:
                continue
            age = seconds(block["oldest"]) * 1000 / values["round_ms"]
            # The dumps are 20 to 24 rounds apart; every window is looked at once.
            for end in range(max(min_rounds, len(numbers) - 24), len(numbers) + 1):
                window = numbers[end - min_rounds:end]
                ago = len(numbers) - end
                if (all(a <= b for a, b in zip(window, window[1:])) and
                        window[-1] > window[0] and
                        window[-1] * size // outstanding >= values["min_bytes"] and
                        age - ago >= values["age_rounds"]):
                    verdicts.accuse(round_nr - ago, block["stack"])
                    break
    return verdicts


def round_of(suspects, ms):
    last = 0
    for round_nr, at, _ in suspects:
        last = round_nr
        if at >= ms:
            break
    return last


def begin_rounds(directory, scenarios, suspects):
    """In which round each leak lost its first object."""
    start = 0
    with open(f"{directory}/events") as f:
        for line in f:
            ms, text = line.split(" ", 1)
            if text.startswith("scenarios started"):
                start = int(ms)
            if text.startswith("module gone"):
                gone = int(ms)
    return {s.id: round_of(suspects, gone if s.id == "17" else start + s.first_ms)
            for s in scenarios if s.leak}


class Column:
    """What one detector said over its runs."""

    def __init__(self, title, runs, judge):
        self.title = title
        self.runs = len(runs)
        self.took = collections.defaultdict(list)
        self.alarms = collections.Counter()
        self.where = collections.defaultdict(set)
        self.found = self.missed = 0
        for run in runs:
            verdicts = judge(run)
            for s in run.scenarios:
                if not s.leak:
                    continue
                if s.id in verdicts.found:
                    self.took[s.id].append(run.rounds_until(s.id, verdicts.found[s.id]))
                    self.found += 1
                else:
                    self.missed += 1
            for name, stack in verdicts.alarms:
                self.where[name].add(stack)
            for name in {name for name, _ in verdicts.alarms}:
                self.alarms[name] += 1
        self.false = sum(len(stacks) for stacks in self.where.values())

    def leak(self, name):
        took = self.took[name]
        text = f"{len(took)}/{self.runs}"
        if took and took[0] is not None:
            text += f" {sorted(took)[len(took) // 2]}"
        return text

    def negative(self, name):
        return f"{self.alarms[name]}/{self.runs}" if self.alarms[name] else "-"

    @property
    def recall(self):
        return self.found / (self.found + self.missed)

    @property
    def precision(self):
        return self.found / (self.found + self.false) if self.found else 0


class Run:
    def __init__(self, directory):
        self.directory = directory
        self.values = read_run(directory)
        self.scenarios = read_truth(directory)
        self.peers = [name for name in PEERS
                      if os.path.exists(f"{directory}/peers/growth.{name}")]
        if not self.peers:
            self.suspects = list(read_dumps(f"{directory}/suspects"))
            self.begin = begin_rounds(directory, self.scenarios, self.suspects)

    def rounds_until(self, leak, found):
        """None if it was looked at the end only."""
        return None if found is None else max(found - self.begin[leak], 0)


def columns_of(runs):
    columns = []
    ours = [r for r in runs if not r.peers]
    for rate in sorted({r.values["rate"] for r in ours}, reverse=True):
        at_rate = [r for r in ours if r.values["rate"] == rate]
        columns.append(Column(f"leaktrend 1:{rate}", at_rate, leaktrend))
        columns.append(Column(f"3 rules 1:{rate}", at_rate, original))
    for name in PEERS:
        with_it = [r for r in runs if name in r.peers]
        if with_it:
            columns.append(Column(name, with_it, peer(name)))
    return columns


def print_table(runs, columns):
    def row(head, cells):
        print((f"{head:<26}" + "".join(f"{cell:>15}" for cell in cells)).rstrip())

    row("leaks: found, rounds", [c.title for c in columns])
    for s in runs[0].scenarios:
        if s.leak:
            row(f"{s.id:>3} {s.name}", [c.leak(s.id) for c in columns])
    row("no leaks: false alarms", [])
    for name, text in NEGATIVE_NAMES.items():
        row(f"{name:>3} {text}" if name[0] == "N" else f"    {text}",
            [c.negative(name) for c in columns])
    row("recall", [f"{c.recall:.3f}" for c in columns])
    row("precision", [f"{c.precision:.3f}" for c in columns])
    row("false alarms", [str(c.false) for c in columns])
    for c in columns:
        for name in c.where:
            print(f"\n{c.title}, false alarm in {name}:")
            for stack in sorted(c.where[name]):
                print(f"  {stack}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--require", type=float, metavar="RECALL",
                        help="fail if leaktrend has less, or a false alarm")
    parser.add_argument("directory", nargs="+")
    args = parser.parse_args()

    runs = [Run(directory) for directory in args.directory]
    columns = columns_of(runs)
    print_table(runs, columns)
    if args.require is not None:
        for c in columns:
            if c.title.startswith("leaktrend") and (c.recall < args.require or c.false):
                sys.exit(f"quality: {c.title} is not what is required")


if __name__ == "__main__":
    main()
