"""The analyses of a lake's versions, computed a second time in plain Python.

usage: recompute_history.py LAKE

It continues recompute.py: the definitions are those of docs/generated/analyses.md, the payloads are those of
history.deal_versions, and no SQL computes an expected number. Two things are taken from the catalog as they are: which
tranche of a version is which of the version before (tranche_uid), and, for the restatements, the rows of field_change,
a part of which is compared with the payloads here.
"""

import collections
import statistics
import sys
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

from recompute import State, amount, at, compared, day, entries, instant_of, linked, name_of, opened, usd_of

DAY = 86_400_000_000  # microseconds
ONE = ["isinCode", "figiCode", "spread", "yield", "gov", "nip", "swap", "cpn", "currency", "dealType"]
TEXTS = {"".join("_" + c.lower() if c.isupper() else c for c in name): (name,) for name in ONE} | {"premium_nip": ("premium", "nip"), "borrower_name": ("borrower", "name")}
AMOUNTS = {"nominal_amount": ("nominal", "amount"), "nominal_usd": ("nominal", "converted", "usd"), "stats_final_books": ("stats", "finalBooks")}
READ = ["spread", "yield", "gov", "nip", "swap", "cpn", "premium_nip"]


def versions_of(state):
    """The versions of each deal, the oldest first."""
    deals = collections.defaultdict(list)
    for v in state.known:
        deals[(v.service, v.market, v.kind, v.deal_id)].append(v)
    for versions in deals.values():
        versions.sort(key=lambda v: v.version)
    return deals


def changes(state, after):
    return {(v.service, v.market, v.kind, v.deal_id, v.version): {"change": v.change} for v in state.known if v.known_at > after}


def text(value):
    return value if isinstance(value, str) else None


def field_changes(state):
    """What changed in some columns of priced bonds; a removal in between does not count."""
    rows = {}
    for (service, market, kind, deal_id), versions in versions_of(state).items():
        if (service, kind) != ("bond", "priced"):
            continue
        held = [v for v in versions if v.payload]
        for before, v in zip(held, held[1:]):
            values = [(column, text(at(before.payload, *path)), text(at(v.payload, *path))) for column, path in TEXTS.items()]
            values += [(column, amount(before.payload, *path), amount(v.payload, *path)) for column, path in AMOUNTS.items()]
            for column, was, now in values:
                if was != now:
                    change = "set" if was is None else "cleared" if now is None else "edited"
                    rows[(market, deal_id, v.version, column)] = {"change": change}
    return rows


def loan_deals(state):
    rows = {}
    for key, d in state.loans.items():
        tranches = entries(d.get("tranches"))
        banks = [(name_of(b.get("name")), True in (at(b, "type", "bookrunner"), at(b, "type", "mla"))) for t in tranches for b in entries(t.get("banks"))]
        usd = [usd_of(t) for t in tranches]
        rows[key] = {
            "banks": len({name for name, _ in banks if name}), "lead_banks": len({name for name, lead in banks if name and lead}),
            "tranches_usd": sum(u for u in usd if u) or None, "tranches_unconverted": usd.count(None),
            "has_tlb": any((text(t.get("shortType")) or "").upper() == "TLB" for t in tranches),
        }  # fmt: skip
    return rows


def texts_read(state):
    """The number of texts of a column, by market."""
    counts = collections.Counter()
    for (market, _), d in state.bonds.items():
        for column in READ:
            counts[(market, "bond_priced_deals", column)] += text(at(d, *TEXTS[column])) is not None
        for step in entries(d.get("priceEvolution")):
            counts[(market, "bond_priced_price_evolution", "value")] += text(step.get("value")) is not None
    return {key: {"texts": n} for key, n in counts.items() if n}


class Feeds:
    """When each feed was read completely, in microseconds, oldest first."""

    def __init__(self, con):
        self.read = collections.defaultdict(list)
        for *feed, known_at in con.execute(
            "SELECT service, market, kind, epoch_us(known_at) FROM feed_runs JOIN runs USING (run_id) WHERE feed_runs.outcome = 'done' AND command IN ('run', 'sync') ORDER BY 4"
        ).fetchall():
            self.read[tuple(feed)].append(known_at)

    def before(self, feed, instant):
        """The last reading before an instant."""
        return max((t for t in self.read[feed] if t < instant), default=None)


def restatements(state, feeds, edits, days):
    """By market, and by market, table and field: priced deals that are edited within some days of becoming known."""
    markets = collections.defaultdict(lambda: collections.Counter(deals=0, restated=0, edits=0, left_censored=0, too_young=0))
    lags, fields = collections.defaultdict(list), collections.defaultdict(set)
    for (service, market, kind, deal_id), versions in versions_of(state).items():
        feed = (service, market, kind)
        if kind != "priced" or versions[0].version != 1:
            continue
        row, first = markets[(service, market)], versions[0].known_at
        if first <= feeds.read[feed][0]:
            row["left_censored"] += 1
            continue
        last = feeds.before(feed, state.instant + 1)
        if last - first < days * DAY:
            row["too_young"] += 1
            continue
        row["deals"] += 1
        mine = [e for e in edits.get((*feed, deal_id), []) if e[1] - first <= days * DAY]
        row["edits"] += len({e[0] for e in mine})
        if mine:
            row["restated"] += 1
            lags[(service, market)].append(Fraction(min(e[1] for e in mine) - first, DAY))
        for _, _, table, field in mine:
            fields[(service, market, table, field)].add(deal_id)
    by_market = {key: dict(row) | {"median_lag_days": statistics.median(lags[key]) if lags[key] else None} for key, row in markets.items()}
    by_field = {key: {"deals_restated": len(deals)} for key, deals in fields.items()}
    return by_market, by_field


def is_priced(service, payload, tranche):
    status = tranche.get("status") if isinstance(tranche.get("status"), str) else ""
    if service == "bond":
        return linked(tranche, "pricedDeal") is not None or status in ("PRICED", "INCREASED")
    return linked(payload, "pricedDeal") is not None or status.lower() == "priced"


def conversion(state, feeds, uids, reasons, start, n):
    """What became of the tranches that were listed and unpriced at the end of a day, by market."""
    beginning = min(int(datetime.combine(start + timedelta(1), datetime.min.time(), timezone.utc).timestamp() * 1e6) - 1, state.instant)
    deadline, left = start, n
    while left:
        deadline += timedelta(1)
        left -= deadline.weekday() < 5
    rows = {}
    for (service, market, kind, deal_id), versions in versions_of(state).items():
        listed = [v for v in versions if v.known_at <= beginning]
        if kind != "expected" or not listed or listed[-1].change == "removed":
            continue
        fates = {}  # by tranche: when it priced; when it left the deal, None if it has not
        later = versions[versions.index(listed[-1]) :]
        for v, following in zip(later, later[1:] + [None]):
            tranches = entries(at(v.payload, "_embedded", "tranches") if service == "bond" else v.payload.get("tranches")) if v.payload else []
            for place, t in enumerate(tranches, 1):
                uid = uids[(service, market, deal_id, v.version, place)]
                priced = is_priced(service, v.payload, t)
                if v is listed[-1] and not priced:
                    fates[uid] = [None, None]
                if uid not in fates:
                    continue
                as_priced = following and following.change == "removed" and reasons[(service, market, deal_id, following.version)] == "priced"
                at_last = v.known_at if priced else following.known_at if as_priced else None
                if at_last is not None:
                    fates[uid][0] = min(fates[uid][0] or at_last, at_last)
                fates[uid][1] = following and following.known_at
        for priced_at, left_at in fates.values():
            row = rows.setdefault((service, market), collections.Counter(tranches=0, priced_within=0, priced_later=0, pulled=0, unknown=0, live=0))
            row["tranches"] += 1
            if priced_at is not None:
                within = datetime.fromtimestamp(priced_at // 10**6, timezone.utc).date() <= deadline
                row["priced_within" if within else "priced_later"] += 1
            elif left_at is None:
                row["live"] += 1
            else:
                last = feeds.before((service, market, kind), left_at)
                row["pulled" if last is not None and left_at - last <= 4 * DAY else "unknown"] += 1
    return {key: dict(row) for key, row in rows.items()}


def timelines(state):
    """The number of events of priced bonds that no link leads to or from; five with many versions."""
    reached = {(key[0], linked(d, "original")) for key, d in state.bonds.items()}
    for v in state.known:
        if v.service == "bond" and v.payload:
            tranches = entries(at(v.payload, "_embedded", "tranches")) if v.kind == "expected" else []
            reached |= {(v.market, linked(t, "pricedDeal")) for t in tranches} | {(v.market, linked(v.payload, "original"))}
    rows = {}
    alone = [
        (key, versions) for key, versions in versions_of(state).items()
        if key[0] == "bond" and key[2] == "priced" and (key[1], key[3]) not in reached and all(linked(v.payload or {}, "original") is None for v in versions)
    ]  # fmt: skip
    for (_, market, _, deal_id), versions in sorted(alone, key=lambda e: (-len(e[1]), e[0]))[:5]:
        latest = [v.payload for v in versions if v.payload][-1]
        events = collections.Counter(v.change for v in versions)
        talk = sum(instant_of(step.get("date")) is not None for step in entries(latest.get("priceEvolution")))
        counts = {"pricing known": 1, "update": events["changed"], "removed": events["removed"], "reappeared": events["reappeared"]}
        counts |= {"talk": talk, "priced": int(day(latest.get("pricingDate")) is not None)}
        rows |= {(market, deal_id, event): {"n": n} for event, n in counts.items() if n}
    return rows


def main(lake):
    con, versions, runs = opened(lake)
    feeds = Feeds(con)
    uids = {tuple(row[:5]): row[5] for row in con.execute("SELECT service, market, deal_id, version, ordinal, tranche_uid FROM _dealflow.tranche_lineage").fetchall()}
    reasons = {tuple(row[:4]): row[4] for row in con.execute("SELECT service, market, deal_id, version, reason FROM history.deal_versions WHERE kind = 'expected'").fetchall()}
    edits = collections.defaultdict(list)
    for *key, version, known_at, table, field in con.execute(
        "SELECT service, market, kind, deal_id, version, epoch_us(known_at), table_name, field FROM field_change WHERE change_kind = 'edit'"
    ).fetchall():
        edits[tuple(key)].append((version, known_at, table, field))
    first = datetime.fromtimestamp(runs[0] // 10**6, timezone.utc).date()
    cells, done = 0, set()

    def compare(what, query, keys, expected):
        nonlocal cells
        if not expected and not con.execute(query).fetchall():
            return  # in a short life, nothing of that kind has happened
        done.add(what)
        cells += compared(con, what, query, keys, expected)

    for instant in (runs[0], runs[len(runs) // 2], runs[-1]):
        t = f"make_timestamptz({instant})"
        state = State(versions, instant, date.min)
        state.instant = instant
        compare("loan_priced_as_of", f"SELECT market, deal_id, banks, lead_banks, tranches_usd, tranches_unconverted, has_tlb FROM loan_priced_as_of({t})", 2, loan_deals(state))
        columns = ", ".join(f"'{c}'" for c in READ)
        query = f"SELECT market, table_name, field, sum(texts)::BIGINT AS texts FROM parse_coverage({t}) WHERE table_name = 'bond_priced_deals' AND field IN ({columns}) OR field = 'value' GROUP BY ALL"
        compare("parse_coverage", query, 3, texts_read(state))
        tranches = "tranches, priced_within, priced_later, pulled, unknown, live"
        for n in (1, 3):
            query = f"SELECT service, market, {tranches} FROM pipeline_conversion(DATE '{first}', {n}, {t})"
            compare("pipeline_conversion", query, 2, conversion(state, feeds, uids, reasons, first, n))
        events = timelines(state)
        parts = [f"SELECT '{m}', {i}, event, count(*) AS n FROM deal_timeline('bond', '{m}', 'priced', {i}, {t}) GROUP BY event" for m, i in sorted({key[:2] for key in events})]
        compare("deal_timeline", " UNION ALL ".join(parts), 3, events)
        by_market, by_field = restatements(state, feeds, edits, 1)
        query = f"SELECT service, market, deals, restated, edits, median_lag_days, left_censored, too_young FROM restatement_stats(1, {t})"
        compare("restatement_stats", query, 2, by_market)
        compare("changes", f"SELECT service, market, kind, deal_id, version, change FROM changes(make_timestamptz({runs[0]}), {t})", 5, changes(state, runs[0]))
        columns = ", ".join(f"'{c}'" for c in [*TEXTS, *AMOUNTS])
        query = f"SELECT market, deal_id, version, field, change FROM field_change({t}) WHERE table_name = 'bond_priced_deals' AND field IN ({columns})"
        compare("field_change", query, 4, field_changes(state))
        compare("restatement_fields", f"SELECT service, market, table_name, field, deals_restated FROM restatement_fields(1, {t})", 4, by_field)
    print(f"{cells} numbers of {len(done)} analyses of versions, computed again as of three instants, are those of the catalog")


if __name__ == "__main__":
    main(sys.argv[1])
