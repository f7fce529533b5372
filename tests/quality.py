#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges what tests/guest/quality.sh has brought home from a run.

For each detector it says which scenarios were found and what was accused that
is no leak. A leak is found when a LIKELY_LEAK (or ORPHANED) names the function
that loses the memory; whatever else gets such a verdict is a false alarm.
"""
import collections
import re
import sys

MIN_BYTES = 64 << 10
MIN_ROUNDS = 8
AGE_ROUNDS = 60

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


class Scenario:
    def __init__(self, line):
        (self.id, self.name, self.function, _, _, lost, size,
         first) = (line.split() + ["0", "0"])[:8]
        self.lost, self.bytes, self.first_ms = int(lost), int(size), int(first)
        self.leak = not self.id.startswith("N")


def read_truth(directory):
    scenarios = []
    with open(f"{directory}/truth") as f:
        for line in f:
            if line.startswith("#"):
                continue
            fields = line.split()
            if fields[0] == "17":
                fields = fields[:4] + ["0", fields[5], "0", "0"]
            scenarios.append(Scenario(" ".join(fields)))
    return scenarios


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


def leaktrend(directory, scenarios):
    verdicts = Verdicts(scenarios)
    for round_nr, _, blocks in read_dumps(f"{directory}/suspects"):
        for block in blocks:
            if block.get("status") in ("LIKELY_LEAK", "ORPHANED"):
                verdicts.accuse(round_nr, block["stack"])
    return verdicts


def seconds(text):
    return float(text.split()[0])


def original(directory, scenarios, round_ms):
    """The three rules on instantaneous counts that leaktrend replaces: over 8
    rounds what is outstanding never fell and did rise; it is min_bytes or more;
    its oldest sample is min_age old."""
    verdicts = Verdicts(scenarios)
    for round_nr, _, blocks in read_dumps(f"{directory}/trends"):
        for block in blocks:
            head = re.search(r"outstanding=(\d+), bytes=(\d+)", block["head"])
            numbers = [int(x) for x in re.findall(r"\d+", block.get("trend", ""))]
            outstanding, size = int(head[1]), int(head[2])
            if not outstanding or "oldest" not in block or len(numbers) < MIN_ROUNDS:
                continue
            age = seconds(block["oldest"]) * 1000 / round_ms
            # The dumps are 20 to 24 rounds apart; every window is looked at once.
            for end in range(max(MIN_ROUNDS, len(numbers) - 24), len(numbers) + 1):
                window = numbers[end - MIN_ROUNDS:end]
                ago = len(numbers) - end
                if (all(a <= b for a, b in zip(window, window[1:])) and
                        window[-1] > window[0] and
                        window[-1] * size // outstanding >= MIN_BYTES and
                        age - ago >= AGE_ROUNDS):
                    verdicts.accuse(round_nr - ago, block["stack"])
                    break
    return verdicts


def round_of(directory, ms):
    last = 0
    for round_nr, at, _ in read_dumps(f"{directory}/suspects"):
        last = round_nr
        if at >= ms:
            break
    return last


def begin_rounds(directory, scenarios):
    """In which round each leak lost its first object."""
    start = 0
    with open(f"{directory}/events") as f:
        for line in f:
            ms, text = line.split(" ", 1)
            if text.startswith("scenarios started"):
                start = int(ms)
            if text.startswith("module gone"):
                gone = int(ms)
    begin = {}
    for s in scenarios:
        if s.leak and s.id == "17":
            begin[s.id] = round_of(directory, gone)
        elif s.leak:
            begin[s.id] = round_of(directory, start + s.first_ms)
    return begin


def report(title, runs):
    """A row per scenario over several runs of one detector."""
    leaks = [s for s in runs[0]["scenarios"] if s.leak]
    found = missed = 0
    print(f"\n{title}")
    print(f"{'scenario':<22} {'lost':>9} {'found':>7}  rounds until it was (median, most)")
    for s in leaks:
        took = [max(r["verdicts"].found[s.id] - r["begin"].get(s.id, 0), 0)
                for r in runs if s.id in r["verdicts"].found]
        lost = sum(x.bytes for r in runs for x in r["scenarios"] if x.id == s.id) // len(runs)
        size = f"{lost >> 10} KiB" if lost else ""
        row = f"{s.id:>3} {s.name:<18} {size:>9} {len(took):>3} of {len(runs)}"
        if took:
            row += f"  {sorted(took)[len(took) // 2]}, {max(took)}"
        print(row)
        found += len(took)
        missed += len(runs) - len(took)
    alarms = collections.Counter()
    where = collections.defaultdict(set)
    for r in runs:
        for (name, stack), _ in r["verdicts"].alarms.items():
            alarms[name] += 1
            where[name].add(stack)
    for name, text in NEGATIVE_NAMES.items():
        n = sum(1 for r in runs if any(a == name for a, _ in r["verdicts"].alarms))
        if n or name not in ("innocent", "other"):
            print(f"{name:>3} {text:<28} {'false alarm in ' + str(n) + ' of ' + str(len(runs)) if n else 'quiet'}")
        for stack in sorted(where[name])[:4]:
            print(f"      {stack}")
    false = sum(alarms.values())
    recall = found / (found + missed)
    precision = found / (found + false) if found + false else 0
    print(f"recall {recall:.3f} ({found} of {found + missed}), "
          f"precision {precision:.3f} ({false} false alarms)")
    return recall, false


def main():
    round_ms = int(sys.argv[1])
    runs = []
    for directory in sys.argv[2:]:
        scenarios = read_truth(directory)
        begin = begin_rounds(directory, scenarios)
        runs.append({"scenarios": scenarios, "begin": begin, "directory": directory})
    for name, judge in (("leaktrend", lambda d, s: leaktrend(d, s)),
                        ("original rules", lambda d, s: original(d, s, round_ms))):
        report(name, [dict(r, verdicts=judge(r["directory"], r["scenarios"])) for r in runs])


if __name__ == "__main__":
    main()
