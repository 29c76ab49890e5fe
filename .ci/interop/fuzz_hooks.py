"""What schemathesis must know of the API beyond its OpenAPI file; see fuzz.

A seeker is good only for its own list and filters, and the bounds of a range are in order: both are said in words in
the file, not in its schemas. The token endpoint takes other credentials than the rest.
"""

import base64
import os

import requests
import schemathesis
from schemathesis import GenerationMode

API = os.environ["API"]
BASIC = "Basic " + base64.b64encode(b"demo:demo").decode()
FILTERS = ("updatedSince", "pricingDateFrom", "pricingDateTo", "changedFrom", "changedTo")


@schemathesis.auth(cache_by_key=lambda case, context: str(case.operation.path == "/oauth/token"))
class Token:
    def get(self, case, context):
        if case.operation.path == "/oauth/token":
            return BASIC
        answer = requests.post(
            f"{API}/oauth/token",
            data={"grant_type": "client_credentials"},
            headers={"Authorization": BASIC},
            timeout=30,
        )
        answer.raise_for_status()
        return "Bearer " + answer.json()["access_token"]

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": data}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives valid requests what no schema can say: a cursor of this list, and bounds in order."""
    meta = case.meta
    if case.operation.path == "/oauth/token" or not case.query or meta is None or meta.generation.mode != GenerationMode.POSITIVE:
        return
    query = dict(case.query)
    if meta.phase.name.value == "stateful":
        for name in FILTERS:  # so that the list has a deal that the link can lead to
            query.pop(name, None)
    for low, high in (("pricingDateFrom", "pricingDateTo"), ("changedFrom", "changedTo")):
        if low in query and high in query and str(query[low]) > str(query[high]):
            del query[high]
    if query.pop("seeker", None) is not None:
        page = requests.get(
            API + case.formatted_path,
            params={**query, "pageSize": 1},
            headers=case.headers,
            timeout=30,
        ).json()
        following = page.get("_links", {}).get("next", {}).get("href", "")
        found = [part[7:] for part in following.partition("?")[2].split("&") if part.startswith("seeker=")]
        if found:
            query["seeker"] = found[0]
    case.query = query
