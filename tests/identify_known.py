#!/usr/bin/env python3
"""Known parameters from noise-free data: each model is run with its numbers moved by up to 20 %, and what `bgc identify` finds from that run, starting at
the numbers of the text, is held against a list: which of them must be the moved ones to 1e-6, and which must be named as what the data do not tell. The
outputs must be found again in any case.

python3 tests/identify_known.py BGC [NAME ...]      names of the list below; without: all of them, some minutes
"""
import json, os, random, subprocess, sys, tempfile, time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# name: model of examples, experiment; what is moved (None: all numbers of the text); what must be found (None: all that is moved); what must be named;
# points of the data
#
# Why the data do not tell what is named: where all forces scale together, displacements do not say how large they are (m, k, b); a branch that an ideal
# source feeds, or a rod between two temperatures, says products alone (Ca R_pa, c r).
CASES = {
    "rlc": ("rlc", "step", None, None, "", 201),
    "two_masses": ("two_masses", "push", None, None, "", 201),
    "two_oscillators": ("two_oscillators", "shaken", None, None, "", 201),
    "lever": ("lever", "push_mass", None, None, "", 201),
    "three_masses": ("three_masses", "push", None, None, "", 201),
    "pi_filter": ("pi_filter", "settle", None, "Cb,L,R_pb,R_s,R_l", "Ca,R_pa", 201),
    "pi_filter but R_pa": ("pi_filter", "settle", "Ca,Cb,L,R_pb,R_s,R_l", None, "", 201),
    "heated_rod": ("heated_rod", "warm_up", None, "T_0,T_hot,T_cold", "c,r", 201),
    "heated_rod but r": ("heated_rod", "warm_up", "c,T_0,T_hot,T_cold", None, "", 201),
    "tuned_absorber": ("tuned_absorber", "swing", None, "", "m,k,m_a,k_a,b_a", 201),
    "tuned_absorber but m": ("tuned_absorber", "swing", "k,m_a,k_a,b_a", None, "", 201),
    "quarter_car": ("quarter_car", "smooth_curb", None, "", "m_s,m_t,k_s1,k_s3,k_t1,k_t3,b_s,b_t", 201),
    "quarter_car but m_s": ("quarter_car", "smooth_curb", "m_t,k_s1,k_s3,k_t1,k_t3,b_s,b_t", None, "", 201),
    # torques scale with all of them but k_m, k_g; a generator of twice the voltage with four times its resistance, and twice the load's, looks the same
    "motor_generator but r_g, r_l": ("motor_generator", "switch_on", "l_m,r_m,k_m,j_m,c_s,l_g,k_g,j_g", None, "", 201),
    "duffing": ("duffing", "chaos", "m,alpha,beta,delta,w", None, "", 201),
    "dc_motor": ("dc_motor", "move", "J_m,c_g,d_g,J_l,k_p,T_s,k_s,R_v0", None, "", 201),
    "hydraulic_cylinder": ("hydraulic_cylinder", "extend", "Q,c_oil,p_r,g_r,m,b,F,stroke,k_stop,b_stop", None, "", 5001),
}
FOUND = 1e-6     # of each that must be
AGAIN = 1e-5     # root mean square of what is left, in deviations of the data
SECONDS = 600


def bgc(*words):
    return subprocess.run([BGC, *words], capture_output=True, text=True, timeout=SECONDS)


def one(name, work):
    model, experiment, moved, must, named, points = CASES[name]
    path = os.path.join(ROOT, "examples", model + ".bg")
    seen = bgc("run", path, "-e", experiment, "--points", "3", "-o", work + "/few.csv")
    if seen.returncode:
        return f"does not run: {seen.stderr.strip()[:200]}"
    options = ["--parameters", moved] if moved else []
    listed = bgc("identify", path, "-e", experiment, "--data", work + "/few.csv", "--starts", "1", "--dry-run", "--json", *options)
    try:
        parameters = json.loads(listed.stdout)["parameters"]
    except (ValueError, KeyError):
        return f"no parameters: {listed.stderr.strip()[:200]}"
    random.seed(model + ".bg")
    want = {p["name"]: p["initial"] * (1 + random.uniform(-0.2, 0.2)) for p in parameters}
    settings = [word for k, v in want.items() for word in ("--set", f"{k}={v!r}")]
    made = bgc("run", path, "-e", experiment, "--rtol", "1e-10", "--points", str(points), "-o", work + "/data.csv", *settings)
    if made.returncode:
        return f"does not run moved: {made.stderr.strip()[:200]}"
    begin = time.time()
    found = bgc("identify", path, "-e", experiment, "--data", work + "/data.csv", "--rtol", "1e-10", "--json", *options)
    try:
        r = json.loads(found.stdout)
    except ValueError:
        return f"failed: {found.stderr.strip()[:300]}"
    must = set(want) if must is None else set(must.split(",")) - {""}
    due = set(named.split(",")) - {""}
    told = {k for d in r["unidentifiable"] for k, share in d["parameters"].items() if share > 1e-3}
    off = {p["name"]: abs(p["value"] / want[p["name"]] - 1) for p in r["parameters"]}
    wrong = [f"{k} is off by {off[k]:.1e}" for k in sorted(must) if not off[k] <= FOUND]
    wrong += [f"{k} is not named" for k in sorted(due - told)] + [f"{k} is named" for k in sorted(told - due)]
    wrong += [] if r["residual_rms"] <= AGAIN else [f"{r['residual_rms']:.1e} of the data is left"]
    print(f"{name}: {len(must) - sum(not off[k] <= FOUND for k in must)} of {len(must)} found to {FOUND:g}; named as not told: "
          f"{', '.join(sorted(told)) or 'none'}; {r['evaluations']} evaluations, {time.time() - begin:.1f} s", flush=True)
    return "; ".join(wrong)


BGC = os.path.abspath(sys.argv[1])
failures = full = 0
names = sys.argv[2:] or list(CASES)
with tempfile.TemporaryDirectory() as work:
    for name in names:
        try:
            why = one(name, work)
        except subprocess.TimeoutExpired:
            why = f"takes longer than {SECONDS} s"
        if why:
            failures += 1
            print(f"{name}: {why}", flush=True)
        else:
            full += CASES[name][4] == ""
print(f"{len(names)} searches, {failures} failures; {full} with all that was moved found")
sys.exit(failures > 0)
