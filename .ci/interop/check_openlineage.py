"""Builds each event of OpenLineage in a file again with the classes of its official client, and compares what they write.

usage: check_openlineage.py EVENTS

EVENTS has one event a line. The classes refuse a member that they do not know, and want each that the specification
requires. This check also wants values of the annotated types.
"""

import importlib
import json
import pkgutil
import sys
import types
import typing
from collections.abc import Iterator

import attr
from openlineage.client import event_v2, facet_v2, generated
from openlineage.client.serde import Serde

# Types of facets of which our events have a later version than this client: ours, and the client's. Only SchemaDatasetFacet
# differs for us: since 1-2-0 its fields have ordinal_position.
LATER = {"SchemaDatasetFacet": ("1-2-0", "1-1-1"), "JobTypeJobFacet": ("2-0-4", "2-0-3")}

# The types of facets that a member may have.
FACETS = {
    (event_v2.Run, "facets"): facet_v2.RunFacet,
    (event_v2.Job, "facets"): facet_v2.JobFacet,
    (event_v2.InputDataset, "facets"): facet_v2.DatasetFacet,
    (event_v2.InputDataset, "inputFacets"): facet_v2.InputDatasetFacet,
    (event_v2.OutputDataset, "facets"): facet_v2.DatasetFacet,
    (event_v2.OutputDataset, "outputFacets"): facet_v2.OutputDatasetFacet,
}

# What the events must have, together.
WANTED = {
    *("ProcessingEngineRunFacet", "ErrorMessageRunFacet", "NominalTimeRunFacet", "JobTypeJobFacet", "DocumentationJobFacet"),
    *("DatasetVersionDatasetFacet", "SchemaDatasetFacet", "InputStatisticsInputDatasetFacet", "OutputStatisticsOutputDatasetFacet"),
    *("START", "COMPLETE", "FAIL"),
}


def classes() -> dict[str, type]:
    """Returns the client's generated classes by their names."""
    found = {}
    for module in pkgutil.iter_modules(generated.__path__):
        members = vars(importlib.import_module(f"{generated.__name__}.{module.name}"))
        found |= {name: member for name, member in members.items() if isinstance(member, type) and attr.has(member)}
    return found


CLASSES = classes()


def facet_name(facet: dict) -> str:
    return facet["_schemaURL"].rpartition("/")[2]


def downgrade(value: object) -> None:
    """Gives the facets in a value the versions that this client knows."""
    if isinstance(value, dict) and "_schemaURL" in value:
        name = facet_name(value)
        if name in LATER:
            ours, clients = LATER[name]
            assert f"/{ours}/" in value["_schemaURL"], f"{value['_schemaURL']}: want version {ours}"
            value["_schemaURL"] = value["_schemaURL"].replace(ours, clients)
        if name == "SchemaDatasetFacet":
            positions = [field.pop("ordinal_position") for field in value["fields"]]
            assert positions == [*range(1, len(positions) + 1)], f"the positions of fields are {positions}"
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            downgrade(item)


def build(kind: object, value: object, path: str) -> object:
    """Returns a value as one of an annotated type."""
    if isinstance(kind, types.UnionType):
        (kind,) = (each for each in typing.get_args(kind) if each is not type(None))
    if typing.get_origin(kind) is list:
        assert isinstance(value, list), f"{path}: {value!r} is no list"
        return [build(typing.get_args(kind)[0], item, f"{path}[{i}]") for i, item in enumerate(value)]
    if kind is event_v2.RunState:
        return event_v2.RunState(value)
    if attr.has(kind):
        return build_object(kind, value, path)
    assert type(value) is kind, f"{path}: {value!r} is no {kind.__name__}"
    return value


def build_object(kind: type, members: dict, path: str) -> object:
    """Returns an object of a class with these members; others have no value, in place of their defaults."""
    fields = {field.name: field for field in attr.fields(attr.resolve_types(kind))}
    arguments = {field.alias: None for field in fields.values() if field.init and field.default is not attr.NOTHING}
    for name, value in members.items():
        if name in ("schemaURL", "_schemaURL"):
            continue  # the class has its own, with which this one is compared
        field = fields.get(name)
        if base := FACETS.get((kind, name)):
            value = {key: build_facet(base, facet, f"{path}.{name}.{key}") for key, facet in value.items()}
        elif field:
            value = build(field.type, value, f"{path}.{name}")
        arguments[field.alias if field else name] = value
    try:
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{path}: {error}") from error


def build_facet(base: type, facet: dict, path: str) -> object:
    """Returns a facet as one of the class that it names."""
    kind = CLASSES.get(facet_name(facet))
    assert kind and issubclass(kind, base), f"{path}: {facet['_schemaURL']} is no {base.__name__}"
    return build_object(kind, facet, path)


def differences(ours: object, clients: object, path: str) -> Iterator[str]:
    """Yields where two values differ, member by member."""
    if isinstance(ours, dict) and isinstance(clients, dict):
        for name in sorted(ours.keys() | clients.keys()):
            if name not in ours or name not in clients:
                yield f"{path}.{name}: only {'the client' if name in clients else 'our event'} has it"
            else:
                yield from differences(ours[name], clients[name], f"{path}.{name}")
    elif isinstance(ours, list) and isinstance(clients, list) and len(ours) == len(clients):
        for i, (one, other) in enumerate(zip(ours, clients)):
            yield from differences(one, other, f"{path}[{i}]")
    elif type(ours) is not type(clients) or ours != clients:
        yield f"{path}: {ours!r}, the client writes {clients!r}"


def main(file: str) -> None:
    seen = set()
    with open(file) as lines:
        events = [json.loads(line) for line in lines]
    for number, event in enumerate(events, 1):
        seen.add(event["eventType"])
        things = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
        seen |= {facet_name(facet) for thing in things for name in thing if name.lower().endswith("facets") for facet in thing[name].values()}
        downgrade(event)
        built = json.loads(Serde.to_json(build(event_v2.RunEvent, event, f"event {number}")))
        found = list(differences(event, built, f"event {number}"))
        assert not found, "\n".join(found)
    assert seen == WANTED, f"the events lack {sorted(WANTED - seen)}, and have {sorted(seen - WANTED)} that this check does not want"
    print(f"OpenLineage: its client writes the same {len(events)} events")


if __name__ == "__main__":
    main(*sys.argv[1:])
