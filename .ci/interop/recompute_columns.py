"""The columns of the analyses that recompute.py leaves out, computed a second time in plain Python.

usage: recompute_columns.py LAKE

It continues recompute.py: the definitions are those of docs/generated/analyses.md, and no SQL computes an expected number.
"""

import collections
import statistics
import sys
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

from recompute import LEADS, UNRATED, State, Talk, amount, at, clean, compared, day, entries, execution, instant_of, lines, linked, mean
from recompute import name_of, opened, percent_of, premium_of, spread_of, terms, usd_of

MOODYS = "Aaa Aa1 Aa2 Aa3 A1 A2 A3 Baa1 Baa2 Baa3 Ba1 Ba2 Ba3 B1 B2 B3 Caa1 Caa2 Caa3 Ca C D".split()
LETTERS = "AAA AA+ AA AA- A+ A A- BBB+ BBB BBB- BB+ BB BB- B+ B B- CCC+ CCC CCC- CC C D".split()
COHORTS = [(1, "AAA"), (4, "AA"), (7, "A"), (10, "BBB"), (13, "BB"), (16, "B"), (22, "CCC")]
LABELS = {"green": "green", "social": "social", "sustainable": "sustainability", "sustainabilityLinked": "slb"}


def notch(text, scale):
    """The place of a rating in its scale; None for no rating. Marks, outlooks and watches are left out."""
    if clean(text) is None or clean(text).lower() in UNRATED:
        return None
    rest = clean(text).removeprefix("(P)").strip()
    for grade in sorted(scale, key=len, reverse=True):
        if rest.startswith(grade):
            return scale.index(grade) + 1
    raise SystemExit(f"the rating {text!r} is in none of the forms of the simulated market")


def composite(deal):
    rating = deal.get("rating") or {}
    found = [notch(rating.get("moodys"), MOODYS), notch(rating.get("standardAndPoors"), LETTERS), notch(rating.get("fitch"), LETTERS)]
    found = sorted(n for n in found if n)
    return found[min(len(found) - 1, 1)] if found else None


def cohort(place):
    return "unrated" if place is None else next(name for last, name in COHORTS if place <= last)


def talk_of(deal):
    """The steps of price talk in their order, and their dates."""
    steps = [(instant_of(s.get("date")), i, s.get("value")) for i, s in enumerate(entries(deal.get("priceEvolution")))]
    steps.sort(key=lambda s: (s[0] is None, s[0], s[1]) if s[0] else (True, s[1]))
    talk = []
    for _, _, text in steps:
        t = Talk(text, deal.get("currency"))
        t.text, t.guides = text, t.stage in ("GUIDANCE", "REVISED")
        talk.append(t)
    for t in talk:
        t.final = t.stage == "FINAL" or t is talk[-1] and t.stage is None and t.remark is None and bool(t.point)
    return talk, [s[0] for s in steps if s[0]]


def paths(state):
    """How deals came to their price: the columns of execution_metrics that are texts, counts and times."""
    rows = {}
    for key in state.counted:
        d = state.bonds[key]
        talk, dates = talk_of(d)
        before = [t for t in talk if not t.final]
        says = [t for t in before if t.spread or t.rate]
        early = [t for t in before if not t.guides]
        ipt = next((t for t in early if t.spread), None)
        ipt_rate = next((t for t in early if t.rate), None)
        guidance = next((t for t in reversed(talk) if t.guides and t.spread), None)
        guidance_rate = next((t for t in reversed(talk) if t.guides and t.rate), None)
        rate = percent_of(clean(d.get("yield")))
        rows[key] = {
            "ipt_text": ipt and ipt.text, "ipt_benchmark": ipt and ipt.spread[0], "ipt_yield_mid_pct": ipt_rate and ipt_rate.rate_mid,
            "guidance_text": guidance and guidance.text, "guidance_yield_mid_pct": guidance_rate and guidance_rate.rate_mid,
            "last_talk_text": says[-1].text if says else None, "last_talk_stage": says[-1].stage if says else None,
            "final_yield_pct": rate[0] if rate and rate[0] == rate[1] else None, "rating": cohort(composite(d)),
            "window_minutes": Fraction((max(dates) - min(dates)) // timedelta(microseconds=1), 60_000_000) if dates else None,
        }  # fmt: skip
        if all((t.text or "").isascii() for t in talk):  # a stage may be written with a strange letter
            rows[key]["guidance_revisions"] = max(sum(t.guides for t in talk) - 1, 0)
    return rows


def cohorts(state, paths):
    """execution_summary, by market and rating."""
    cells, metrics = collections.defaultdict(list), execution(state)
    for key, path in paths.items():
        row = metrics[key] | {"window_minutes": path["window_minutes"], "usd": usd_of(state.bonds[key])}
        cells[(key[0], "all")].append(row)
        cells[(key[0], path["rating"])].append(row)
    rows = {}
    for cell, deals in cells.items():
        row = {"deals": len(deals), "cover_flagged": sum(r["cover_flagged"] is True for r in deals)}
        for column in ("tightening_bp", "cover", "nip_bp", "window_minutes"):
            values = [r[column] for r in deals if r[column] is not None]
            row |= {f"{column}_n": len(values), f"{column}_mean": mean(values), f"{column}_median": statistics.median(values) if values else None}
        weighted = [(r["cover"], r["usd"]) for r in deals if r["cover"] is not None and r["usd"]]
        row["cover_usd_weighted"] = sum(c * u for c, u in weighted) / sum(u for _, u in weighted) if weighted else None
        row["talk_n"] = sum(r["only_final_talk"] is not None for r in deals)
        row["only_final_talk"] = sum(r["only_final_talk"] is True for r in deals)
        row["only_final_talk_share"] = Fraction(row["only_final_talk"], row["talk_n"]) if row["talk_n"] else None
        rows[cell] = row
    return rows


def loan_summary(state):
    years, tranches = collections.defaultdict(list), terms(state)
    for key in state.counted_tranches:
        priced = day(state.loans[key[:2]].get("pricedDate"))
        years[(key[0], priced and priced.year)].append(key)
    rows = {}
    for cell, keys in years.items():
        usd = [usd_of(state.tranches[k]) for k in keys]
        yields = [tranches[k]["yield_bp"] for k in keys if tranches[k]["yield_bp"] is not None]
        rows[cell] = {
            "deals": len({k[:2] for k in keys}), "tranches": len(keys), "tranches_unconverted": usd.count(None),
            "usd": sum(u or 0 for u in usd) if any(usd) else None, "yield_n": len(yields), "yield_median": statistics.median(yields) if yields else None,
        }  # fmt: skip
    return rows


def period_of(when, grain):
    if when is None or grain == "week":
        return when and when - timedelta(when.weekday())
    return date(when.year, 1 if grain == "year" else when.month, 1)


def bond_volume(state, grain):
    """issuance_volume of bonds, with the period a year before."""
    rows = {}
    for key in state.counted:
        d, usd = state.bonds[key], usd_of(state.bonds[key]) or 0
        cell = (period_of(day(d.get("pricingDate")), grain), key[0], d.get("currency"))
        row = rows.setdefault(cell, {"usd": Fraction(0), "nominal_increases_usd": Fraction(0), "esg_usd": Fraction(0)})
        row["usd"] += usd
        row["nominal_increases_usd"] += usd if d.get("dealType") == "INCREASE" else 0
        row["esg_usd"] += usd if any(d.get(label) is True for label in LABELS) else 0
    for (period, market, currency), row in rows.items():
        if period:
            before = period - timedelta(364) if grain == "week" else date(period.year - 1, period.month, 1)
            row["usd_year_before"] = rows.get((before, market, currency), {}).get("usd")
        row["esg_share"] = row["esg_usd"] / row["usd"] if row["usd"] else None
    return rows


def ranks(state, market, begin, end):
    """league_table of one bond market and period, to the millionth of a dollar."""
    credit, deals, total, converted, unconverted = collections.Counter(), collections.Counter(), 0, 0, 0
    for key in state.counted:
        d = state.bonds[key]
        priced, usd = day(d.get("pricingDate")), usd_of(d)
        if key[0] != market or d.get("leagueTableEligible") is not True or not priced or not begin <= priced <= end:
            continue
        converted, unconverted = converted + bool(usd), unconverted + (not usd)
        if usd:
            banks = sorted({name_of(b.get("name")) for b in entries(d.get("banks")) if name_of(b.get("status")) in LEADS} - {None}) or ["unallocated"]
            part, rest = divmod(int(usd * 10**6), len(banks))
            total += usd
            for place, bank in enumerate(banks):
                credit[bank] += part + (0 if place else rest)
                deals[bank] += 1
    ranked = sorted((b for b in credit if b != "unallocated"), key=lambda b: (-credit[b], b))
    return {
        (bank,): {
            "rank": ranked.index(bank) + 1 if bank in ranked else None, "credit_usd": Fraction(credit[bank], 10**6), "share": Fraction(credit[bank], 10**6) / total,
            "deals": deals[bank], "total_usd": total, "deals_total": converted, "deals_unconverted": unconverted,
        } for bank in credit
    }  # fmt: skip


def totals(state):
    """What tap_family says about the line's total and its increases of a year."""
    rows = {}
    for line, members in lines(state).items():
        original = state.bonds.get(line)
        known = original is not None and original.get("dealType") != "INCREASE"
        deals = [state.bonds[k] for k in members]
        nominals = [n for n in (amount(d, "nominal", "amount") for d in deals) if n is not None]
        stated = amount(deals[-1], "total", "nominal", "amount")
        dates = [day(state.bonds[k].get("pricingDate")) for k in members if k != line or not known]
        rows[line] = {
            "source_total": stated, "mismatch": stated - sum(nominals) if stated is not None and nominals else None,
            "original_date": day(original.get("pricingDate")) if known else None, "isin_code": (original if known else deals[0]).get("isinCode"),
            "taps_12m": sum(d is not None and state.today - timedelta(364) <= d <= state.today for d in dates),
        }  # fmt: skip
    return rows


def core(state):
    rows = {}
    for key, d in state.bonds.items():
        place, rate = composite(d), percent_of(clean(d.get("yield")))
        level = spread_of(clean(d.get("swap" if key[0] == "EM" else "spread")), d.get("currency"))
        labels = [label for flag, label in LABELS.items() if d.get(flag) is True]
        premium = premium_of(at(d, "premium", "nip")) if key[0] == "EM" else None
        leads = {name_of(b.get("name")) for b in entries(d.get("banks")) if name_of(b.get("status")) in LEADS} - {None}
        rows[key] = {
            "rating": LETTERS[place - 1] if place else None, "spread_bp": level[1] if level and level[1] == level[2] else None, "benchmark": level and level[0],
            "nip_bp": premium_of(d.get("nip")) if premium is None else premium, "yield_pct": rate[0] if rate and rate[0] == rate[1] else None,
            "esg_label": labels[0] if len(labels) == 1 else "multiple" if labels else None, "leads": "; ".join(sorted(leads)) or None,
            "counted": key in state.counted, "nominal_usd": usd_of(d), "maturity": day(d.get("maturity")), "borrower": name_of(at(d, "borrower", "name")),
        }  # fmt: skip
    return rows


def quality(state):
    """More checks of data_quality, with the deals that fail."""
    failed, totals = collections.defaultdict(set), collections.Counter()

    def check(service, market, name, deal_id, fails):
        if fails is not None:
            totals[(service, market, name)] += 1
            failures[(service, market, name)] += fails
            failed[(service, market, name)] |= {deal_id} if fails else set()

    def amounts(service, market, deal_id, node):
        own, usd, rate = amount(node, "nominal", "amount"), amount(node, "nominal", "converted", "usd"), amount(node, "fxRate", "usd")
        off = abs(own * rate - usd) > abs(usd) / 100 < abs(own / rate - usd) if own is not None and usd and rate else None
        check(service, market, "usd_off", deal_id, off)
        check(service, market, "unit_outlier_nominal", deal_id, usd >= 10**11 or 0 < usd < 10**5 if usd else None)
        check(service, market, "missing_currency", deal_id, not clean(node.get("currency")))

    def twice(node):
        names = [name_of(b.get("name")) for b in entries(node.get("banks")) if name_of(b.get("name"))]
        return len(names) != len(set(names)) if names else None

    failures = collections.Counter()
    for (market, deal_id), d in state.bonds.items():
        amounts("bond", market, deal_id, d)
        original, priced = linked(d, "original"), day(d.get("pricingDate"))
        check("bond", market, "dangling_original", deal_id, (market, original) not in state.bonds if original is not None else None)
        check("bond", market, "pricing_in_future", deal_id, priced > state.today + timedelta(1) if priced else None)
        check("bond", market, "duplicate_banks", deal_id, twice(d))
        for shares, name in (("investorType", "map_sum_off_investor_types"), ("geography", "map_sum_off_geographies")):
            held = at(d, "stats", shares) if isinstance(at(d, "stats", shares), dict) else {}
            values = [v for v in (amount(held, k) for k in held) if v is not None]
            check("bond", market, name, deal_id, not 97 <= sum(values) <= 103 if values else None)
    for (market, deal_id), d in state.loans.items():
        tranches = entries(d.get("tranches"))
        for t in tranches:
            amounts("loan", market, deal_id, t)
        repeated = [r for r in map(twice, tranches) if r is not None]
        check("loan", market, "duplicate_banks", deal_id, any(repeated) if repeated else None)
    return {
        key: {"value": failures[key], "total": n, "example": ", ".join(map(str, sorted(failed[key])[:5])) or None, "share": Fraction(failures[key], n)}
        for key, n in totals.items()
    }  # fmt: skip


def main(lake):
    con, versions, runs = opened(lake)
    cells = 0
    for instant in (runs[0], runs[len(runs) // 2], runs[-1]):
        t = f"make_timestamptz({instant})"
        state = State(versions, instant, datetime.fromtimestamp(instant / 1e6, timezone.utc).date())
        path = paths(state)
        cells += compared(con, "execution_metrics", f"SELECT market, deal_id, * EXCLUDE (market, deal_id) FROM execution_metrics({t})", 2, path)
        cells += compared(con, "execution_summary", f"SELECT market, rating, * EXCLUDE (market, rating) FROM execution_summary({t})", 2, cohorts(state, path))
        cells += compared(con, "loan_terms_summary", f"SELECT market, year, * EXCLUDE (market, year) FROM loan_terms_summary({t})", 2, loan_summary(state))
        for grain in ("week", "month", "year"):
            query = f"SELECT period, market, currency, * EXCLUDE (period, market, currency) FROM issuance_volume('{grain}', {t}) WHERE service = 'bond'"
            cells += compared(con, "issuance_volume", query, 3, bond_volume(state, grain))
        days = sorted(d for d in (day(b.get("pricingDate")) for (m, _), b in state.bonds.items() if m == "IG") if d)
        for begin in (days[len(days) // 2], days[-1]):
            query = f"SELECT bank, * EXCLUDE (bank) FROM league_table('IG', DATE '{begin}', DATE '{days[-1]}', {t})"
            expected = ranks(state, "IG", begin, days[-1])
            cells += compared(con, "league_table", query, 1, expected) if expected else 0
        cells += compared(con, "tap_family", f"SELECT market, root_deal_id, * EXCLUDE (market, root_deal_id) FROM tap_family({t})", 2, totals(state))
        cells += compared(con, "bond_deals_core_as_of", f"SELECT market, deal_id, * EXCLUDE (market, deal_id) FROM bond_deals_core_as_of({t})", 2, core(state))
        checks = quality(state)
        names = tuple({name for _, _, name in checks})
        query = f"SELECT service, market, name, value, total, example, share FROM data_quality({t}) WHERE kind = 'priced' AND name IN {names} AND NOT (service = 'loan' AND name = 'pricing_in_future')"
        cells += compared(con, "data_quality", query, 3, checks)
    print(f"{cells} numbers of more columns, computed again from the payloads as of three instants, are those of the catalog")


if __name__ == "__main__":
    main(sys.argv[1])
