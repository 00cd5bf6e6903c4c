"""A check of a value by a JSON schema. It knows the words that the report's schema uses, and refuses any other."""

import re
from typing import Any

TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "null": type(None),
}  # fmt: skip


def valid(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    """Whether the schema allows the value. `root` is the whole schema, to which `$ref` refers."""
    return all(_holds(word, said, schema, value, root) for word, said in schema.items())


def _holds(word: str, said: Any, schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    match word:
        case "$schema" | "title" | "description" | "$defs":
            return True
        case "$ref":
            return valid(root["$defs"][said.removeprefix("#/$defs/")], value, root)
        case "type":
            return isinstance(value, TYPES[said]) and (said == "boolean" or not isinstance(value, bool))
        case "const" | "enum":
            return any(type(value) is type(each) and value == each for each in (said if word == "enum" else [said]))
        case "anyOf":
            return any(valid(each, value, root) for each in said)
        case "minimum":
            return not isinstance(value, (int, float)) or value >= said
        case "pattern":
            return re.search(said, value) is not None
        case "items":
            return not isinstance(value, list) or all(valid(said, each, root) for each in value)
        case _ if not isinstance(value, dict):
            return True
        case "required":
            return all(name in value for name in said)
        case "properties":
            return all(valid(each, value[name], root) for name, each in said.items() if name in value)
        case "propertyNames":
            return all(valid(said, name, root) for name in value)
        case "additionalProperties":
            others = [each for name, each in value.items() if name not in schema.get("properties", ())]
            return not others if said is False else all(valid(said, each, root) for each in others)
    raise ValueError(f"the schema uses {word}, which this check does not know")
