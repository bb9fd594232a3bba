#!/usr/bin/env python3
"""server/airlock.openapi.yaml says what the server does: every operation in it is called, and what it answers is compared."""

import os
import unittest

import yaml

from server_case import ServerCase

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../server/airlock.openapi.yaml")
HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/airlock/version.hpp")
KINDS = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list}


# For what asks about gates that the configuration defines.
CONFIG = """
[[gate]]
match = "once"
rates = "1/1h"
[[gate]]
match = "line"
limit = 1
[gate.check]
visitor_header = "Host"
patience = "30s"
[[domain]]
name = "example"
headers = "draft"
[[room]]
gate = "room"
limit = 1
"""


class OpenApi(ServerCase):
    def start_server(self, *arguments):
        with open(os.path.join(self.dir, "airlock.toml"), "w", encoding="utf-8") as file:
            file.write(CONFIG)
        return super().start_server("--config", file.name, *arguments)

    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as file:
            self.page = yaml.safe_load(file)
        self.called = set()

    def resolved(self, node):
        while "$ref" in node:
            target = self.page
            for name in node["$ref"][2:].split("/"):
                target = target[name]
            node = target
        return node

    def problem(self, value, schema):
        """Why a value is not as the schema says, or None."""
        schema = self.resolved(schema)
        if value is None:
            return None if schema.get("nullable") else "is null"
        if "oneOf" in schema:
            return None if any(self.problem(value, each) is None for each in schema["oneOf"]) else "is none of them"
        if "enum" in schema and value not in schema["enum"]:
            return f"{value} is not in {schema['enum']}"
        if "type" in schema and not isinstance(value, KINDS[schema["type"]]):
            return f"{value!r} is not {schema['type']}"
        for name, each in (value.items() if isinstance(value, dict) else ()):
            known = schema.get("properties", {})
            if name not in known:
                if schema.get("additionalProperties") is False:
                    return f"{name} is not known"
                continue
            if problem := self.problem(each, known[name]):
                return f"{name}: {problem}"
        for each in (value if isinstance(value, list) else ()):
            if problem := self.problem(each, schema.get("items", {})):
                return f"in a list: {problem}"
        return None

    def call(self, method, path, status, body=None, places=(), query=""):
        operation = self.page["paths"][path][method.lower()]
        self.called.add((method.lower(), path))
        where = path
        for name, value in {"gate": "g", "visitor": "ann", **dict(places)}.items():
            where = where.replace("{" + name + "}", value)
        answer = self.http.ask(method, where + query, body)
        self.assertEqual(answer.status, status, f"{method} {where}: {answer}")
        self.assertIn(str(status), operation["responses"], f"{method} {path}")
        content = self.resolved(operation["responses"][str(status)]).get("content", {})
        for kind, described in content.items():
            self.assertEqual(answer.fields["content-type"], kind)
            self.assertIsNone(self.problem(answer.json, described["schema"]), f"{method} {path}: {answer}")
        return answer.json if content else None

    def check_fields_of_body(self, method, path, rest, unknown="is not a field of this call"):
        """Every field of the page is one of the server, and one that is not in the page is refused."""
        operation = self.page["paths"][path][method.lower()]
        schema = self.resolved(operation["requestBody"])["content"]["application/json"]["schema"]
        where = path.replace("{gate}", "fields")
        for name in [*schema["properties"], "unheard_of"]:
            answer = self.http.ask(method, where, {**rest, name: {}})  # No field is an object.
            self.assertEqual((answer.status, answer.json["field"]), (400, name))
            self.assertEqual(answer.json["detail"] == unknown, name == "unheard_of", name)

    def test_the_checks_notice(self):
        granted = self.page["components"]["responses"]["Granted"]["content"]["application/json"]["schema"]
        self.assertIsNone(self.problem({"answer": "granted", "fence": 1, "slot": None}, granted))
        for wrong in ({"answer": "admitted"}, {"fence": "1"}, {"fence": None}, {"other": 1}, {"rate": {"limit": "x"}}, []):
            self.assertIsNotNone(self.problem(wrong, granted), wrong)

    def test_every_operation(self):
        admit, take = "/v1/gates/{gate}/admit", "/v1/gates/{gate}/take"
        token = self.call("POST", admit, 200, {"limit": 1, "rates": ["5/s"]})["token"]
        self.call("POST", admit, 202, {"limit": 1, "visitor": "ann"})
        self.call("POST", admit, 429, {"limit": 1})
        self.call("POST", admit, 400, {"limit": 0})
        both = {"gates": [{"gate": "g/a", "limit": 1, "rates": ["5/s"]}, {"gate": "g/b", "rates": ["5/s"]}]}
        self.call("POST", "/v1/admit", 200, both)
        self.call("POST", "/v1/admit", 429, both)
        self.call("POST", "/v1/admit", 400, {})
        for mode in ("take", "at_most", "peek"):
            self.call("POST", take, 200, {"rates": ["3/1h"], "mode": mode}, {"gate": "r"}.items())
        self.call("POST", take, 429, {"rates": ["3/1h"], "cost": 3}, {"gate": "r"}.items())
        self.call("POST", take, 200, {"rates": ["3/1h"], "cost": 3, "mode": "reserve"}, {"gate": "r"}.items())
        self.call("POST", take, 400, {})
        self.call("DELETE", "/v1/gates/{gate}/visitors/{visitor}", 200)
        self.call("DELETE", "/v1/gates/{gate}/visitors/{visitor}", 404)
        self.call("POST", "/v1/renew", 200, {"token": token, "ttl": "5s"})
        self.call("POST", "/v1/release", 200, {"token": token})
        for path in ("/v1/renew", "/v1/release"):
            self.call("POST", path, 410, {"token": token})
            self.call("POST", path, 400, {})
        self.call("GET", "/v1/gates", 200)
        self.call("GET", "/v1/gates/{gate}", 200)
        self.call("PUT", "/v1/gates/{gate}/limit", 204, {"limit": 3})
        self.call("PUT", "/v1/gates/{gate}/limit", 400, {})
        self.call("DELETE", "/v1/gates/{gate}/limit", 204)
        self.call("PUT", "/v1/gates/{gate}/pause", 204, {"for": "1h"})
        self.call("PUT", "/v1/gates/{gate}/pause", 400, {"for": 0})
        self.call("DELETE", "/v1/gates/{gate}/pause", 204)
        self.call("DELETE", "/v1/gates/{gate}/pause", 404)
        self.call("POST", "/v1/gates/{gate}/revoke", 200, {"now": True})
        self.call("POST", "/v1/gates/{gate}/revoke", 404, {"visitor": "none"})
        self.call("DELETE", "/v1/gates/{gate}", 204)
        self.call("DELETE", "/v1/gates/{gate}", 404, None, {"gate": "never"}.items())
        self.call("GET", "/v1/gates/{gate}", 404, None, {"gate": "never"}.items())
        for status, query in ((204, "gate=once"), (403, "gate=once"), (429, "gate=once&style=forward"), (400, "gate=other")):
            self.call("GET", "/check", status, query="?" + query)
        self.admit("line", limit=1)
        for status, query in ((401, "gate=line"), (429, "gate=line&style=forward")):
            self.call("GET", "/check", status, query="?" + query)
        self.call("GET", "/room/{gate}", 303, None, {"gate": "room"}.items())
        self.call("GET", "/room/{gate}/status", 200, None, {"gate": "room"}.items())
        self.call("GET", "/room/{gate}/stream", 403, None, {"gate": "room"}.items())
        self.call("DELETE", "/room/{gate}/session", 204, None, {"gate": "room"}.items())
        for path, method in (("/room/{gate}", "GET"), ("/room/{gate}/status", "GET"), ("/room/{gate}/session", "DELETE")):
            self.call(method, path, 404, None, {"gate": "never"}.items())
        self.call("GET", "/v1/history", 200, query="?gates=g")
        self.call("GET", "/v1/me", 200)
        self.call("GET", "/v1/history", 400)
        limited = {"entries": [{"key": "k", "value": "v"}], "limit": {"requestsPerUnit": 1, "unit": "YEAR"}}
        rate_limit = {"domain": "example", "descriptors": [limited]}
        self.call("POST", "/json", 200, rate_limit)
        self.call("POST", "/json", 429, rate_limit)
        self.call("POST", "/json", 400, {})
        for path in ("/v1/doctor", "/metrics", "/live", "/ready", "/"):
            self.call("GET", path, 200)
        self.call("GET", "/assets/{file}", 200, None, {"file": "uPlot.LICENSE.txt"}.items())
        self.call("GET", "/assets/{file}", 404, None, {"file": "other"}.items())
        self.call("GET", "/v1/events", 200)  # The last: the stream keeps the connection.
        listed = {(method, path) for path, methods in self.page["paths"].items() for method in methods}
        self.assertEqual(self.called, listed)

    def test_every_path_of_the_server_is_in_the_page(self):
        for path, methods in self.page["paths"].items():
            where = path.replace("{gate}", "g").replace("{visitor}", "v")
            allowed = set(self.http.ask("OPTIONS", where).fields["allow"].lower().split(", "))
            self.assertEqual(allowed - {"options", "head"}, set(methods), path)
        routes = os.path.join(os.path.dirname(PAGE), "api/api.cpp")
        with open(routes, encoding="utf-8") as file:
            written = {line.split('"')[1] for line in file if line.strip().startswith("Route{\"")}
        self.assertEqual(written, set(self.page["paths"]))

    def test_fields_of_bodies(self):
        self.check_fields_of_body("POST", "/v1/gates/{gate}/take", {"rates": ["1/s"]})
        self.check_fields_of_body("POST", "/v1/admit", {"gates": [{"gate": "g/a", "limit": 1}]})
        self.check_fields_of_body("PUT", "/v1/gates/{gate}/limit", {"limit": 1})
        self.check_fields_of_body("PUT", "/v1/gates/{gate}/pause", {"for": 1})
        self.check_fields_of_body("POST", "/v1/gates/{gate}/revoke", {})
        self.check_fields_of_body("POST", "/json", {}, "is not a field of this message")
        self.check_fields_of_body("POST", "/v1/gates/{gate}/admit",
                                  {"limit": 1, "rates": ["9/s"], "order": "priority", "visitor": "ann"})

    def test_its_version_is_the_librarys(self):
        with open(HEADER, encoding="utf-8") as file:
            self.assertIn(f'#define AIRLOCK_VERSION "{self.page["info"]["version"]}"', file.read())


if __name__ == "__main__":
    unittest.main()
