"""Takes what Baton uses out of Qdrant's published description of its REST API, as Qdrant's own client carries it:

    python -m venv v && v/bin/pip install qdrant-client
    v/bin/python extract_qdrant.py > qdrant.json

The models of that client are generated from https://github.com/qdrant/qdrant/blob/master/docs/redoc/master/openapi.json.
Words for people are left out; nothing else is changed.
"""

import json
from importlib.metadata import version
from typing import get_type_hints

from pydantic import TypeAdapter
from qdrant_client.http.api import collections_api, indexes_api, points_api, service_api
from qdrant_client.http.models import models

# Path, method, the client's call, what is sent.
USED = [
    ("/", "get", service_api.SyncServiceApi.root, None),
    ("/collections/{collection_name}", "get", collections_api.SyncCollectionsApi.get_collection, None),
    ("/collections/{collection_name}", "put", collections_api.SyncCollectionsApi.create_collection, "create_collection"),
    ("/collections/{collection_name}", "delete", collections_api.SyncCollectionsApi.delete_collection, None),
    ("/collections/{collection_name}/index", "put", indexes_api.SyncIndexesApi.create_field_index, "create_field_index"),
    ("/collections/{collection_name}/points", "put", points_api.SyncPointsApi.upsert_points, "point_insert_operations"),
    ("/collections/{collection_name}/points/delete", "post", points_api.SyncPointsApi.delete_points, "points_selector"),
    ("/collections/{collection_name}/points/count", "post", points_api.SyncPointsApi.count_points, "count_request"),
    ("/collections/{collection_name}/points/query", "post", None, "query_request"),
]
parts = {}


def bare(node, names=False):
    """A copy without words. Below `properties` the keys are names, not keywords."""
    if isinstance(node, list):
        return [bare(one) for one in node]
    if not isinstance(node, dict):
        return node
    wordy = () if names else ("description", "title", "examples", "default", "deprecated")
    return {key: bare(value, not names and key == "properties") for key, value in node.items() if key not in wordy}


def schema(kind):
    whole = TypeAdapter(kind).json_schema(ref_template="#/components/schemas/{model}")
    for name, part in whole.pop("$defs", {}).items():
        parts[name] = bare(part)
    return bare(whole)


paths = {}
for path, method, call, body in USED:
    if call is None:
        from qdrant_client.http.api import search_api

        call = search_api.SyncSearchApi.query_points
    hints = get_type_hints(call, vars(__import__(call.__module__, fromlist=["m"])))
    given = {"responses": {"200": schema(hints.pop("return"))}}
    if body:
        given["request"] = schema(hints.pop(body))
    given["query"] = {name: schema(kind) for name, kind in hints.items() if name not in ("collection_name", "ordering")}
    paths.setdefault(path, {})[method] = given

info = {
    "title": "Qdrant's description of its REST API, in part",
    "version": f"qdrant-client {version('qdrant-client')}",
    "source": "https://github.com/qdrant/qdrant, docs/redoc/master/openapi.json, as https://github.com/qdrant/qdrant-client carries it",
    "license": "Apache-2.0, Copyright Qdrant Solutions GmbH; https://www.apache.org/licenses/LICENSE-2.0",
}


def lines(named):
    return ",\n".join(f" {json.dumps(name)}: {json.dumps(part)}" for name, part in named.items())


print("{" + f'"info": {json.dumps(info, indent=1)},\n"paths": {{\n{lines(paths)}}},')
print('"components": {"schemas": {\n' + lines(dict(sorted(parts.items()))) + "}}}")
