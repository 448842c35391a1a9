"""Reads a container by the published rules of the safetensors format alone and prints its content as JSON.

Nothing here is shared with Poise: a file that this program accepts is one that others can read.
"""

import json
import struct
import sys

import numpy

TYPES = {"U8": "<u1", "I32": "<i4", "I64": "<i8", "U64": "<u8", "F32": "<f4", "F64": "<f8"}


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(set(keys)) == len(keys), "a key appears twice"
    return dict(pairs)


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    assert length <= 100_000_000, "the header is too long"
    assert 8 + length <= len(content), "the header is longer than the file"
    header = content[8 : 8 + length].decode("utf-8", errors="strict")
    assert header.startswith("{"), "the header does not begin with {"
    header = json.loads(header, object_pairs_hook=no_duplicates)
    metadata = header.pop("__metadata__", {})
    assert all(type(key) is str and type(value) is str for key, value in metadata.items())

    data = content[8 + length :]
    position = 0
    tensors = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(entry) == {"dtype", "shape", "data_offsets"}, "unknown keys"
        begin, end = entry["data_offsets"]
        assert begin == position and end >= begin, f"{name} overlaps or leaves a gap"
        dtype = numpy.dtype(TYPES[entry["dtype"]])
        assert int(numpy.prod(entry["shape"], dtype=object)) * dtype.itemsize == end - begin, "length and shape differ"
        assert (8 + length + begin) % dtype.itemsize == 0, f"{name} is not aligned"
        tensors[name] = numpy.frombuffer(data[begin:end], dtype).reshape(entry["shape"])
        position = end
    assert position == len(data), "bytes follow the last tensor"
    return metadata, tensors


if __name__ == "__main__":
    metadata, tensors = read(sys.argv[1])
    shown = {name: {"dtype": t.dtype.name, "shape": list(t.shape), "elements": t.ravel().tolist()}
             for name, t in tensors.items() if name != "checksums"}
    print(json.dumps({"metadata": metadata, "tensors": shown}))
