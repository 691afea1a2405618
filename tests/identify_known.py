#!/usr/bin/env python3
"""Known parameters from noise-free data: each model is run with its numbers moved by up to 20 %, and what `bgc identify` finds from that run, starting at
the numbers of the text, must be the moved ones to 1e-6; what differs must be named as what the data do not tell.

python3 tests/identify_known.py BGC [FILE.bg:EXPERIMENT[:PARAMETERS[:POINTS]] ...]      without models: thirteen of examples
"""
import json, os, random, subprocess, sys, tempfile, time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CASES = ["examples/rlc.bg:step", "examples/two_masses.bg:push", "examples/two_oscillators.bg:shaken", "examples/lever.bg:push_mass",
       "examples/pi_filter.bg:settle", "examples/three_masses.bg:push", "examples/heated_rod.bg:warm_up", "examples/tuned_absorber.bg:swing",
       "examples/quarter_car.bg:smooth_curb", "examples/motor_generator.bg:switch_on",
       "examples/duffing.bg:chaos:m,alpha,beta,delta,w", "examples/dc_motor.bg:move:J_m,c_g,d_g,J_l,k_p,T_s,k_s,R_v0",
       "examples/hydraulic_cylinder.bg:extend:Q,c_oil,p_r,g_r,m,b,F,stroke,k_stop,b_stop:5001"]
SECONDS = 600


def bgc(*words):
    return subprocess.run([BGC, *words], capture_output=True, text=True, timeout=SECONDS)


def one(case, work):
    path, experiment, *rest = case.split(":")
    path = os.path.join(ROOT, path) if not os.path.exists(path) else path
    name = os.path.basename(path)
    seen = bgc("run", path, "-e", experiment, "--points", "3", "-o", work + "/few.csv")
    if seen.returncode:
        return f"does not run: {seen.stderr.strip()[:200]}"
    options = ["--parameters", rest[0]] if rest else []
    points = rest[1] if len(rest) > 1 else "201"
    listed = bgc("identify", path, "-e", experiment, "--data", work + "/few.csv", "--starts", "1", "--dry-run", "--json", *options)
    try:
        parameters = json.loads(listed.stdout)["parameters"]
    except (ValueError, KeyError):
        return f"no parameters: {listed.stderr.strip()[:200]}"
    random.seed(name)
    want = {p["name"]: p["initial"] * (1 + random.uniform(-0.2, 0.2)) for p in parameters}
    settings = [word for k, v in want.items() for word in ("--set", f"{k}={v!r}")]
    made = bgc("run", path, "-e", experiment, "--rtol", "1e-10", "--points", points, "-o", work + "/data.csv", *settings)
    if made.returncode:
        return f"does not run moved: {made.stderr.strip()[:200]}"
    begin = time.time()
    found = bgc("identify", path, "-e", experiment, "--data", work + "/data.csv", "--rtol", "1e-10", "--json", *options)
    try:
        r = json.loads(found.stdout)
    except ValueError:
        return f"failed: {found.stderr.strip()[:300]}"
    named = {k for d in r["unidentifiable"] for k in d["parameters"]}
    off = {p["name"]: abs(p["value"] / want[p["name"]] - 1) for p in r["parameters"] if want[p["name"]]}
    wrong = {k: e for k, e in off.items() if e > 1e-6 and k not in named}
    good = sum(e <= 1e-6 for e in off.values())
    print(f"{name} {experiment}: {good} of {len(off)} found to 1e-6; named as not told: {', '.join(sorted(named)) or 'none'}; "
          f"{r['evaluations']} evaluations, {time.time() - begin:.1f} s", flush=True)
    if wrong:
        return "off without being named: " + ", ".join(f"{k} by {e:.1e}" for k, e in wrong.items())
    return None


BGC = os.path.abspath(sys.argv[1])
failures = 0
with tempfile.TemporaryDirectory() as work:
    for case in sys.argv[2:] or CASES:
        try:
            why = one(case, work)
        except subprocess.TimeoutExpired:
            why = f"takes longer than {SECONDS} s"
        if why:
            failures += 1
            print(f"{case}: {why}", flush=True)
print(f"{len(sys.argv[2:] or CASES)} models, {failures} failures")
sys.exit(failures > 0)
