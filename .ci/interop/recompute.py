"""The analyses of a lake, computed a second time in plain Python from the payloads of history.deal_versions.

usage: recompute.py LAKE

The definitions are those of docs/generated/analyses.md. Texts are read by the forms that the simulated market writes; a
text of another form gives no number here, and must give none in the catalog. No SQL computes an expected number. Each
analysis is compared as of three instants: the first run, one in the middle, and now.
"""

import collections
import decimal
import json
import re
import statistics
import sys
import unicodedata
from datetime import date, datetime, timezone
from fractions import Fraction

import duckdb

ORDER = ["IG", "HY", "EM", "LL", "CF", "AF"]
LEADS = {
    "bookrunner", "active bookrunner", "passive bookrunner", "joint bookrunner", "lead manager", "joint lead manager",
    "global coordinator", "joint global coordinator", "b&d",
}  # fmt: skip


# --- reading of payloads -------------------------------------------------------------------------------------------


def at(node, *path):
    for step in path:
        node = node.get(step) if isinstance(node, dict) else None
    return node


def amount(node, *path):
    value = at(node, *path)
    return Fraction(value) if isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool) else None


def usd_of(node):
    """The nominal in USD; None if the source has not converted it."""
    return amount(node, "nominal", "converted", "usd") or None


def day(text):
    try:
        return date.fromisoformat(text) if isinstance(text, str) and len(text) == 10 else None
    except ValueError:
        return None


def entries(value):
    return [e if isinstance(e, dict) else {} for e in value if e is not None] if isinstance(value, list) else []


def name_of(value):
    """A name in the form in which names are compared."""
    if not isinstance(value, str):
        return None
    text = unicodedata.normalize("NFC", value.replace("\0", " ").replace("\ufffd", " ")).lower()
    text = "".join(" " if c.isspace() or unicodedata.category(c)[0] in "ZC" else c for c in text)
    return " ".join(text.split()) or None


def linked(deal, link):
    href = at(deal, "_links", link, "href")
    found = re.search(r"/(\d+)$", href.split("?")[0]) if isinstance(href, str) else None
    return int(found[1]) if found else None


# --- reading of texts: (lo, hi) of a level, by the forms of the dictionary of texts ----------------------------------

NUMBER = r"(-?\d+(?:\.\d+)?)"
STAGES = [
    (r"final price guidance|final guidance|price guidance|guidance|fpg", "GUIDANCE"),
    (r"revised price guidance|revised guidance|revised price talk|revised talk|revised ipts|revised", "REVISED"),
    (r"ipts|ipt|ipg", "IPT"), (r"final", "FINAL"), (r"whisper", "WHISPER"), (r"price talk|talk", "TALK"),
]  # fmt: skip
BENCHMARKS = {"T": "UST", "UST": "UST", "MS": "MS", "SARON MS": "MS", "SOFR MS": "MS", "DBR": "BUND", "UKT": "UKT", "GOC": "GOC", "ACGB": "ACGB", "JGB": "JGB", "BBSW": "BBSW", "SOFR": "SOFR", "SONIA": "SONIA"}


# The letters of bonds whose meaning the currency settles; "" is any other currency.
LETTERS = {
    "G": {"GBP": "UKT", None: "UKT", "": "G_SPREAD"}, "B": {"AUD": None, "NZD": None, "": "BUND"},
    "S": {"USD": "SOFR", "GBP": "SONIA", "": None}, "SMS": {"": "MS"},
}  # fmt: skip


def benchmark_of(name, currency):
    meanings = LETTERS.get(name)
    return meanings.get(currency, meanings[""]) if meanings else BENCHMARKS[name]


def clean(text):
    if not isinstance(text, str):
        return None
    return " ".join(text.replace("\u2013", "-").split())


def spread_of(text, currency):
    """(benchmark, lo, hi) of T+95, MS+105-110, MS+98bp (+/-2); None if the text gives none."""
    found = re.fullmatch(rf"([A-Z]+(?: MS)?)\s?\+\s?{NUMBER}(?:-{NUMBER})?\s?(?:bp)?", text or "")
    if found and (found[1] in BENCHMARKS or found[1] in LETTERS):
        lo = Fraction(found[2])
        hi = Fraction(found[3]) if found[3] else lo
        return (benchmark_of(found[1], currency), lo, hi) if lo <= hi else None
    found = re.fullmatch(rf"(DBR|UKT) \d+(?:\.\d+)?% [A-Z][a-z]{{2}}-\d\d\+{NUMBER}", text or "")
    return (BENCHMARKS[found[1]], Fraction(found[2]), Fraction(found[2])) if found else None


def percent_of(text):
    """(lo, hi) of 7.25%, 7.00-7.25% and 7.25."""
    found = re.fullmatch(rf"{NUMBER}%?(?:-{NUMBER}%)?", text or "")
    if not found:
        return None
    lo = Fraction(found[1])
    return (lo, Fraction(found[2]) if found[2] else lo)


class Talk:
    """A step of price talk."""

    def __init__(self, text, currency):
        rest, self.stage, self.spread, self.rate, self.remark = clean(text) or "", None, None, None, None
        for words, stage in STAGES:
            found = re.match(rf"(?i)(?:{words})\s+", rest)
            if found:
                rest, self.stage = rest[found.end() :], stage
                break
        either = None
        found = re.search(r"\s*\(?(WPIR)\)?$", rest)
        if found:
            rest, self.remark = rest[: found.start()], "WPIR"
        found = re.search(rf"\s*\(\+/-{NUMBER}\)$", rest)
        if found:
            rest, either, self.remark = rest[: found.start()], Fraction(found[1]), self.remark or "PLUS_MINUS"
        found = re.search(r"\s+area$", rest)
        if found:
            rest, self.remark = rest[: found.start()], self.remark or "AREA"
        self.spread = spread_of(rest, currency)
        if not self.spread and rest.endswith("%"):
            self.rate = percent_of(rest)
        self.point = (self.spread and self.spread[1] == self.spread[2]) or (self.rate and self.rate[0] == self.rate[1])

    @property
    def mid(self):
        return (self.spread[1] + self.spread[2]) / 2 if self.spread else None

    @property
    def rate_mid(self):
        return (self.rate[0] + self.rate[1]) / 2 if self.rate else None


def premium_of(text):
    if clean(text) == "flat":
        return Fraction(0)
    found = re.fullmatch(rf"{NUMBER}bp inside FV", clean(text) or "")
    if found:
        return -Fraction(found[1])
    found = re.fullmatch(rf"(?:c\.)?{NUMBER}(?:-{NUMBER})?(?:bp)?", clean(text) or "")
    if not found:
        return None
    return (Fraction(found[1]) + Fraction(found[2] or found[1])) / 2


def margin_of(text):
    found = re.fullmatch(rf"(?:[A-Z]+\+(?:CSA\+)?{NUMBER}(?:-{NUMBER})?|{NUMBER}bp(?:-{NUMBER})?)", clean(text) or "")
    if not found:
        return None
    lo = Fraction(found[1] or found[3])
    return (lo + Fraction(found[2] or found[4] or lo)) / 2


def oid_of(text):
    text = clean(text) or ""
    if text == "par":
        return Fraction(100)
    found = re.fullmatch(rf"{NUMBER}(?:-{NUMBER})?", text)
    if not found or not 50 <= Fraction(found[1]) <= 110:
        return None
    return (Fraction(found[1]) + Fraction(found[2] or found[1])) / 2


MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def due_of(text):
    """(year, month, months of a tenor) of a loan's maturity."""
    text = clean(text) or ""
    if day(text):
        return day(text).year, day(text).month, None
    found = re.fullmatch(r"([A-Z][a-z]{2})-(\d\d)", text)
    if found and found[1] in MONTHS:
        return 2000 + int(found[2]), MONTHS.index(found[1]) + 1, None
    if re.fullmatch(r"20\d\d", text):
        return int(text), None, None
    found = re.fullmatch(r"(\d+)(yr| months)", text)
    if found:
        return None, None, int(found[1]) * (12 if found[2] == "yr" else 1)
    return None, None, None


def months_after(start, months):
    """The months since the year 0 of the month that is some months after a day."""
    return start.year * 12 + start.month - 1 + months


# --- the state of the lake -------------------------------------------------------------------------------------------

Version = collections.namedtuple("Version", "service market kind deal_id version change known_at payload")


def read(con):
    # A column has U+FFFD where the payload has U+0000.
    rows = con.execute(
        "SELECT service, market, kind, deal_id, version, change, epoch_us(valid_from), payload FROM history.deal_versions ORDER BY ALL"
    ).fetchall()
    return [Version(*row[:7], json.loads(row[7].replace("\\u0000", "\\ufffd"), parse_float=decimal.Decimal) if row[7] else None) for row in rows]


class State:
    """What the lake knew at an instant, in microseconds."""

    def __init__(self, versions, instant, today):
        self.known = [v for v in versions if v.known_at <= instant]
        self.today = today
        latest = {}
        for v in self.known:
            key = (v.service, v.market, v.kind, v.deal_id)
            if key not in latest or latest[key].version < v.version:
                latest[key] = v
        self.current = {key: v for key, v in latest.items() if v.change != "removed"}
        self.bonds = {(k[1], k[3]): v.payload for k, v in self.current.items() if k[0] == "bond" and k[2] == "priced"}
        self.loans = {(k[1], k[3]): v.payload for k, v in self.current.items() if k[0] == "loan" and k[2] == "priced"}
        self.keeper = self.duplicates(
            (key, (d.get("isinCode"), d.get("pricingDate"), d.get("dealType"), amount(d, "nominal", "amount"))) for key, d in self.bonds.items()
        )
        self.counted = self.bonds.keys() - self.keeper.keys()
        self.tranches = {}
        identities = []
        for (market, deal_id), d in self.loans.items():
            for place, t in enumerate(entries(d.get("tranches")), 1):
                key = (market, deal_id, place)
                self.tranches[key] = t
                identities.append((key, (t.get("figiCode"), d.get("pricedDate"), t.get("currency"), amount(t, "nominal", "amount"))))
        self.counted_tranches = self.tranches.keys() - self.duplicates(identities).keys()

    @staticmethod
    def duplicates(identities):
        """The keys that do not count, each with the one that does in its place: of one security in several markets, that of the first market."""
        identities, first = sorted(identities, key=lambda listed: (ORDER.index(listed[0][0]), listed[0])), {}
        for key, identity in identities:
            if all(part is not None for part in identity) and identity[0]:
                first.setdefault(identity, key)
        return {key: first[identity] for key, identity in identities if identity in first and first[identity][0] != key[0]}


# --- the analyses ----------------------------------------------------------------------------------------------------


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else None


UNRATED = {"nr", "n/r", "wr", "wd", "pif", "unrated", "not rated", "withdrawn", "", "-", "n/a", "tbc"}


def execution(state):
    rows = {}
    for key in state.counted:
        d, market = state.bonds[key], key[0]
        steps = entries(d.get("priceEvolution"))
        order = sorted(range(len(steps)), key=lambda i: (instant_of(steps[i].get("date")) or datetime.max.replace(tzinfo=timezone.utc), i))
        talk = [Talk(steps[i].get("value"), d.get("currency")) for i in order]
        for i, t in enumerate(talk):
            t.final = t.stage == "FINAL" or t.stage is None and t.remark is None and i == len(talk) - 1 and bool(t.point)
            t.guides = t.stage in ("GUIDANCE", "REVISED")
        before = [t for t in talk if not t.final]
        first = next((t for t in before if t.spread), None)
        first_rate = next((t for t in before if t.rate), None)
        ipt = next((t for t in before if t.spread and not t.guides), None)
        guidance = next((t for t in reversed(talk) if t.spread and t.guides), None)
        stated = {}
        for field in ("spread", "swap", "gov"):
            level = spread_of(clean(d.get(field)), d.get("currency"))
            if level and level[1] == level[2]:
                stated[field] = (field, level[0], level[1])
        final = stated.get("spread")
        if market == "EM":
            said = next((t for t in reversed(talk) if t.final and t.spread and first and first.spread[0] and t.spread[0] == first.spread[0] and t.point), None)
            choices = [stated.get(f) for f in ("swap", "gov") if first and first.spread[0] and f in stated and stated[f][1] == first.spread[0]]
            choices += [("final talk", said.spread[0], said.mid)] if said else []
            choices += [stated[f] for f in ("swap", "gov") if f in stated]
            final = choices[0] if choices else None
        rate = percent_of(clean(d.get("yield")))
        tightening, basis = None, None
        if market == "HY" and first_rate and rate and rate[0] == rate[1]:
            tightening, basis = 100 * (first_rate.rate_mid - rate[0]), "yield"
        elif first and final and first.spread[0] and first.spread[0] == final[1]:
            tightening, basis = first.mid - final[2], "spread"
        books, nominal = amount(d, "stats", "finalBooks"), amount(d, "nominal", "amount")
        cover = books / nominal if books and nominal and books > 0 and nominal > 0 else None
        flagged = None if cover is None else not Fraction(1, 2) <= cover <= 20
        nip = premium_of(d.get("nip"))
        if market == "EM" and premium_of(at(d, "premium", "nip")) is not None:
            nip = premium_of(at(d, "premium", "nip"))
        says = [t for t in talk if t.spread or t.rate]
        rating = [at(d, "rating", agency) for agency in ("moodys", "standardAndPoors", "fitch")]
        unrated = all(clean(text) is None or clean(text).lower() in UNRATED for text in rating)
        rows[key] = {
            "unrated": unrated, "first_talk_benchmark": first.spread[0] if first else None, "first_talk_mid_bp": first.mid if first else None,
            "first_talk_yield_mid_pct": first_rate.rate_mid if first_rate else None, "ipt_mid_bp": ipt.mid if ipt else None,
            "guidance_mid_bp": guidance.mid if guidance else None, "final_source": final[0] if final else None,
            "final_bp": final[2] if final else None, "tightening_bp": tightening, "tightening_basis": basis,
            "cover": None if flagged else cover, "cover_flagged": flagged, "nip_bp": nip,
            "only_final_talk": all(t.final for t in says) if says else None,
        }  # fmt: skip
    return rows


def instant_of(text):
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")) if isinstance(text, str) else None
    except ValueError:
        return None


def summary(state):
    rows, cells = {}, collections.defaultdict(list)
    for (market, _), row in execution(state).items():
        cells[market].append(row)
    for market, deals in cells.items():
        row = {"deals": len(deals), "cover_flagged": sum(r["cover_flagged"] is True for r in deals), "talk_n": sum(r["only_final_talk"] is not None for r in deals)}
        row["only_final_talk"] = sum(r["only_final_talk"] is True for r in deals)
        for column in ("tightening_bp", "cover", "nip_bp"):
            values = [r[column] for r in deals if r[column] is not None]
            row |= {f"{column}_n": len(values), f"{column}_mean": mean(values), f"{column}_median": statistics.median(values) if values else None}
        rows[(market,)] = row
    return rows


def volume(state):
    rows = {}

    def add(when, service, market, currency, usd, esg, unconverted):
        period = when and date(when.year, when.month - (when.month - 1) % 3, 1)
        row = rows.setdefault((period, service, market, currency), {"deals": 0, "deals_unconverted": 0, "usd": 0, "esg_usd": 0})
        row["deals"] += 1
        row["deals_unconverted"] += unconverted
        row["usd"] += usd
        row["esg_usd"] += esg

    for key in state.counted:
        d = state.bonds[key]
        usd = usd_of(d)
        label = any(d.get(flag) is True for flag in ("green", "social", "sustainable", "sustainabilityLinked"))
        add(day(d.get("pricingDate")), "bond", key[0], d.get("currency"), usd or 0, (usd or 0) if label else 0, usd is None)
    for key, d in state.loans.items():
        every = [k for k in state.tranches if k[:2] == key]
        counts = [state.tranches[k] for k in every if k in state.counted_tranches]
        if every and not counts:
            continue
        currencies = {t.get("currency") for t in counts} - {None}
        usd = [usd_of(t) for t in counts]
        label = sum(usd_of(t) or 0 for t in counts if t.get("greenLoan") is True or t.get("sustainabilityLinked") is True)
        currency = "multiple" if len(currencies) > 1 else next(iter(currencies), None)
        add(day(d.get("pricedDate")), "loan", key[0], currency, sum(u or 0 for u in usd), label, not usd or None in usd)
    return rows


def league(state, service, scope, credit):
    rows = collections.defaultdict(lambda: {"credit_usd": Fraction(0), "deals": set()})

    def share(key, usd, banks):
        banks = {bank for bank, lead in banks if bank and (lead or scope == "all" and credit != "lead")}
        for bank in banks or {"unallocated"}:
            rows[(bank,)]["credit_usd"] += usd if credit == "full" else usd / max(len(banks), 1)
            rows[(bank,)]["deals"].add(key[:2])

    if service == "BOND":
        for key in state.counted:
            d = state.bonds[key]
            if usd_of(d) and day(d.get("pricingDate")) and d.get("leagueTableEligible") is True:
                share(key, usd_of(d), [(name_of(b.get("name")), name_of(b.get("status")) in LEADS) for b in entries(d.get("banks"))])
    else:
        for key in state.counted_tranches:
            t = state.tranches[key]
            if usd_of(t) and day(state.loans[key[:2]].get("pricedDate")):
                banks = [(name_of(b.get("name")), True in (at(b, "type", "bookrunner"), at(b, "type", "mla"))) for b in entries(t.get("banks"))]
                share(key, usd_of(t), banks)
    return {bank: {"credit_usd": row["credit_usd"], "deals": len(row["deals"])} for bank, row in rows.items()}


def original_of(state, key):
    """The deal that a bond names as its original; where another market keeps that one, the deal that it keeps."""
    href = at(state.bonds.get(key) or {}, "_links", "original", "href")
    found = re.search(r"/bond/([A-Za-z]+)/priced-deal/(\d+)$", href.split("?")[0]) if isinstance(href, str) else None
    if not found:
        return None
    named = (found[1].upper(), int(found[2]))
    named = state.keeper.get(named, named)
    return None if named == key else named


def lines(state):
    """The counted bond deals of each line, the earliest first, by market and root."""
    all_lines = collections.defaultdict(list)
    for key in state.counted:
        path, original = [key], original_of(state, key)
        while original and original not in path:
            path.append(original)
            original = original_of(state, original)
        # Of a circle the least deal is the root.
        all_lines[min(path[path.index(original) :]) if original else path[-1]].append(key)
    for members in all_lines.values():
        members.sort(key=lambda k: (state.bonds[k].get("pricingDate") or "", k[1], k[0]))
    return all_lines


def families(state):
    rows = {}
    for line, members in lines(state).items():
        original = state.bonds.get(line)
        known = original is not None and original.get("dealType") != "INCREASE"
        nominals = [n for n in (amount(state.bonds[k], "nominal", "amount") for k in members) if n is not None]
        converted = [usd_of(state.bonds[k]) for k in members if usd_of(state.bonds[k])]
        rows[line] = {
            "increases": sum(k != line or not known for k in members), "original_known": known, "line_size": sum(nominals) if nominals else None,
            "line_size_usd": sum(converted) if converted else None,
        }  # fmt: skip
    return rows


def wall(state):
    rows = {}

    def add(year, basis, service, market, usd, unconverted):
        row = rows.setdefault((year, basis, service, market), {"lines": 0, "usd": 0, "unconverted": 0})
        row["lines"] += 1
        row["usd"] += usd
        row["unconverted"] += unconverted

    for (market, _), members in lines(state).items():
        deals = [state.bonds[k] for k in members]
        latest = {f: next((day(d.get(f)) for d in reversed(deals) if day(d.get(f))), None) for f in ("maturity", "firstCallDate")}
        usd = [usd_of(d) for d in deals]
        maturity, call = latest["maturity"], latest["firstCallDate"]
        perpetual = deals[-1].get("perpetual") is True or maturity is not None and maturity.year >= 9000
        cell = (None, "none")
        if not perpetual and maturity:
            if maturity < state.today:
                continue
            cell = (maturity.year, "date")
        elif perpetual and call and call >= state.today:
            cell = (call.year, "first call")
        add(*cell, "bond", market, sum(u or 0 for u in usd), None in usd)
    for key in state.counted_tranches:
        t = state.tranches[key]
        year, _, tenor = due_of(t.get("maturity"))
        basis = "date" if year else "none"
        start = day(t.get("pricingDate")) or day(state.loans[key[:2]].get("pricedDate"))
        if tenor is None and isinstance(t.get("tenor"), int) and 12 <= t["tenor"] <= 480:
            tenor = t["tenor"]
        if not year and tenor is not None and start:
            year, basis = months_after(start, tenor) // 12, "tenor"
        if not year or year >= state.today.year:
            add(year, basis, "loan", key[0], usd_of(t) or 0, usd_of(t) is None)
    return rows


def terms(state):
    """Terms of loan tranches. The flex is computed where names identify the tranches of both deals in every version."""
    expected = {}
    for v in state.known:
        if v.service == "loan" and v.kind == "expected" and v.payload:
            priced = linked(v.payload, "pricedDeal")
            if priced is not None:
                key = (v.market, priced)
                expected[key] = max(expected.get(key, 0), v.deal_id)
    versions = collections.defaultdict(list)
    for v in state.known:
        if v.service == "loan" and v.kind == "expected" and v.payload:
            versions[(v.market, v.deal_id)].append(v.payload)
    rows = {}
    for key, t in state.tranches.items():
        margin, oid = margin_of(t.get("margin")), oid_of(t.get("oid"))
        row = {"margin_mid_bp": margin, "oid_mid": oid, "yield_bp": None if margin is None or oid is None else margin + (100 - oid) * 100 / 3}
        who = (name_of(t.get("name")), t.get("currency"))
        past = versions[(key[0], expected.get(key[:2]))]
        names = [[(name_of(e.get("name")), e.get("currency")) for e in entries(p.get("tranches"))] for p in past]
        own = [(name_of(e.get("name")), e.get("currency")) for e in entries(state.loans[key[:2]].get("tranches"))]
        steady = past and None not in who and own.count(who) == 1 and all(n == names[0] and n.count(who) == 1 and len({x[0] for x in n}) == len(n) for n in names)
        if steady:
            launch = next((e for p in past for e in entries(p.get("tranches")) if (name_of(e.get("name")), e.get("currency")) == who and margin_of(e.get("margin")) is not None), None)
            if launch:
                by_margin = None if margin is None else margin - margin_of(launch.get("margin"))
                by_price = None if oid is None or oid_of(launch.get("oid")) is None else oid - oid_of(launch.get("oid"))
                if by_margin is not None or by_price is not None:
                    moved = (by_margin or 0) - 100 * (by_price or 0) / 4
                    row |= {"yield_flex_bp": moved, "flex": "tighter" if moved < 0 else "wider" if moved > 0 else "none"}
        rows[key] = row
    return rows


def quality(state):
    checks = collections.defaultdict(lambda: {"value": 0, "total": 0})

    def check(service, market, name, failed):
        if failed is not None:
            checks[(service, market, name)]["total"] += 1
            checks[(service, market, name)]["value"] += failed

    for key, d in state.bonds.items():
        books, nominal = amount(d, "stats", "finalBooks"), amount(d, "nominal", "amount")
        check("bond", key[0], "usd_zero", usd_of(d) is None)
        check("bond", key[0], "unit_outlier_books", not Fraction(1, 2) <= books / nominal <= 20 if books and nominal and books > 0 and nominal > 0 else None)
        check("bond", key[0], "duplicate_in_two_markets", key not in state.counted)
        check("bond", key[0], "pricing_date_missing", day(d.get("pricingDate")) is None)
    for key, t in state.tranches.items():
        year, month, stated = due_of(t.get("maturity"))
        tenor = t.get("tenor") if isinstance(t.get("tenor"), int) else None
        start = day(t.get("pricingDate")) or day(state.loans[key[:2]].get("pricedDate"))
        readable = tenor is not None and 12 <= tenor <= 480
        check("loan", key[0], "usd_zero", usd_of(t) is None)
        check("loan", key[0], "duplicate_in_two_markets", key not in state.counted_tranches)
        check("loan", key[0], "tenor_unit", None if tenor is None else not readable)
        off = None
        if readable and year and start:
            due = months_after(start, tenor)
            off = not year * 12 + (month or 1) - 7 <= due <= year * 12 + (month or 12) + 5
        elif readable and stated and not year:
            off = abs(stated - tenor) > 6
        check("loan", key[0], "maturity_off_tenor", off)
    return checks


def pipeline(state):
    rows = collections.defaultdict(lambda: {"tranches": 0, "priced": 0})
    for (service, market, kind, _), v in state.current.items():
        if kind != "expected":
            continue
        tranches = entries(at(v.payload, "_embedded", "tranches") if service == "bond" else v.payload.get("tranches"))
        for t in tranches or [{}]:
            status = t.get("status") if isinstance(t.get("status"), str) else ""
            if service == "bond":
                priced = linked(t, "pricedDeal") is not None or status in ("PRICED", "INCREASED")
            else:
                priced = linked(v.payload, "pricedDeal") is not None or status.lower() == "priced"
            rows[(service, market)]["tranches"] += 1
            rows[(service, market)]["priced"] += priced
    return rows


def deals(state):
    rows = {}
    for key, d in state.bonds.items():
        banks = {name_of(b.get("name")) for b in entries(d.get("banks"))} - {None}
        leads = {name_of(b.get("name")) for b in entries(d.get("banks")) if name_of(b.get("status")) in LEADS} - {None}
        rows[key] = {"counted": key in state.counted, "banks": len(banks), "lead_banks": len(leads), "price_steps": len(entries(d.get("priceEvolution")))}
    return rows


def loan_deals(state):
    rows = {}
    for key in state.loans:
        tranches = [t for k, t in state.tranches.items() if k[:2] == key]
        usd = [usd_of(t) for t in tranches]
        rows[key] = {"tranches": len(tranches), "usd": sum(u for u in usd if u) or None, "unconverted": usd.count(None)}
    return rows


def sizes(state):
    """The vintages of nominal_usd of the bonds with the most versions."""
    versions = collections.defaultdict(list)
    for v in state.known:
        if v.service == "bond" and v.market == "IG" and v.kind == "priced":
            versions[v.deal_id].append(v)
    most = sorted(versions, key=lambda i: (-len(versions[i]), i))[:5]
    rows = {}
    for deal_id in most:
        before = None
        for i, v in enumerate(sorted(versions[deal_id], key=lambda v: v.version)):
            value = amount(v.payload, "nominal", "converted", "usd") if v.payload else None
            if i == 0 or v.change in ("removed", "reappeared") or value != before:
                rows[(deal_id, v.version)] = {"value": value}
            before = value
    return most, rows


# --- the comparison --------------------------------------------------------------------------------------------------


def exact(value):
    if isinstance(value, (float, decimal.Decimal)):
        return Fraction(value)
    return value


def same(got, want):
    got, want = exact(got), exact(want)
    if isinstance(got, bool) or isinstance(want, bool) or not isinstance(want, (int, Fraction)) or not isinstance(got, (int, Fraction)):
        return got == want
    return abs(got - want) <= Fraction(1, 10**6) + abs(want) / 10**9


def compared(con, what, query, keys, expected, tolerance=None):
    cursor = con.execute(query)
    names = [column[0] for column in cursor.description]
    got = {}
    for row in cursor.fetchall():
        got[row[:keys]] = dict(zip(names[keys:], row[keys:]))
    wrong = [f"{key}: only in {'the catalog' if key in got else 'the payloads'}" for key in got.keys() ^ expected.keys()]
    cells = 0
    for key in got.keys() & expected.keys():
        for column, want in expected[key].items():
            cells += 1
            limit = tolerance and column == "credit_usd"
            if not (abs(exact(got[key][column]) - want) <= tolerance if limit else same(got[key][column], want)):
                wrong.append(f"{key} {column}: the catalog says {got[key][column]}, the payloads {want if not isinstance(want, Fraction) else float(want)}")
    if wrong:
        raise SystemExit(f"{what}: {len(wrong)} differences, such as\n  " + "\n  ".join(sorted(wrong)[:10]))
    if not expected:
        raise SystemExit(f"{what}: nothing to compare")
    return cells


def opened(lake):
    """The catalog of a lake, its versions, and the instants of its runs and syncs, in microseconds."""
    con = duckdb.connect(f"{lake}/catalog.duckdb", read_only=True)
    con.execute("SET VARIABLE lake = ?", [lake])
    con.execute("SET TimeZone = 'UTC'")
    runs = con.execute("SELECT epoch_us(known_at) FROM runs WHERE command IN ('run', 'sync') ORDER BY 1").fetchall()
    return con, read(con), [row[0] for row in runs]


def main(lake):
    con, versions, runs = opened(lake)
    cells, done = 0, set()

    def compare(con, what, *args, **options):
        done.add(what.split()[0])
        return compared(con, what, *args, **options)

    for instant in (runs[0], runs[len(runs) // 2], runs[-1]):
        t = f"make_timestamptz({instant})"
        state = State(versions, instant, datetime.fromtimestamp(instant / 1e6, timezone.utc).date())
        talk = "rating IS NOT DISTINCT FROM 'unrated' AS unrated, first_talk_benchmark, first_talk_mid_bp, first_talk_yield_mid_pct, ipt_mid_bp, guidance_mid_bp, final_source, final_bp, tightening_bp, tightening_basis, cover, cover_flagged, nip_bp, only_final_talk"
        cells += compare(con, "execution_metrics", f"SELECT market, deal_id, {talk} FROM execution_metrics({t})", 2, execution(state))
        cells += compare(con, "execution_summary", f"SELECT market, * EXCLUDE (market) FROM execution_summary({t}) WHERE rating = 'all'", 1, summary(state))
        cells += compare(con, "issuance_volume", f"SELECT period, service, market, currency, * EXCLUDE (period, service, market, currency) FROM issuance_volume('quarter', {t})", 4, volume(state))
        for service in ("BOND", "LOAN"):
            for scope, credit in (("lead", "split"), ("all", "split"), ("all", "full"), ("all", "lead")):
                query = f"SELECT bank, credit_usd, deals FROM league_table('{service}', DATE '1900-01-01', DATE '2999-12-31', {t}, scope := '{scope}', credit := '{credit}')"
                cells += compare(con, f"league_table {service} {scope} {credit}", query, 1, league(state, service, scope, credit), tolerance=1)
        cells += compare(con, "tap_family", f"SELECT market, root_deal_id, increases, original_known, line_size, line_size_usd FROM tap_family({t})", 2, families(state))
        cells += compare(con, "maturity_wall", f"SELECT year, basis, service, market, lines, usd, unconverted FROM maturity_wall({t})", 4, wall(state))
        cells += compare(con, "loan_flex_and_terms", f"SELECT market, deal_id, ordinal, margin_mid_bp, oid_mid, yield_bp, yield_flex_bp, flex FROM loan_flex_and_terms({t})", 3, terms(state))
        names = "('usd_zero', 'unit_outlier_books', 'duplicate_in_two_markets', 'pricing_date_missing', 'tenor_unit', 'maturity_off_tenor')"
        query = f"SELECT service, market, name, value, total FROM data_quality({t}) WHERE kind = 'priced' AND name IN {names} AND NOT (service = 'loan' AND name = 'pricing_date_missing')"
        cells += compare(con, "data_quality", query, 3, quality(state))
        query = f"SELECT service, market, count(*) AS tranches, count(*) FILTER (is_priced) AS priced FROM pipeline_as_of({t}) GROUP BY ALL"
        cells += compare(con, "pipeline_as_of", query, 2, pipeline(state))
        cells += compare(con, "bond_priced_as_of", f"SELECT market, deal_id, counted, banks, lead_banks, price_steps FROM bond_priced_as_of({t})", 2, deals(state))
        cells += compare(con, "loan_deals_core_as_of", f"SELECT market, deal_id, tranches, usd, unconverted FROM loan_deals_core_as_of({t})", 2, loan_deals(state))
        most, vintages = sizes(state)
        parts = [f"SELECT {i} AS deal_id, version, value::DECIMAL(24, 6) AS value FROM vintages('bond', 'IG', {i}, 'nominal_usd', as_of := {t})" for i in most]
        cells += compare(con, "vintages", " UNION ALL ".join(parts), 2, vintages)
    print(f"{cells} numbers of {len(done)} analyses, computed again from the payloads as of three instants, are those of the catalog")


if __name__ == "__main__":
    main(sys.argv[1])
