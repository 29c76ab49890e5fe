"""Each statement of the API's document, v3.4.0, against a server; written from the document alone.

usage: check_document.py BASE_URL [advance|breaks]

With advance, the server is a simulated market whose time stands: its deals are looked at again later on the same day.
With breaks, the market is known to break the document: the script fails if it does not find null, a wrong type, a
member and a value that are not in the document, a wrong time, and a link to no priced deal.
"""

import base64
import collections
import re
import sys
import urllib.parse

import httpx

LOAN, BOND = ("ll", "cf", "af"), ("ig", "hy", "em")
DATE = r"\d{4}-\d\d-\d\d"
FORMS = {
    "date": DATE + "$",
    "instant": DATE + r"T\d\d:\d\d:\d\dZ$",
    "time": r"T?([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?(Z|[+-]\d\d:\d\d)$",
    "uuid": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
}


def fields(text: str) -> dict:
    """Reads "name name:type name!:type": type text where none is given, ! for a required member, [] for a list."""
    found = {}
    for word in text.split():
        name, _, kind = word.partition(":")
        found[name.rstrip("!")] = (kind or "text", name.endswith("!"))
    return found


OBJECTS = {
    "link": fields("href hreflang title type deprecation profile name templated:bool"),
    "rating": fields("moodys! standardAndPoors! fitch!"),
    "ratings": fields("moodys standardAndPoors fitch"),
    "sponsor": fields("name!"),
    "sponsors": fields("sponsorBacked:bool sponsors:sponsor[]"),
    "converted": fields("usd!:number"),
    "nominalTranche": fields("amount:number converted!:converted"),
    "currencyAmount": fields("amount!:number currency"),
    "nominal": fields("currencies:currencyAmount[] converted!:converted"),
    "fxRate": fields("usd:number"),
    "fxRates": fields("usd!:number"),
    "money": fields("amount!:number converted!:converted"),
    "price": fields("date!:instant value!"),
    "bondBank": fields("name! status!"),
    "stats": fields("finalBooks:number finalAccounts:int32 investorType:numbers geography:numbers"),
    "history": fields("changed!:instant headline message!"),
    "premium": fields("nip earlyTrading"),
    "proceeds": fields(
        "mergersAndAcquisitions!:bool prePostIpo!:bool refi!:bool gcp!:bool other!:bool lbo:bool sbo:bool dividendRecap:bool"
    ),
    "loanBorrower": fields(
        "name! region!:region country type sector subsector secondarySubsector assetCategory leveragedMultiple"
        " ratings!:rating grade sponsors!:sponsors ticker"
    ),
    "expectedBorrower": fields(
        "name! region!:region country type sector subsector secondarySubsector assetCategory grade sponsors!:sponsors ticker"
    ),
    "bondBorrower": fields("name! region! type! country sector subsector ticker"),
    "pik": fields("status! value!:int32"),
    "roles": fields("mla!:bool bookrunner!:bool participant!:bool"),
    "loanBank": fields("name! type!:roles"),
    "loanTranche": fields(
        "id!:int64 name! status type shortType currency maturity extensionOptions by margin oid grade bloombergCode figiCode"
        " nominal:nominalTranche fxRate:fxRate pricingDate:date pik!:pik allIn!:bool fixedRate!:bool covenantLight!:bool"
        " greenLoan!:bool sustainabilityLinked!:bool club!:bool rating!:rating banks!:loanBank[] tenor:int32"
    ),
    "expectedLoanTranche": fields(
        "name! status type shortType currency volume maturity margin oid timing figiCode changed:instant nominal:nominalTranche"
    ),
    "tranche": fields(
        "name! changed:instant status!:status currency volume structure priceEvolution timing figiCode books _links:links.pricedDeal"
    ),
    "emTranche": fields(
        "name! changed:instant status!:status currency volume structure priceEvolution timing figiCode ratings:ratings"
        " _links:links.pricedDeal"
    ),
    "total": fields("nominal!:money secondary:money retained:money nominalWithRetained:money"),
    "emTotal": fields("nominal!:money secondary:money exchange:money nominalWithExchange:money"),
    "tranches": fields("tranches:tranche[]"),
    "emTranches": fields("tranches:emTranche[]"),
    "loan/priced": fields(
        "dealId!:int64 market! pricedDate:date headline message borrower!:loanBorrower useOfProceeds!:proceeds dealTotal:nominal"
        " tranches!:loanTranche[] _links:links.self.updatedSince"
    ),
    "loan/expected": fields(
        "dealId!:int64 market! stage! created!:instant changed!:instant headline message borrower!:expectedBorrower"
        " useOfProceeds!:proceeds tranches!:expectedLoanTranche[] _links:links.self.updatedSince.pricedDeal"
    ),
}
COMMON = """dealId!:int32 market! dealType!:dealType pricingDate!:date pricingTime:time borrower:bondBorrower nominal!:money
    secondary:money rating!:ratings ranking cpn cpnType nonBullet yield gov nip additionalInfo message firstCallDate:date
    maturity:date perpetual:bool fpr!:number fxRate!:fxRates bloombergCode isinCode figiCode stats:stats
    priceEvolution!:price[] banks!:bondBank[] tier:tier dealHistory subordinated!:bool leagueTableEligible!:bool covered!:bool
    only144a!:bool onlyRegS!:bool regSAnd144a!:bool secRegistered!:bool green!:bool sustainable!:bool
    sustainabilityLinked!:bool social!:bool seniorNonPreferred!:bool seniorPreferred!:bool holdCo!:bool opCo!:bool coc!:bool
    cuc!:bool mwc!:bool _links:links.self.original.updatedSince """
IG_HY = COMMON + """currency! grade!:grade step spread pref!:bool secExempt:bool section3a2:bool retained:money
    nominalWithRetained:money total:total"""
EM = COMMON + "currency grade!:emGrade swap premium!:premium exchange:money nominalWithExchange:money total:emTotal"
EXPECTED = """id!:int64 created!:instant changed!:instant headline message borrower!:bondBorrower dealHistory!:history[]
    _links:links.self """
for m in BOND:
    OBJECTS[m + "/priced"] = fields((EM if m == "em" else IG_HY) + " market!:" + m)
    OBJECTS[m + "/expected"] = fields(
        EXPECTED + f"market!:{m} "
        + ("regions!:emRegion[] _embedded:emTranches" if m == "em" else "regions!:americas[] coveredBonds!:bool _embedded:tranches")
    )
ENUMS = {
    "region": ("LATAM", "CEEMEA", "Western Europe", "Asia Pacific", "North America"),
    "status": ("EXPECTED", "TO_BE_INCREASED", "INCREASED", "PRICED"),
    "dealType": ("ORIGINAL", "INCREASE"),
    "grade": ("INVESTMENT", "HIGH_YIELD", "UNRATED"),
    "emGrade": ("INVESTMENT", "SUB_INVESTMENT", "UNRATED"),
    "tier": ("RT1", "AT1", "T1", "T2"),
    "americas": ("Americas",),
    "emRegion": ("Latam", "CEEMEA", "Asia(NJ)"),
    **{m: (m.upper(),) for m in BOND},
}


class Checker:
    def __init__(self, base: str):
        self.base = base.rstrip("/")
        self.http = httpx.Client(timeout=60)
        self.breaks = collections.Counter()
        self.examples = {}
        self.asked = 0
        self.tokens = {name: self.token(name) for name in ("demo", "trial")}

    def want(self, statement: str, holds: bool, example: object = "") -> None:
        self.asked += 1
        if not holds:
            self.breaks[statement] += 1
            self.examples.setdefault(statement, str(example)[:300])

    def token(self, name: str) -> str:
        basic = base64.b64encode(f"{name}:{name}".encode()).decode()
        while True:
            answer = self.http.post(
                self.base + "/oauth/token", data={"grant_type": "client_credentials"}, headers={"Authorization": f"Basic {basic}"}
            )
            if answer.status_code != 429:
                break
            self.want("a 429 has Retry-After", "Retry-After" in answer.headers)
        body = answer.json()
        self.want("the token endpoint answers 200", answer.status_code == 200, answer.text)
        self.want("access_token and token_type are text", isinstance(body["access_token"], str) and isinstance(body["token_type"], str))
        self.want("expires_in is an int32", type(body["expires_in"]) is int and 0 < body["expires_in"] < 2**31)
        return body["access_token"]

    def get(self, path: str, account: str = "demo", status: int = 200):
        url = path if path.startswith("http") else self.base + path
        while True:
            answer = self.http.get(url, headers={"Authorization": "Bearer " + self.tokens[account]})
            if answer.status_code != 429 or status == 429:
                break
            self.want("a 429 has Retry-After", bool(re.match(r"\d+$", answer.headers.get("Retry-After", ""))))
            self.http.get(self.base + "/v3")  # the limit is of real time, and an answer takes some
        self.want(f"{status} where the document says so", answer.status_code == status, f"{url}: {answer.status_code} {answer.text}")
        if answer.status_code >= 400:
            self.error(answer)
        return answer.json()

    def error(self, answer) -> None:
        body = answer.json()
        forms = (("timestamp", FORMS["instant"]), ("errorId", FORMS["uuid"]), ("message", ".+"))
        self.want("an error has timestamp, errorId and message", all(re.match(form, str(body.get(name))) for name, form in forms), body)

    def value(self, where: str, kind: str, value) -> None:
        """Compares a value with its type."""
        if value is None:
            self.want("no member is null", False, where)
            return
        number = type(value) in (int, float)
        if kind.endswith("[]"):
            self.want("types", isinstance(value, list), where)
            for item in value if isinstance(value, list) else ():
                self.value(where + "[]", kind[:-2], item)
        elif kind in ENUMS:
            self.want("types", isinstance(value, str), where)
            self.want("listed values", value in ENUMS[kind], f"{where}: {value}")
        elif kind.startswith("links"):
            self.want("types", isinstance(value, dict), where)
            for name, link in value.items() if isinstance(value, dict) else ():
                self.want("members", name in kind.split(".")[1:], f"{where}.{name}")
                self.value(f"{where}.{name}", "link", link)
        elif kind == "numbers":
            self.want("types", isinstance(value, dict) and all(type(v) in (int, float) for v in value.values()), f"{where}: {value}")
        elif kind in ("int32", "int64"):
            most = 2 ** (int(kind[3:]) - 1)
            self.want("types", type(value) is int and -most <= value < most, f"{where}: {value}")
        elif kind in ("number", "bool", "text"):
            holds = {"number": number, "bool": isinstance(value, bool), "text": isinstance(value, str)}[kind]
            self.want("types", holds, f"{where}: {value}")
        elif kind in FORMS:
            statement = "the form of times" if kind == "time" else "types"
            empty = kind == "time" and value == ""  # a text may be empty
            self.want(statement, empty or isinstance(value, str) and bool(re.match(FORMS[kind], value)), f"{where}: {value}")
        else:
            self.object(where, kind, value)

    def object(self, where: str, kind: str, value) -> None:
        self.want("types", isinstance(value, dict), f"{where}: {value}")
        if not isinstance(value, dict):
            return
        for name, (member, required) in OBJECTS[kind].items():
            if name in value:
                self.value(f"{where}.{name}", member, value[name])
            else:
                self.want("required members", not required, f"{where}.{name}")
        for name in value:
            self.want("members", name in OBJECTS[kind], f"{where}.{name}")

    def walk(self, path: str, kind: str, account: str = "demo", size: int = 200) -> list:
        """Follows next from the first page and returns the deals."""
        deals, url, seen = [], f"{path}{'&' if '?' in path else '?'}pageSize={size}", set()
        while url:
            page = self.get(url, account)
            if "_embedded" not in page:
                break
            deals += page["_embedded"][kind + "Deals"]
            self.want("a page links to the first one", isinstance(page["_links"]["first"]["href"], str), url)
            self.want("next leads on", url not in seen, url)
            seen.add(url)
            url = page["_links"].get("next", {}).get("href")
        return deals

    def discovery(self) -> None:
        for path, key, names in (("/v3", "services", {"loan", "bond"}), ("/v3/loan", "markets", set(LOAN)), ("/v3/bond", "markets", set(BOND))):
            views = self.get(path)["_embedded"][key]
            self.want("discovery names services and markets", {v["name"].lower() for v in views} == names, views)
        for service, markets in (("loan", LOAN), ("bond", BOND)):
            for market in markets:
                self.want("a market view has a name", isinstance(self.get(f"/v3/{service}/{market}")["name"], str), market)
        for path in ("/v3", "/v3/bond/ig/priced-deal", "/v3/loan/ll/expected-deal/1"):
            bare = self.http.get(self.base + path)
            self.want("every GET needs the token", bare.status_code == 401, f"{path}: {bare.status_code}")
            self.error(bare)
            posted = self.http.post(self.base + path, headers={"Authorization": "Bearer " + self.tokens["demo"]})
            self.want("every endpoint but the token's is GET", posted.status_code >= 400, f"{path}: {posted.status_code}")
        wrong = self.http.post(self.base + "/oauth/token", data={"grant_type": "client_credentials"}, headers={"Authorization": "Basic eDp5"})
        self.want("wrong credentials are 401", wrong.status_code == 401, wrong.text)
        self.error(wrong)
        self.get("/v3/bond/ig/priced-deal/2147483647", status=404)

    def feed(self, service: str, market: str, kind: str) -> list:
        path = f"/v3/{service}/{market}/{kind}-deal"
        record = f"{market if service == 'bond' else service}/{kind}"
        key = "id" if service == "bond" and kind == "expected" else "dealId"
        deals = self.walk(path, kind)
        self.want("a list has deals", len(deals) > 0, path)
        ids = [deal.get(key) for deal in deals]
        self.want("a walk shows a deal once", len(set(ids)) == len(ids), path)
        small = [deal.get(key) for deal in self.walk(path, kind, size=77)]
        self.want("pageSize changes pages, not the list", small == ids, path)
        for deal in deals:
            self.object(f"{path} {deal.get(key)}", record, deal)
        for deal in deals[:: max(1, len(deals) // 10)]:
            href = deal.get("_links", {}).get("self", {}).get("href", "")
            self.want("self is the deal", href == f"{self.base}{path}/{deal[key]}", f"{href} {deal[key]}")
            self.want("a deal by its self link is that of the list", self.get(f"{path}/{deal[key]}") == deal, href)
        if service == "loan" or kind == "priced":
            self.updates(path, kind, key, deals)
        if kind == "priced":
            self.range(path, kind, key, deals, "pricingDate", lambda d: d.get("pricingDate") or d.get("pricedDate"), lambda at: at)
        elif service == "bond":
            self.range(path, kind, key, deals, "changed", lambda d: d["changed"], lambda at: at)
        return deals

    def updates(self, path: str, kind: str, key: str, deals: list) -> None:
        """The order of the list, and what an updatedSince link leads to."""
        def since(deal):
            query = urllib.parse.urlparse(deal.get("_links", {}).get("updatedSince", {}).get("href", "")).query
            return urllib.parse.parse_qs(query).get("updatedSince", [""])[0]

        told = [since(deal) for deal in deals if since(deal)]
        self.want("updatedSince has the form of instants", all(re.match(FORMS["instant"], at) for at in told), told[:1])
        self.want("the list is in order of update, newest first", told == sorted(told, reverse=True), path)
        for deal in (deals[0], deals[len(deals) // 3]):
            if since(deal):
                got = {d.get(key) for d in self.walk(deal["_links"]["updatedSince"]["href"], kind)}
                want = {d.get(key) for d in deals if since(d) >= since(deal) or not since(d) and d.get(key) in got}
                self.want("updatedSince leads to the deals updated since", got == want, f"{path} {since(deal)}")

    def range(self, path, kind, key, deals, name, date, form) -> None:
        """Lists between two bounds have the deals that say so."""
        dates = sorted(form(date(deal)) for deal in deals if isinstance(date(deal), str))
        low, high = dates[len(dates) // 3], dates[2 * len(dates) // 3]
        for query, within in (
            ({f"{name}From": low}, lambda at: at >= low),
            ({f"{name}To": high}, lambda at: at <= high),
            ({f"{name}From": low, f"{name}To": high}, lambda at: low <= at <= high),
        ):
            got = {deal.get(key) for deal in self.walk(f"{path}?{urllib.parse.urlencode(query)}", kind)}
            want = {d.get(key) for d in deals if isinstance(date(d), str) and within(form(date(d)))}
            undated = {d.get(key) for d in deals if not isinstance(date(d), str)}  # not shown what becomes of them
            self.want("bounds of dates", want <= got <= want | undated, f"{path} {query}")

    def links(self, lists: dict, later: bool) -> int:
        """A tranche or loan that priced today leads to its deal, and stays for the rest of the day."""
        found = 0
        for (service, market, kind), deals in lists.items():
            if kind != "expected":
                continue
            selves = {d.get("_links", {}).get("self", {}).get("href") for d in lists[service, market, "priced"]}
            for deal in deals:
                nodes = [deal] if service == "loan" else (deal.get("_embedded") or {}).get("tranches") or []
                for node in nodes:
                    href = ((node.get("_links") or {}).get("pricedDeal") or {}).get("href")
                    if href:
                        found += 1
                        known = href in selves or self.http.get(href, headers={"Authorization": "Bearer " + self.tokens["demo"]}).status_code == 200
                        self.want("a pricedDeal link matches a priced deal", known, href)
                    elif service == "bond":
                        self.want("a PRICED tranche has a pricedDeal link", node.get("status") != "PRICED", deal.get("id"))
        self.want("a tranche prices", found > 0 or not later, "no pricedDeal link in any list")
        return found

    def lists(self) -> dict:
        return {
            (service, market, kind): self.walk(f"/v3/{service}/{market}/{kind}-deal", kind, size=1000)
            for service, markets in (("loan", LOAN), ("bond", BOND)) for market in markets for kind in ("priced", "expected")
        }

    def stay(self) -> None:
        """Moves the time of a simulated market, whose day is young, and looks again."""
        priced = {}
        for _ in range(3):
            advanced = self.http.post(self.base + "/_sim/advance?by=2h30m", headers={"Authorization": "Bearer " + self.tokens["demo"]})
            self.want("the sandbox moves its time", advanced.status_code == 200, advanced.text)
            self.tokens = {name: self.token(name) for name in self.tokens}
            lists = self.lists()
            self.links(lists, later=True)
            for path, name in priced.items():
                deal = self.get(path)
                names = [t["name"] for t in deal["_embedded"]["tranches"] if t["status"] == "PRICED"]
                self.want("a PRICED tranche stays for the rest of the day", len(names) >= len(name), path)
            for (service, market, kind), deals in lists.items():
                for deal in deals if service == "bond" and kind == "expected" else ():
                    names = [t["name"] for t in (deal.get("_embedded") or {}).get("tranches") or [] if t.get("status") == "PRICED"]
                    if names:
                        priced[f"/v3/bond/{market}/expected-deal/{deal['id']}"] = names

    def trial(self, lists: dict) -> None:
        """A Free Trial account sees two years of priced deals, and all expected ones."""
        for (service, market, kind), deals in lists.items():
            key = "id" if service == "bond" and kind == "expected" else "dealId"
            path = f"/v3/{service}/{market}/{kind}-deal"
            if market not in ("ig", "ll"):
                continue
            seen = {deal.get(key) for deal in self.walk(path, kind, "trial", 1000)}
            if kind == "expected":
                self.want("expected deals are not restricted", seen == {deal.get(key) for deal in deals}, path)
                continue
            date = lambda deal: max([deal.get("pricingDate") or deal.get("pricedDate") or ""] + [t.get("pricingDate") or "" for t in deal.get("tranches", [])])
            oldest = min((date(deal) for deal in deals if deal.get(key) in seen), default="")
            outside = [deal for deal in deals if deal.get(key) not in seen]
            self.want("a Free Trial list has two years", oldest and all(date(deal) < oldest for deal in outside), f"{path} {oldest}")
            if outside:
                self.get(f"{path}/{outside[0][key]}", "trial", status=403)
                self.get(f"{path}/{outside[0][key]}")
        for _ in range(60):
            answer = self.http.get(self.base + "/v3", headers={"Authorization": "Bearer " + self.tokens["trial"]})
            if answer.status_code == 429:
                break
        self.want("the rate is limited, with a 429 and Retry-After", answer.status_code == 429 and "Retry-After" in answer.headers, answer.status_code)


def main() -> None:
    base, mode = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    checker = Checker(base)
    checker.discovery()
    lists = {
        (service, market, kind): checker.feed(service, market, kind)
        for service, markets in (("loan", LOAN), ("bond", BOND)) for market in markets for kind in ("priced", "expected")
    }
    checker.links(lists, later=False)
    if mode != "breaks":
        checker.trial(lists)
    if mode:
        checker.stay()
    for statement, count in checker.breaks.most_common():
        print(f"broken {count} times: {statement}; such as {checker.examples[statement]}")
    print(f"{base}: {checker.asked} checks of the document, {sum(checker.breaks.values())} broken")
    if mode == "breaks":
        known = ("no member is null", "types", "members", "listed values", "the form of times", "a pricedDeal link matches a priced deal")
        unseen = [statement for statement in known if not checker.breaks[statement]]
        assert not unseen, f"the market breaks the document, and nothing was found in: {unseen}"
    else:
        assert not checker.breaks


if __name__ == "__main__":
    main()
