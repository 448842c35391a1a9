"""A catalogue of 300 000 items, and a sparse full-rank model over it, for tests of what commands hold in memory."""
import ctypes
import json
import struct

import numpy

ITEMS = 300_000
USERS = 30_000
HELD_OUT = 3_000  # users of a part: their scores of all items would be 3.6 GB
PER_ROW = 50
CHUNK = 16 << 20
OPTIONS = {"alpha": "1", "clip": "10", "dropout": "0", "epsilon": "1", "gamma": "0.5", "keep-top": str(PER_ROW), "lambda": "1",
           "model": "full-rank", "tolerance": "1e-06", "weighting": "constant", "zero-diagonal": "true"}
TYPES = {"U8": "<u1", "I32": "<i4", "I64": "<i8", "F32": "<f4"}


def write_log(path):
    """Every item once, and a long tail on top of it; ids are texts."""
    random = numpy.random.default_rng(1)
    rank = numpy.minimum(ITEMS - 1, 300 * (numpy.exp(6.9 * random.random(ITEMS)) - 1)).astype(int)
    items = random.permutation(ITEMS)
    item = numpy.concatenate([items, items[rank]])
    user = random.integers(0, USERS, 2 * ITEMS)
    path.write_text("user,item\n" + "".join(f"user-{u:06},item-{i:07}\n" for u, i in zip(user.tolist(), item.tolist())))


def read_model(path):
    """Metadata and tensors of a model file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    metadata = header.pop("__metadata__")
    header.pop("checksums")
    tensors = {name: numpy.frombuffer(content, TYPES[entry["dtype"]], offset=8 + length + entry["data_offsets"][0],
                                      count=entry["shape"][0]) for name, entry in header.items()}
    return metadata, tensors


def write_model(path, metadata, tensors):
    """A model file of one-dimensional tensors, those with larger elements first, as docs/data-format.md has it."""
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxh3.restype = ctypes.c_uint64
    xxh3.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    data = b"".join(tensor.tobytes() for tensor in tensors.values())
    chunks = [data[at:at + CHUNK] for at in range(0, len(data), CHUNK)]
    end = 8 * (len(chunks) + 1)
    header = {"checksums": {"dtype": "U64", "shape": [len(chunks) + 1], "data_offsets": [0, end]}, "__metadata__": metadata}
    for name, tensor in tensors.items():
        dtype = next(code for code, known in TYPES.items() if tensor.dtype == numpy.dtype(known))
        header[name] = {"dtype": dtype, "shape": [len(tensor)], "data_offsets": [end, end + tensor.nbytes]}
        end += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    head = struct.pack("<Q", len(text)) + text
    checksums = struct.pack(f"<{len(chunks) + 1}Q", *(xxh3(part, len(part)) for part in [head, *chunks]))
    path.write_bytes(head + checksums + data)


class SparseModel:
    """A full-rank model with PER_ROW entries in each row of B, over the items of another model."""

    def __init__(self, of):
        metadata, tensors = read_model(of)
        offsets = tensors["item_id_offsets"]
        text = tensors["item_ids"].tobytes().decode()
        self.ids = [text[begin:end] for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist())]
        self.number = {text: i for i, text in enumerate(self.ids)}
        n = len(self.ids)
        random = numpy.random.default_rng(2)
        self.indices = random.integers(1, n // PER_ROW, (n, PER_ROW)).cumsum(axis=1).astype("<i4") - 1
        self.values = random.standard_normal((n, PER_ROW), numpy.float32)
        self.metadata = {**metadata, "model": "full-rank", "options": json.dumps(OPTIONS), "report": "{}"}
        self.tensors = {"B.offsets": numpy.arange(n + 1, dtype="<i8") * PER_ROW, "item_id_offsets": offsets,
                        "B.indices": self.indices.ravel(), "B.values": self.values.ravel(), "item_ids": tensors["item_ids"]}

    def write(self, path):
        write_model(path, self.metadata, self.tensors)

    def scores(self, history):
        """Of all items for the items of a history, which are numbers."""
        scores = numpy.zeros(len(self.ids))
        for item in sorted(history):
            scores[self.indices[item]] += self.values[item]
        return scores.astype(numpy.float32)

    def best(self, history, k):
        """The ids of the k best items outside of the history."""
        scores = self.scores(history)
        scores[list(history)] = -numpy.inf
        return [self.ids[i] for i in numpy.argsort(-scores, kind="stable")[:k]]
