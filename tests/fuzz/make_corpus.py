#!/usr/bin/env python3
"""Writes the corpus of the fuzz targets whose input is not text.

corpus/event/ gets payloads of records, corpus/record/ the same as event files.
The other targets read texts, which are kept by hand.
"""

from __future__ import annotations

import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
# What smdebug writes in place of the checksum of a payload.
FOOTER = 0x062DC0B3


def varint(value: int) -> bytes:
    value %= 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def shape(*sizes: int) -> bytes:
    dims = (number(1, size) + text(2, b"t_%d" % size) for size in sizes)
    return text(2, b"".join(text(2, dim) for dim in dims))


def plugin(name: bytes, content: bytes) -> bytes:
    return text(1, text(1, name) + text(2, content))


MODE = plugin(b"mode_step", b"7") + plugin(b"mode", b"1")


def event(tensor: bytes, name: bytes = b"t", mode: bytes = MODE) -> bytes:
    value = text(1, name) + text(8, tensor) + text(9, mode)
    wall_time = b"\x09" + struct.pack("<d", 1.5)
    return wall_time + number(2, 12) + text(5, text(1, value))


FLOAT = number(1, 1) + shape(2, 3) + text(4, struct.pack("<6f", *range(6)))

PAYLOADS = {
    "float32": event(FLOAT),
    "scalar": event(number(1, 2) + shape() + text(4, struct.pack("<d", 2.5)), b"loss:0"),
    "strings": event(shape(2) + text(8, b"foo") + text(8, "b\u00e4rz".encode())),
    "no_strings": event(shape(0)),
    "empty_shape": event(number(1, 9) + shape(3, 0)),
    "bool": event(number(1, 10) + shape(4) + text(4, b"\0\1\1\0")),
    "complex128": event(number(1, 18) + shape(1) + text(4, bytes(16))),
    "bfloat16": event(number(1, 14) + shape(1, 2) + text(4, b"\x80\x3f\x00\x40")),
    "no_metadata": event(FLOAT, b"", b""),
    "unknown_fields": number(31, 1) + text(30, b"?") + event(FLOAT + number(29, 5)),
    # Damaged from here on.
    "nothing": b"",
    "cut_short": event(FLOAT)[:-9],
    "content_too_short": event(number(1, 1) + shape(2) + text(4, bytes(4))),
    "negative_size": event(number(1, 4) + shape(-1) + text(4, b"x")),
    "huge_shape": event(number(1, 4) + shape(1 << 32, 1 << 32)),
    "type_99": event(number(1, 99) + shape() + text(4, b"x")),
    "mode_9": event(FLOAT, mode=plugin(b"mode", b"9")),
    "mode_step_no_number": event(FLOAT, mode=plugin(b"mode_step", b"-")),
    "two_tensors": text(5, text(1, text(8, FLOAT) + text(8, FLOAT))),
    "endless_varint": b"\x10" + b"\xff" * 12,
}


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(payload: bytes, footer: int = FOOTER) -> bytes:
    length = struct.pack("<Q", len(payload))
    header = length + struct.pack("<I", masked(crc32c(length)))
    return header + payload + struct.pack("<I", footer)


def files() -> dict[str, bytes]:
    float32 = PAYLOADS["float32"]
    whole = record(float32)
    return {
        "one": whole,
        "three": record(PAYLOADS["scalar"]) + record(PAYLOADS["strings"]) + whole,
        "true_checksum": record(float32, masked(crc32c(float32))),
        # Damaged from here on.
        "nothing": b"",
        "torn": whole + whole[:30],
        "torn_header": whole + whole[:5],
        "wrong_length_checksum": whole[:8] + bytes(4) + whole[12:],
        "wrong_checksum": record(float32, 1),
        "huge_length": struct.pack("<Q", (1 << 64) - 1) + whole[8:],
        "no_event": record(b"hello"),
        "empty_record": record(b""),
    }


def main() -> None:
    for folder, contents in (("event", PAYLOADS), ("record", files())):
        (CORPUS / folder).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (CORPUS / folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
