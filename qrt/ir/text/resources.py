"""Parser of the resource section that follows a program and holds the bytes of its `dense_resource` constants."""

from collections.abc import Callable

from qrt.errors import plural
from qrt.ir.core import registry
from qrt.ir.text.attribute_parser import AttributeParser
from qrt.ir.text.dense import Blob


class ResourceParser(AttributeParser):
    """Parser of the resource section, which fills the `Blob` of each `dense_resource` key."""

    def resources(self) -> None:
        """Parse the resource section `{-# dialect_resources: {builtin: {key: "0x..."}} #-}`."""
        scanner = self.scanner
        scanner.expect("{-#")

        def section() -> None:
            start = scanner.skip()
            name = scanner.word("a section name")
            if name not in ("dialect_resources", "external_resources"):
                raise scanner.error(f"unknown key '{name}' in file metadata dictionary", start, scanner.pos)
            scanner.expect(":", " after section name")
            self._braced(dialect if name == "dialect_resources" else other)

        def dialect() -> None:
            start = scanner.skip()
            name = scanner.word("a dialect name")
            if name in registry.DIALECTS.own and name != "builtin":
                raise scanner.error(f"unexpected 'resource' section for dialect '{name}'", start, scanner.pos)
            if name != "builtin":
                raise scanner.error(f"dialect '{name}' is unknown", start, scanner.pos)
            scanner.expect(":", " after dialect name")
            self._braced(self._resource)

        def other() -> None:
            """Skip a group of `external_resources`, which belongs to another tool."""
            self.resource_key()
            scanner.expect(":", " after the name of a tool")
            self._braced(self._other_resource)

        if not scanner.at("#-}"):
            scanner.separated(section)
        scanner.expect("#-}", " to end the resources")

    def _braced(self, entry: Callable[[], None]) -> None:
        self.scanner.bracketed("{}", entry, " to begin resources", " to end resources")

    def _resource(self) -> None:
        scanner = self.scanner
        key = self.resource_key()
        scanner.expect(":", " after resource key")
        start = scanner.skip()
        text = scanner.string("a resource string")
        data = scanner.bytes_of_hex(text, start, scanner.pos)
        if len(data) < 4:
            raise scanner.error(
                f"a resource must begin with 4 bytes, its alignment (little-endian), got {plural(len(data), 'byte')}",
                start,
                scanner.pos,
            )
        alignment = int.from_bytes(data[:4], "little")
        if alignment == 0 or alignment & (alignment - 1):
            raise scanner.error(
                f"the alignment of a resource, its first 4 bytes, must be a power of two, got {alignment}",
                start,
                scanner.pos,
            )
        blob = self._blobs.setdefault(key, Blob(key))
        if blob.data is not None:
            raise scanner.error(f"redefinition of resource '{key}'", start, scanner.pos)
        blob.data, blob.alignment = data[4:], alignment

    def _other_resource(self) -> None:
        scanner = self.scanner
        key = self.resource_key()
        scanner.expect(":", " after resource key")
        if scanner.at('"'):
            scanner.string()
        elif not scanner.accept_word("true") and not scanner.accept_word("false"):
            raise scanner.error(f"expected string value for key '{key}'")
