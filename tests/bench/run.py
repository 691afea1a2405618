#!/usr/bin/env python3
"""Measures bgc against hand-written C and against itself. Asserts no times; prints ratios.

usage: run.py BGC CHAIN_BG [--peers chain_cvodes.c] [--rounds 5] [--sizes 100,1000,10000] [--only chain,small,irregular,events,large,reductions] [--models DIR]
              [--reducer test_reduce] [--count 1000]

BGC       the command line to measure
CHAIN_BG  the generator, tests/bench/chain_bg.c compiled
--peers   hand-written peers of the chain (a C file that builds with the flags in PEER_LINK); default from BG_BENCH_PEERS
--models  where quarter_car.bg lies; default the examples beside this checkout

Programs take turns in rounds, so that what else the machine does falls on all alike; CPU seconds (user + system) of the whole process come
from wait4, those of the solution from what each program says of itself. Medians are printed, and the median of the ratios round by round.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PEER_LINK = ["-lsundials_cvodes", "-lsundials_arkode", "-lsundials_nvecserial", "-lsundials_sunmatrixsparse", "-lsundials_sunmatrixdense",
             "-lsundials_sunmatrixband", "-lsundials_sunlinsolklu", "-lsundials_sunlinsoldense", "-lsundials_sunlinsolband",
             "-lsundials_sunnonlinsolfixedpoint", "-lklu", "-lm"]


class Run:
    """One finished process: CPU and wall seconds, its output."""

    def __init__(self, command):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.perf_counter()
            process = subprocess.Popen(command, stdout=out, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.wall = time.perf_counter() - begin
            self.cpu = usage.ru_utime + usage.ru_stime
            self.memory = usage.ru_maxrss / 1024
            self.status = process.returncode
            out.seek(0)
            err.seek(0)
            self.out = out.read().decode(errors="replace")
            self.err = err.read().decode(errors="replace")

    def stages(self):
        """`name [in] 12.3 ms` wherever -v says so, in seconds."""
        return {name.strip(): float(ms) / 1e3 for name, ms in re.findall(r"([A-Za-z][A-Za-z ]*?)(?: in|:)?\s+([0-9.]+) ms", self.err)}

    def solve(self):
        """Seconds of the solution as the program itself says."""
        try:
            return json.loads(self.out)["cpu_seconds"]
        except (ValueError, KeyError, TypeError):
            pass
        match = re.search(r"solve ([0-9.]+) ms", self.out)
        if match:
            return float(match.group(1)) / 1e3
        match = re.search(r" steps,.*, ([0-9.]+) s$", self.err, re.MULTILINE)
        return float(match.group(1)) if match else None


def interleaved(commands, rounds):
    """Runs of each command, taking turns; one warming round is thrown away."""
    runs = {name: [] for name in commands}
    for k in range(rounds + 1):
        for name, command in commands.items():
            run = Run(command)
            if run.status != 0 and name.startswith("bgc"):
                print("  %s: exit %d\n%s" % (name, run.status, run.err[-2000:]))
            if k or rounds == 0:
                runs[name].append(run)
    return runs


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else float("nan")


def peer_numbers(run):
    """v0, Ek and the three activity sums of a peer's line."""
    v0 = re.search(r"v0=(\S+)", run.out)
    q = re.search(r"Q=(\S+) (\S+) (\S+)", run.out)
    return (float(v0.group(1)) if v0 else None, tuple(float(x) for x in q.groups()) if q else None)


def rank_sums(run):
    """Sums of the activities of springs, dampers, masses, as the peers add them."""
    try:
        elements = json.loads(run.out)["elements"]
    except ValueError:
        return None
    sums = {"spring": 0.0, "damper": 0.0, "mass": 0.0}
    for e in elements:
        kind = e["name"].split("_")[0]
        if kind in sums:
            sums[kind] += e["value"]
    return sums["spring"], sums["damper"], sums["mass"]


def last_values(bgc, model):
    """Outputs at the end of a run, by name."""
    run = Run([bgc, "run", model, "-e", "run", "--json"])
    try:
        return {k: v[-1] for k, v in json.loads(run.out)["columns"].items()}
    except (ValueError, KeyError, IndexError):
        return {}


def relative(a, b):
    return abs(a - b) / abs(b) if a is not None and b else float("nan")


def chain(args, scratch):
    peer = None
    if args.peers and os.path.exists(args.peers):
        peer = os.path.join(scratch, "peer")
        subprocess.run(["gcc", "-O3", "-march=native", "-w", "-I/usr/include/suitesparse", args.peers, "-o", peer] + PEER_LINK, check=True)
    else:
        print("chain: no peers (give --peers or BG_BENCH_PEERS); bgc alone")
    print("\nNonlinear chain, N masses, 10 s, rtol 1e-6, atol 1e-9, activities of all elements; CPU, median of %d rounds" % args.rounds)
    print("%-7s %-28s %11s %11s %9s %9s   %-9s %s" % ("N", "program", "process ms", "solve ms", "x process", "x solve", "v0 error", "activity errors (spring damper mass)"))
    for n in args.sizes:
        model = os.path.join(scratch, "chain_%d.bg" % n)
        with open(model, "w") as f:
            subprocess.run([args.generator, "chain", str(n)], stdout=f, check=True)
        commands = {"bgc rank": [args.bgc, "rank", model, "-e", "run", "--json", "-v"]}
        reference = None
        if peer:
            commands["BDF+KLU, packaged vectors"] = [peer, str(n), "instr=3", "meth=bdf", "nvops=0", "rtol=1e-6"]
            commands["BDF+KLU, own vectors"] = [peer, str(n), "instr=3", "meth=bdf", "nvops=1", "rtol=1e-6"]
            commands["fused explicit 5(4)"] = [peer, str(n), "instr=1", "meth=dp5", "rtol=1e-6"]
            reference = peer_numbers(Run([peer, str(n), "instr=1", "meth=dp5", "rtol=1e-10"]))
        runs = interleaved(commands, args.rounds)
        ours = runs["bgc rank"]
        v0 = last_values(args.bgc, model).get("v0")
        for name, rs in runs.items():
            value, sums = (v0, rank_sums(rs[-1])) if name == "bgc rank" else peer_numbers(rs[-1])
            ratio = median([a.cpu / b.cpu for a, b in zip(ours, rs)])
            solves = [(a.solve(), b.solve()) for a, b in zip(ours, rs)]
            ratio_solve = median([a / b for a, b in solves if a and b])
            errors = " ".join("%.1e" % relative(a, b) for a, b in zip(sums, reference[1])) if sums and reference and reference[1] else ""
            print("%-7d %-28s %11.1f %11.2f %9.3f %9.3f   %-9s %s" % (n, name, 1e3 * median([r.cpu for r in rs]), 1e3 * median([r.solve() for r in rs]), ratio, ratio_solve,
                  "%.1e" % relative(value, reference[0]) if reference else "", errors))
        for line in ours[-1].err.splitlines():
            print("        " + line[:200])
    print("x: CPU of bgc over that of the program, round by round")


def small(args, scratch):
    model = os.path.join(args.models, "quarter_car.bg")
    if not os.path.exists(model):
        print("small: no %s" % model)
        return
    runs = interleaved({"bgc check": [args.bgc, "check", model], "bgc run": [args.bgc, "run", model, "-e", "smooth_curb"]}, max(args.rounds, 11))
    print("\nQuarter car, whole process; wall and CPU, median of %d rounds (aims: check 50 ms, cold run 150 ms)" % max(args.rounds, 11))
    for name, rs in runs.items():
        print("%-12s %8.1f ms wall %8.1f ms CPU %8.1f MB" % (name, 1e3 * median([r.wall for r in rs]), 1e3 * median([r.cpu for r in rs]), median([r.memory for r in rs])))


def irregular(args, scratch):
    for kind in ("irregular", "circuit"):
        models = {}
        for n in (10000, 20000):
            models[n] = os.path.join(scratch, "%s_%d.bg" % (kind, n))
            with open(models[n], "w") as f:
                subprocess.run([args.generator, kind, str(n)], stdout=f, check=True)
        commands = {}
        for n, model in models.items():
            commands["bgc check %d" % n] = [args.bgc, "check", model, "-q"]
            commands["bgc rank %d" % n] = [args.bgc, "rank", model, "-e", "run", "--json", "-v"]
        rounds = max(1, args.rounds // 2)
        runs = interleaved(commands, rounds)
        print("\nRandom %s network of 10000 and 20000; CPU, median of %d rounds; a ratio of 2 is linear" % (kind, rounds))
        for what in ("check", "rank"):
            a, b = runs["bgc %s 10000" % what], runs["bgc %s 20000" % what]
            print("%-28s %9.0f ms %9.0f ms   ratio %.2f   memory %.0f MB %.0f MB" % (what, 1e3 * median([r.cpu for r in a]), 1e3 * median([r.cpu for r in b]),
                  median([y.cpu / x.cpu for x, y in zip(a, b)]), median([r.memory for r in a]), median([r.memory for r in b])))
        a, b = runs["bgc rank 10000"][-1].stages(), runs["bgc rank 20000"][-1].stages()
        for stage in a:
            if stage in b and a[stage] > 1e-3:
                print("  %-26s %9.1f ms %9.1f ms   ratio %.2f" % (stage, 1e3 * a[stage], 1e3 * b[stage], b[stage] / a[stage]))
        sa, sb = runs["bgc rank 10000"][-1].solve(), runs["bgc rank 20000"][-1].solve()
        if sa and sb:
            print("  %-26s %9.1f ms %9.1f ms   ratio %.2f" % ("solve", 1e3 * sa, 1e3 * sb, sb / sa))


def large(args, scratch):
    """Checks of 100,000 masses: CPU is what the machine makes of it, memory is not."""
    print("\nbgc check of 100,000 masses, least of %d rounds" % args.rounds)
    for kind in ("regular", "irregular"):
        model = os.path.join(scratch, "%s_100000.bg" % kind)
        with open(model, "w") as f:
            subprocess.run([args.generator, kind, "100000"], stdout=f, check=True)
        runs = [Run([args.bgc, "check", model]) for _ in range(args.rounds)]
        elements = [int(n) for n in re.findall(r"([0-9]+) elements", runs[0].out + runs[0].err)]
        cpu, memory = min(r.cpu for r in runs), min(r.memory for r in runs)
        each = "; an element %.1f us, %.2f kB" % (1e6 * cpu / elements[0], 1024 * memory / elements[0]) if elements else ""
        print("%-10s %7.2f s CPU %7.0f MB%s" % (kind, cpu, memory, each))


def reductions(args, scratch):
    """Random models reduced within tolerances and by thresholds, every check of the test; slices, so that it is seen how far it is."""
    if not args.reducer:
        print("reductions: --reducer names the built test_reduce")
        return
    slice_of, total, text, cpu, failed = 50, [], "", 0.0, 0
    for first in range(1, args.count + 1, slice_of):
        run = Run([args.reducer, str(first), str(min(slice_of, args.count + 1 - first))])
        last = run.out.strip().splitlines()[-1] if run.out.strip() else ""
        numbers = [int(n) for n in re.findall(r"[0-9]+", last)]
        text = re.sub(r"[0-9]+", "{}", last) or text
        total = [a + b for a, b in zip(total, numbers)] if total else numbers
        cpu += run.cpu
        failed += run.status != 0
        sys.stderr.write(run.err if run.status else "")
        sys.stderr.flush()
    print("\nRandom reductions, %.0f s CPU, %d slices of %d with a failure" % (cpu, failed, slice_of))
    print(text.format(*total))


EVENTS = {
    "relay": (20000, "1e-6", """
    0:n -> C:c = 1 { e(0) = 0.5; }
    n -> 1:l; l -> R:r = 1; l -> I:i = 0.5;
    signal on = integral(0*time, 1);
    when n.e > 1.2 { on = 0; }
    when n.e < 0.8 { on = 1; }
    MSf:in = 3*on -> n;"""),
    "boost": (0.4, "1e-6", """
    0:n; 0:out;
    Se:source = 5 -> 1:l -> n; l -> I:L = 100e-6;
    n -> Sf:switch such that if time/20e-6 - floor(time/20e-6) < 0.5 then switch.e else switch.f;
    n -> 1:d -> out; d -> Se:diode such that min(diode.f, -diode.e);
    out -> C:C = 10e-6 { e(0) = 5; }
    out -> R:load = 100;"""),
}


def events(args, scratch):
    """What an event costs, beside the same system written by hand: rtol of the peer a tenth, as ours is where events add up."""
    peer = os.path.join(scratch, "events_by_hand")
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["gcc", "-O3", "-march=native", os.path.join(here, "events_by_hand.c"), "-o", peer, "-lm"], check=True)
    print("\nEvents, CPU of the run, median of %d rounds" % args.rounds)
    print("%-7s %9s %14s %9s %16s %7s" % ("model", "events", "bgc, us each", "by hand", "us each", "ratio"))
    for name, (stop, rtol, text) in EVENTS.items():
        model = os.path.join(scratch, name + ".bg")
        with open(model, "w") as f:
            f.write("model %s {%s\n}\nexperiment run of %s { stop = %g; rtol = %s; }\n" % (name, text, name, stop, rtol))
        runs = interleaved({"bgc": [args.bgc, "run", model, "--points", "2", "-v", "-o", os.devnull], "peer": [peer, name, str(stop), str(float(rtol) / 10)]},
                           args.rounds)
        ours, hand = [int(re.search(pattern, run).group(1)) for pattern, run in
                      ((r"(\d+) events,", runs["bgc"][-1].err), (r"events (\d+)", runs["peer"][-1].out))]
        each = median([r.solve() for r in runs["bgc"]]) / ours, median([r.solve() for r in runs["peer"]]) / hand
        print("%-7s %9d %14.2f %9d %16.2f %7.1f" % (name, ours, 1e6 * each[0], hand, 1e6 * each[1], each[0] / each[1]))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bgc")
    parser.add_argument("generator")
    parser.add_argument("--peers", default=os.environ.get("BG_BENCH_PEERS"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", type=lambda s: [int(x) for x in s.split(",")], default=[100, 1000, 10000])
    parser.add_argument("--only", type=lambda s: s.split(","), default=["small", "chain", "irregular"])
    parser.add_argument("--models", default=os.path.join(here, "..", "..", "examples"))
    parser.add_argument("--reducer", default=os.environ.get("BG_BENCH_REDUCER"))
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for name, part in (("small", small), ("chain", chain), ("irregular", irregular), ("events", events), ("large", large), ("reductions", reductions)):
            if name in args.only:
                part(args, scratch)
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
