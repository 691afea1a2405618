#!/usr/bin/env python3
"""Models that once went wrong, each in many spellings that mean the same: every one must give the same right numbers.

    python3 tests/variants.py BGC [NAME ...]     all variants of the models in tests/variants (or of those named)
        --folder DIR      texts of these names from elsewhere
        --slice K/N       every N-th of them, from the K-th on
        --solver NAME     one solver instead of auto, bdf, explicit
        --only WORD       variants whose name has this word
        --keep DIR        the texts of those that fail, to be looked at
        --seconds S       a run that takes longer fails (60)

A text is read, its units are made numbers of SI, and it is rewritten:

    plain     nothing else
    dual      efforts and flows change places everywhere: 0 and 1, C and I, Se and Sf
    gyrated   every element stands behind a gyrator of ratio 1, and is its dual there
    switches  the same for residual sources alone, sources sources alone
    turned    every element stands behind a transformer of ratio -1, and is its mirror image there
    mirror    every effort and flow has the other sign
    row n     every element is n of it: in a row where one flow goes through them, side by side where one effort is on
    beside n  n copies, joined at one junction by resistors that carry nothing, since all are alike

The right numbers are closed forms or worked out apart (RIGHT, below); variants keep them.
"""
import argparse, json, math, os, re, subprocess, sys, tempfile, time

# ---- reading ----

PREFIX = {"": 1, "k": 1e3, "m": 1e-3, "M": 1e6, "G": 1e9, "u": 1e-6, "n": 1e-9, "c": 1e-2}
BASE = {"kg": 1, "g": 1e-3, "m": 1, "s": 1, "A": 1, "V": 1, "K": 1, "N": 1, "Pa": 1, "J": 1, "W": 1, "F": 1, "H": 1, "ohm": 1, "Hz": 1, "rad": 1,
        "min": 60, "h": 3600, "l": 1e-3, "bar": 1e5, "deg": math.pi / 180}


def factor(unit):
    """Of a unit such as kN.s^2/(m.K)."""
    total, sign, stack = 1.0, 1, []
    for token in re.findall(r"[A-Za-z]+(?:\^?-?\d+)?|[/().*]|1", unit):
        if token in ".*1":
            continue
        if token == "/":
            sign = -1
        elif token == "(":
            stack.append(sign)
        elif token == ")":
            stack.pop()
        else:
            name, power = re.match(r"([A-Za-z]+)\^?(-?\d+)?", token).groups()
            value = BASE.get(name) or PREFIX[name[0]] * BASE[name[1:]]
            total *= value ** (sign * int(power or 1))
            sign = stack[-1] if stack else 1 if sign > 0 else sign
    return total


def without_units(text):
    text = re.sub(r"([0-9.]+(?:e[-+]?\d+)?) *\[degC\]", r"(\1 + 273.15)", text)
    text = re.sub(r"\b([0-9.]+(?:e[-+]?\d+)?) *\[([A-Za-z][^\]]*|1/[^\]]*)\]",
                  lambda m: f"({m[1]}*{factor(m[2])!r})" if factor(m[2]) != 1 else m[1], text)
    return re.sub(r"(?<=[\w\])]) +\[[^\]]*\]|(?<=\)) *\[[^\]]*\]", "", text)


def split(text, at):
    """At top level."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and text.startswith(at, i) and text[i - 1:i] != at:
            parts.append(text[start:i].strip())
            start = i + len(at)
    return parts + [text[start:].strip()]


def statements(text):
    found, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        ends = depth == 0 and (c == ";" or c == "}" and re.match(r"\s*(for|when|every|//|$|[01A-Za-z]|\Z)", text[i + 1:]))
        if ends and text[start:i + 1].strip():
            found.append(text[start:i + 1].strip().rstrip(";").strip())
            start = i + 1
    return [s for s in found if s]


ELEMENT = re.compile(r"^(M?Se|M?Sf|M?R|M?C|M?I|M?TF|M?GY|0|1):(\w+(?:\[[^\]]*\])?)\s*(.*)$", re.S)


class Item:
    """Of a chain: a name, or a declaration."""

    def __init__(self, text):
        m = ELEMENT.match(text)
        self.kind, self.name, rest = (m[1], m[2], m[3].strip()) if m else (None, text, "")
        self.value = self.body = self.condition = None
        rest = re.sub(r"^in \w+\s*", "", rest)
        if rest.startswith("such that"):
            self.condition = rest[9:].strip()
            return
        if rest.endswith("}"):
            at = rest.index("{")
            self.body = [s for s in re.split(r";\s*", rest[at + 1:-1].strip()) if s]
            rest = rest[:at].strip()
        if rest.startswith("="):
            self.value = rest[1:].strip()

    def one_port(self):
        return self.kind is not None and self.kind.lstrip("M") in ("Se", "Sf", "R", "C", "I")

    def text(self):
        if self.kind is None:
            return self.name
        return f"{self.kind}:{self.name}" + (f" = {self.value}" if self.value else "") + \
            (f" such that {self.condition}" if self.condition else "") + \
            (" { " + "; ".join(self.body) + "; }" if self.body else "")

    def map(self, f):
        """f of every expression."""
        self.value = f(self.value) if self.value else None
        self.condition = f(self.condition) if self.condition else None
        self.body = [" = ".join((b.split("=", 1)[0].strip(), f(b.split("=", 1)[1].strip()))) for b in self.body] if self.body else None


class Node:
    def __init__(self, kind, head=None, inner=None, items=None):
        self.kind, self.head, self.inner, self.items = kind, head, inner or [], items or []


def read(body):
    nodes = []
    for s in statements(body):
        m = re.match(r"^(for|when)\b([^{]*)\{(.*)\}$", s, re.S)
        if m and m[1] == "for":
            nodes.append(Node("for", m[2].strip(), read(m[3])))
        elif m:
            nodes.append(Node("when", m[2].strip(), [t.split("=", 1) for t in statements(m[3])]))
        elif re.match(r"^(parameter|constant|signal|input|output)\b", s):
            name, _, value = s.partition("=")
            nodes.append(Node("value", name.strip(), value.strip()))
        else:
            nodes.append(Node("chain", items=[Item(x) for x in split(s, "->")]))
            items = nodes[-1].items
            if len(items) == 2 and items[0].one_port() and items[1].one_port():
                items.insert(1, Item(f"1:{items[0].name}_{items[1].name}"))
    return nodes


def write(nodes, indent="    "):
    out = ""
    for n in nodes:
        if n.kind == "for":
            out += f"{indent}for {n.head} {{\n{write(n.inner, indent + '    ')}{indent}}}\n"
        elif n.kind == "when":
            out += f"{indent}when {n.head} {{ " + " ".join(f"{a.strip()} = {b.strip()};" for a, b in n.inner) + " }\n"
        elif n.kind == "value":
            out += f"{indent}{n.head} = {n.inner};\n"
        else:
            out += indent + " -> ".join(i.text() for i in n.items) + ("\n" if n.items[-1].body else ";\n")
    return out


class Text:
    def __init__(self, text):
        text = re.sub(r"//.*", "", text)
        text = re.sub(r"domain \w+ \{.*?\}", "", text)
        text = without_units(text)
        m = re.search(r"model (\w+)(\([^)]*\))? *\{", text)
        depth, end = 1, m.end()
        while depth:
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        self.name, self.formal = m[1], m[2] or ""
        self.before, self.after = text[:m.start()], text[end:]
        self.nodes = read(text[m.end():end - 1])
        self.shown = lambda name: [name]  # outputs that stand for this one

    def text(self):
        return f"{self.before}model {self.name}{self.formal} {{\n{write(self.nodes)}}}\n{self.after}"

    def walk(self, nodes=None):
        for n in self.nodes if nodes is None else nodes:
            yield n
            if n.kind == "for":
                yield from self.walk(n.inner)

    def items(self):
        for n in self.walk():
            yield from n.items

    def map(self, f):
        for n in self.walk():
            if n.kind == "when":
                n.head = f(n.head)
                n.inner = [(a, f(b)) for a, b in n.inner]
            elif n.kind == "value":
                n.inner = f(n.inner)
        for i in self.items():
            i.map(f)

    def ports(self, which):
        """Names of elements of one port (a set of the names without index)."""
        return {bare(i.name) for i in self.items() if i.one_port() and which(i)}

    def junctions(self):
        return {bare(i.name): i.kind for i in self.items() if i.kind in ("0", "1")}


def bare(name):
    return name.split("[")[0]


READ = re.compile(r"\b([A-Za-z_]\w*)((?:\[[^\]]*\])?)\.(e|f|q|p)\b")
OWN = re.compile(r"(?<![\w.])(e|f|q|p)\b(?!\s*\()")
OTHER = {"e": "f", "f": "e", "q": "p", "p": "q"}
DUAL = {"Se": "Sf", "Sf": "Se", "R": "R", "C": "I", "I": "C", "0": "1", "1": "0", "TF": "TF", "GY": "GY"}


def law(i, f, left):
    """Each line of a body: its left side by `left` (name, scale of what stands right), its right side by f."""
    if not i.body:
        return
    out = []
    for line in i.body:
        a, b = (x.strip() for x in line.split("=", 1))
        v, zero = re.match(r"(\w)(\(0\))?$", a).groups()
        name, scale = left(v)
        out.append(f"{name}{zero or ''} = {scale % f(b) if scale else f(b)}")
    i.body = out


# ---- rewriting ----

def make_dual(t, names):
    for i in t.items():
        if i.kind and bare(i.name) in names:
            m = "M" if i.kind[0] == "M" else ""
            i.kind = m + DUAL[i.kind.lstrip("M")]
            law(i, lambda x: OWN.sub(lambda m: OTHER[m[1]], x), lambda v: (OTHER[v], None))
            if i.kind.lstrip("M") in ("TF", "GY") and i.value:
                i.value = f"1/({i.value})"
            if i.kind.lstrip("M") == "R" and i.value:
                i.value = f"1/({i.value})"
    t.map(lambda x: READ.sub(lambda m: f"{m[1]}{m[2]}.{OTHER[m[3]] if m[1] in names else m[3]}", x))


def dual(t):
    make_dual(t, {bare(i.name) for i in t.items() if i.kind})


def insert(t, names, what):
    for n in t.walk():
        if n.kind != "chain":
            continue
        items = []
        for k, i in enumerate(n.items):
            two_port = Item(f"{what[0]}:{what[1]}_{i.name} = {what[2]}")
            if i.kind and bare(i.name) in names:
                items += [i, two_port] if k == 0 else [two_port, i]
            else:
                items.append(i)
        n.items = items


def gyrate(t, which=lambda i: True):
    names = t.ports(which)
    make_dual(t, names)
    insert(t, names, ("GY", "g", "1"))


def make_mirror(t, names):
    for i in t.items():
        if i.one_port() and bare(i.name) in names:
            law(i, lambda x: OWN.sub(lambda m: f"(-{m[1]})", x), lambda v: (v, "-(%s)"))
            if i.kind.lstrip("M") in ("Se", "Sf") and i.value:
                i.value = f"-({i.value})"
    t.map(lambda x: READ.sub(lambda m: f"(-{m[0]})" if m[1] in names else m[0], x))


def mirror(t):
    make_mirror(t, {bare(i.name) for i in t.items() if i.kind})


def turn(t):
    names = t.ports(lambda i: True)
    make_mirror(t, names)
    insert(t, names, ("TF", "t", "-1"))


ONE_ONLY = {"amp"}  # many ideal amplifiers on one node all say what its voltage is


def row(t, n):
    """In a row on a 1, side by side on a 0: of the element's own e, f, q, p what is shared stays, the rest is an n-th."""
    kinds, shares = t.junctions(), {}
    for node in t.walk():
        for k, i in enumerate(node.items):
            if node.kind == "chain" and i.one_port() and len(node.items) > 1:
                kind = kinds[bare(node.items[1 if k == 0 else k - 1].name)]
                if bare(i.name) in ONE_ONLY:
                    continue
                if i.condition or i.kind.lstrip("M") not in ("Se", "Sf") or (i.kind.lstrip("M") == "Se") == (kind == "1"):
                    shares[bare(i.name)] = "ep" if kind == "1" else "fq"
    add = []
    for node in t.walk():
        if node.kind != "chain":
            continue
        for k, i in enumerate(node.items):
            s = shares.get(bare(i.name)) if i.kind else None
            if not s:
                continue
            law(i, lambda x: OWN.sub(lambda m: f"({n}*{m[1]})" if m[1] in s else m[1], x), lambda v: (v, f"(%s)/{n}" if v in s else None))
            kind = i.kind.lstrip("M")
            if i.value:
                larger = (kind == "C") == ("e" in s) if kind in ("C", "I") else "f" in s and kind == "R"
                i.value = f"({i.value})*{n}" if larger else f"({i.value})/{n}"
            add.append((node, k, i))
    t.map(lambda x: READ.sub(lambda m: (f"({n}*{m[1]}__1{m[2]}.{m[3]})" if m[3] in shares[m[1]] else f"{m[1]}__1{m[2]}.{m[3]}")
                             if m[1] in shares else m[0], x))
    for node, k, i in add:
        other = node.items[1 if k == 0 else k - 1].name
        own, index = bare(i.name), i.name[len(bare(i.name)):]
        for c in range(2, n + 1):
            one = Item(f"{own}__{c}{index}")
            one.kind, one.value, one.body = i.kind, i.value, list(i.body) if i.body else None
            one.condition = re.sub(rf"\b{own}__1\b", f"{own}__{c}", i.condition) if i.condition else None
            extra = Node("chain", items=[one, Item(other)] if k == 0 else [Item(other), one])
            put_after(t.nodes, node, extra)
        i.name = f"{own}__1{index}"


def put_after(nodes, node, extra):
    for k, x in enumerate(nodes):
        if x is node:
            nodes.insert(k + 1, extra)
            return True
        if x.kind == "for" and put_after(x.inner, node, extra):
            return True
    return False


def beside(t, n):
    names = {bare(i.name) for i in t.items() if i.kind} | \
        {re.split(r"[\s\[]", x.head.split(None, 1)[1])[0] for x in t.walk() if x.kind == "value" and not x.head.startswith("output")}
    body = write(t.nodes)
    word = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\b(?!\s*:\w)")
    first = next(i for i in t.items() if i.kind in ("0", "1"))
    text, joint = "", ("1", "0")[first.kind == "1"]
    place = bare(first.name), "[1]" if "[" in first.name else ""
    for c in range(1, n + 1):
        text += re.sub(rf"(output \w+?)(?:__{c})?\b", rf"\1__{c}", word.sub(rf"\1__{c}", body))
        if c > 1:
            text += f"    {place[0]}__{c - 1}{place[1]} -> {joint}:between__{c} -> {place[0]}__{c}{place[1]};\n" \
                    f"    between__{c} -> R:nothing__{c} = 1;\n"
    t.nodes = read(text)
    t.after = re.sub(r"(record|observe|let) [^;]*;", "", t.after)
    t.shown = lambda name: [name.replace("[", "__1[") if "[" in name else name + "__1",
                            name.replace("[", f"__{n}[") if "[" in name else f"{name}__{n}"]


def is_switch(i):
    return i.condition is not None


def is_source(i):
    return i.condition is None and i.kind.lstrip("M") in ("Se", "Sf")


SPELLINGS = {"plain": lambda t: None, "dual": dual, "gyrated": gyrate, "switches": lambda t: gyrate(t, is_switch),
             "sources": lambda t: gyrate(t, is_source), "turned": turn, "mirror": mirror}
SIZES = {"one": lambda t: None, "row 2": lambda t: row(t, 2), "row 10": lambda t: row(t, 10), "beside 2": lambda t: beside(t, 2),
         "beside 10": lambda t: beside(t, 10)}

# ---- right answers ----


def relay(t, first, top, bottom, rise, fall):
    """Exponential approach to `rise` up to top, then to `fall` down to bottom, and so on; time constant 1."""
    x, up = first, True
    while True:
        aim, border = (rise, top) if up else (fall, bottom)
        leg = math.log((x - aim) / (border - aim))
        if t < leg:
            return aim + (x - aim) * math.exp(-t)
        t, x, up = t - leg, border, not up


def sampled(t):
    x, u, i = 0.0, 0.0, 0.0
    k, n = 0, round(t / 0.1)
    while k < n:
        u, i = 1 - x + i, i + 0.1 * (1 - x)
        x, k = u + (x - u) * math.exp(-0.1), k + 1
    return x


def peak(t):
    """A source of 10 sin 2t that a diode ties to 0.1 F beside 20 ohm: it lets go where 2 cos 2t + sin(2t)/2 is 0."""
    s = (math.pi - math.atan(4)) / 2
    u = lambda x: 10 * math.sin(2 * x)
    while True:
        if t <= s:
            return u(t)
        free = lambda x: u(s) * math.exp(-(x - s) / 2)
        a = s + 0.5
        while u(a) < free(a):
            a += 1e-3
        b, a = a, a - 1e-3
        for _ in range(60):
            m = (a + b) / 2
            a, b = (m, b) if u(m) < free(m) else (a, m)
        if t <= a:
            return free(t)
        s += math.pi


def half_bridge(t):
    i, k = 0.0, 0
    while True:
        aim = 5 if k % 2 == 0 else -5
        if t <= 10e-3:
            return aim + (i - aim) * math.exp(-t / 5e-3)
        i, t, k = aim + (i - aim) * math.exp(-2), t - 10e-3, k + 1


def cmos(t):
    k, vth, lam, vin = 1e-3, 1.0, 0.02, 2.5 + 2.5 * math.sin(2000 * math.pi * t)

    def current(gate, e):
        if gate < vth:
            return 0.0
        on = gate - vth
        return (k * (on * e - e * e / 2) if e < on else k / 2 * on * on) * (1 + lam * e)
    a, b = 0.0, 5.0
    for _ in range(200):
        m = (a + b) / 2
        a, b = (m, b) if current(5 - vin, 5 - m) > current(vin, m) + m / 1e6 else (a, m)
    return a


def junction(t):
    return (1 - t / 4) ** 2 if t < 4 else 0.0


# of each model (and experiment): experiment, outputs with their numbers at times or as functions of time, points of the run
RIGHT = {
    "boost": ("x", {"v": {2.5e-3: 10.829567}}, 9),
    "bridge_ideal": ("x", {"i": lambda t: abs(10 * math.sin(2 * t)) / 5.2}, 13),
    "check_valve_closed": ("e", {"q": {1: 0}}, 2),
    "coil_comes_to_rest": ("x", {"i": lambda t: 1 + 5 * t if t < 0.1 else max(1.5 - 5 * (t - 0.1), 0)}, 21),
    "cylinder_orifice_if": ("extend", {"p1": {0.5: 2360943.35995, 1: 2360943.22847}, "x": {1: 0.311078190738}}, 3),
    "cylinder_orifice_sign": ("extend", {"p1": {0.5: 2360943.35995, 1: 2360943.22847}, "x": {1: 0.311078190738}}, 3),
    "diode_or": ("x", {"i": {0.9: 2.4, 1.5: 2, 3: 2}}, 11),
    "equilibrium_meter": ("rest", {"T": {0: 293.15, 600: 293.15}}, 2),
    "equilibrium_orifice": ("rest", {"p": {0: 2.438447187, 1: 2.438447187}}, 2),
    "equilibrium_orifice:wait": ("wait", {"p": {100: 2.438447187}}, 2),
    "equilibrium_with_diode": ("x", {"y": {0: 10, 1e-3: 10}, "i": {0: 2.5e-3, 1e-3: 2.5e-3}}, 3),
    "fast_blocking": ("long", {"i": {6: -5e-6}}, 3),
    "fast_blocking:short": ("short", {"i": {0.06: -5e-6}}, 3),
    "half_bridge": ("x", {"i": half_bridge}, 10),
    "inverter_without_load": ("x", {"vo": cmos}, 41),
    "junction_blocks": ("x", {"e": {1: -5}, "i": {1: -1e-14}}, 2),
    "junction_charges": ("x", {"u": {20e-3: 5.199483}}, 3),
    "manifold": ("ramp", {"Q": {5: 0, 10: math.sqrt(237.5 / (3 + 16 / 9)), 20: math.sqrt(475 / (3 + 16 / 9))}}, 5),
    "orifice_slow_feed": ("e", {"pa": {2: 0.60125}, "pc": {2: 0.59875}}, 3),
    "orifice_small": ("a", {"pp": {0.05: -1034776.8586, 0.1: -1300239.0674}}, 3),
    "orifice_turns_round": ("e", {"pa": {2: 1.6208161}, "pc": {2: 1.3791839}}, 3),
    "peak_without_resistor": ("x", {"u": peak}, 17),
    "pipe_network": ("e", {"Qab": {1: 33.33305}}, 2),
    "press": ("stroke", {"p": {0.5: 8481535.8168, 1: 8465933.1948}}, 3),
    "pulse_stepped_over": ("x", {"v": {10: 2.38878e-3}}, 3),
    "quadratic_one": ("x", {"f": {1: math.sqrt(1.25)}}, 2),
    "quadratic_two": ("x", {"f": {1: 1}, "e": {1: 1}}, 2),
    "radiation": ("e", {"T": {1: (1361 / (5.670374419e-8 * 1.6) + 81) ** 0.25}}, 2),
    "rectifier_exponential": ("mains", {"v": {20e-3: 1.16124174899, 40e-3: 1.39777632599, 60e-3: 1.4621416863}}, 4),
    "rests_on_border": ("x", {"u": lambda t: min(3 + t / 2, 4.2)}, 11),
    "rod_at_rest": ("steady", {"T[1]": {0: 363.15 - 80 / 11}, "T[10]": {0: 283.15 + 80 / 11}}, 2),
    "sampled": ("x", {"x": sampled}, 21),
    "schmitt": ("x", {"vc": {10: -3.6106160166}}, 11),
    "starts_on_threshold": ("x", {"T": lambda t: relay(t, 19, 21, 19, 30, 10)}, 11),
    "step_at_the_end": ("x", {"v": {20e-6: 1 - math.exp(-2)}}, 3),
    "stiff_auto": ("l", {"A": {4e10: 5.2083401e-8}}, 2),
    "tank_drains_dry": ("x", {"h": junction}, 9),
    "tank_equilibrium": ("eq", {"h": {0: 4, 1: 4}}, 2),
    "tanks_from_empty": ("x", {"h2": {100: 5.740438}}, 5),
    "tanks_from_empty:eq": ("eq", {"h": {0: 4}, "h2": {0: 6.25}}, 2),
    "three_phase_coils": ("x", {"i": {1: 1.5422449}}, 7),
    "thyristor": ("x", {"i": {5e-3: 1.358695}}, 13),
    "two_tanks_from_empty": ("fill", {"pa": {1e4: 19697.07}, "pc": {1e4: 9812.96}}, 2),
    "two_whens": ("x", {"k": {0.5: 0, 2: 11}, "v": {2: 11}}, 5),
    "vessel_turbulent": ("e", {"p": lambda t: (1 - t / 2) ** 2}, 5),
}

# so stiff that the explicit method refuses it, with the number of steps that it would have to go
STIFF = {"stiff_auto"}
# no variants: a port of its own in a component, or domains with offsets
AS_WRITTEN = {"equilibrium_meter", "radiation"}


def from_library(text):
    """Components of the library that are a one-port in a line, written out."""
    for kind, make in (("IdealDiode", "Se:{0}_valve such that min({0}.f, -{0}_valve.e)"), ("CheckValve", "R:{0}_valve {{ f = if e > 0 then {1}*e else 0; }}")):
        for m in list(re.finditer(rf"{kind}:(\w+)(?:\(g = ([^)]*)\))?;", text)):
            text = text.replace(m[0], f"1:{m[1]}; {m[1]} -> " + make.format(m[1], m[2]) + ";").replace(m[1] + ".line", m[1])
    return re.sub(r"import \w+;", "", text)


# ---- trying ----

def numbers(case):
    experiment, outputs, points = RIGHT[case]
    return experiment, points, outputs


def wrong(result, outputs, shown):
    """The first number that is off, or None."""
    time_at, columns = result["time"], result["columns"]
    for name, right in outputs.items():
        at = time_at if callable(right) else sorted(right)
        want = [right(t) if callable(right) else right[t] for t in at]
        size = max(abs(w) for w in want)
        for column in shown(name):
            if column not in columns:
                return f"no output {column}"
            for t, w in zip(at, want):
                k = min(range(len(time_at)), key=lambda i: abs(time_at[i] - t))
                seen = columns[column][k]
                if abs(time_at[k] - t) > 1e-9 * time_at[-1]:
                    return f"nothing at {t:g} s"
                if seen is None or not abs(seen - w) <= 1e-5 * max(abs(w), 1e-2 * size) + (1e-12 if size == 0 else 0):
                    return f"{column} at {t:g} s is {seen!r}, not {w!r}"
    return None


def make(case, path, spelling, size):
    """The text of a variant, and what its outputs are called."""
    text = open(path).read()
    if spelling == "written":
        return text, lambda name: [name]
    t = Text(from_library(text))
    t.after = re.sub(r" *\brtol *= *[0-9.e-]+ *;", "", t.after) if case not in STIFF else t.after
    for rewrite in (SIZES[size], SPELLINGS[spelling]) if size.startswith("row") else (SPELLINGS[spelling], SIZES[size]):
        rewrite(t)
    return t.text(), t.shown


def attempt(bgc, case, text, shown, solver, seconds, work):
    experiment, points, outputs = numbers(case)
    path = os.path.join(work, "variant.bg")
    open(path, "w").write(text)
    try:
        r = subprocess.run([bgc, "run", path, "-e", experiment, "--solver", solver, "--points", str(points), "--json"], capture_output=True,
                           text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"takes longer than {seconds:g} s"
    if r.returncode:
        first = next((line for line in r.stderr.splitlines() if "error:" in line), r.stderr[:200])
        if solver == "explicit" and "the explicit method needs" in first and case.split(":")[0] in STIFF:
            return None
        return first.split("error: ", 1)[-1] + f" (status {r.returncode})"
    return wrong(json.loads(r.stdout), outputs, shown)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bgc")
    p.add_argument("--folder", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "variants"))
    p.add_argument("names", nargs="*")
    p.add_argument("--slice", default="1/1")
    p.add_argument("--solver", action="append")
    p.add_argument("--only", default="")
    p.add_argument("--keep")
    p.add_argument("--seconds", type=float, default=60)
    o = p.parse_args()
    k, n = map(int, o.slice.split("/"))
    variants = []
    for case in sorted(RIGHT):
        if o.names and case not in o.names and case.split(":")[0] not in o.names:
            continue
        spellings = [("written", "one")] + ([] if case in AS_WRITTEN else [(s, z) for s in SPELLINGS for z in SIZES])
        variants += [(case, s, z, v) for s, z in spellings for v in o.solver or ("auto", "bdf", "explicit")
                     if o.only in f"{case} {s} {z} {v}"]
    tried, failed = 0, 0
    with tempfile.TemporaryDirectory() as work:
        for case, spelling, size, solver in variants[k - 1::n]:
            path = os.path.join(o.folder, case.split(":")[0] + ".bg")
            begin = time.time()
            text, shown = make(case, path, spelling, size)
            why = attempt(os.path.abspath(o.bgc), case, text, shown, solver, o.seconds, work)
            tried += 1
            if why:
                failed += 1
                print(f"{case}, {spelling}, {size}, {solver}: {why}", flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    name = f"{case}_{spelling}_{size}".replace(" ", "").replace(":", "_")
                    open(os.path.join(o.keep, name + ".bg"), "w").write(text)
            elif time.time() - begin > 5:
                print(f"{case}, {spelling}, {size}, {solver}: right, {time.time() - begin:.1f} s", flush=True)
    print(f"{tried} variants, {failed} wrong")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
