"""Tables with `__arrow_c_stream__`, made by hand with ctypes: what a producer of Arrow data does, and a count of what was released."""
import ctypes
import struct

from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA, RELEASE_ARRAY, RELEASE_STREAM = (CFUNCTYPE(None, POINTER(each)) for each in (Schema, Array, Stream))
Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
                   ("children", POINTER(POINTER(Schema))), ("dictionary", POINTER(Schema)), ("release", RELEASE_SCHEMA),
                   ("private_data", c_void_p)]
Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
                  ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))), ("dictionary", POINTER(Array)),
                  ("release", RELEASE_ARRAY), ("private_data", c_void_p)]
GET_SCHEMA, GET_NEXT = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema)), CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
LAST_ERROR = CFUNCTYPE(c_void_p, POINTER(Stream))
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", LAST_ERROR), ("release", RELEASE_STREAM),
                   ("private_data", c_void_p)]
DESTRUCTOR = CFUNCTYPE(None, c_void_p)
LETTERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d"}


class Column:
    """A column of a batch: `values` of the Arrow format `format`, None for null; for a dictionary `values` are places in `dictionary`."""

    def __init__(self, format, values, dictionary=None, offset=0):
        self.format, self.values, self.dictionary, self.offset = format, values, dictionary, offset


def _buffers(column):
    values = column.values
    valid = bytearray((len(values) + 7) // 8)
    for k, value in enumerate(values):
        valid[k // 8] |= (value is not None) << (k % 8)
    nulls = sum(value is None for value in values)
    validity = bytes(valid) if nulls else None
    letter = "i" if column.format == "tdD" else "q" if column.format.startswith(("ts", "tdm")) else LETTERS.get(column.format)
    if letter:
        data = struct.pack(f"{len(values)}{letter}", *(0 if value is None else value for value in values))
        return nulls, [validity, data]
    texts = [b"" if value is None else value.encode() if isinstance(value, str) else value for value in values]
    if column.format == "vu":
        views, long = b"", b""
        for text in texts:
            if len(text) <= 12:
                views += struct.pack("i12s", len(text), text)
            else:
                views += struct.pack("i4sii", len(text), text[:4], 0, len(long))
                long += text
        return nulls, [validity, views, long, struct.pack("q", len(long))]
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    return nulls, [validity, struct.pack(f"{len(ends)}{'i' if column.format == 'u' else 'q'}", *ends), b"".join(texts)]


class Table:
    """Batches of named columns; `released` counts calls by what they released."""

    def __init__(self, batches, fail=None, format="+s", batch_offset=0):
        self.batches, self.fail, self.format, self.batch_offset = batches, fail, format, batch_offset
        self.released = {"stream": 0, "schema": 0, "array": 0, "capsule": 0}
        self.given = {"schema": 0, "array": 0}
        self._kept = []
        self._next = 0
        self._error = ctypes.create_string_buffer(b"the producer ran out of disk")

    def _keep(self, each):
        self._kept.append(each)
        return each

    def _release(self, kind, what):
        def release(pointer):
            self.released[what] += 1
            pointer.contents.release = kind()

        return self._keep(kind(release))

    def _schema_of(self, name, column):
        schema = self._keep(Schema(format=column.format.encode(), name=name.encode()))
        if column.dictionary is not None:
            schema.dictionary = ctypes.pointer(self._schema_of("", column.dictionary))
        return schema

    def _array_of(self, column):
        nulls, parts = _buffers(column)
        buffers = self._keep((c_void_p * len(parts))())
        for k, part in enumerate(parts):
            buffers[k] = None if part is None else ctypes.cast(self._keep(ctypes.create_string_buffer(part, len(part) or 1)), c_void_p)
        array = self._keep(Array(length=len(column.values) - column.offset, null_count=-1 if nulls else 0, offset=column.offset,
                                 n_buffers=len(parts), buffers=buffers))
        if column.dictionary is not None:
            array.dictionary = ctypes.pointer(self._array_of(column.dictionary))
        return array

    def _children(self, kind, each):
        children = self._keep((POINTER(kind) * len(each))())
        for k, child in enumerate(each):
            children[k] = ctypes.pointer(child)
        return ctypes.cast(children, POINTER(POINTER(kind)))

    def _get_schema(self, _, out):
        columns = [self._schema_of(name, column) for name, column in self.batches[0].items()]
        out[0] = Schema(format=self.format.encode(), name=b"", n_children=len(columns), children=self._children(Schema, columns),
                        release=self._release(RELEASE_SCHEMA, "schema"))
        self.given["schema"] += 1
        return 0

    def _get_next(self, _, out):
        if self._next == self.fail:
            return 5
        if self._next == len(self.batches):
            out[0] = Array()
            return 0
        columns = [self._array_of(column) for column in self.batches[self._next].values()]
        out[0] = Array(length=columns[0].length - self.batch_offset, offset=self.batch_offset, n_buffers=1, n_children=len(columns),
                       buffers=self._keep((c_void_p * 1)()),
                       children=self._children(Array, columns), release=self._release(RELEASE_ARRAY, "array"))
        self._next += 1
        self.given["array"] += 1
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        stream = self._keep(Stream(get_schema=self._keep(GET_SCHEMA(self._get_schema)), get_next=self._keep(GET_NEXT(self._get_next)),
                                   get_last_error=self._keep(LAST_ERROR(lambda _: ctypes.addressof(self._error))),
                                   release=self._release(RELEASE_STREAM, "stream")))

        def destroy(_):
            self.released["capsule"] += 1
            if stream.release:
                stream.release(ctypes.pointer(stream))

        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [c_void_p, c_char_p, DESTRUCTOR]
        self._capsule_name = b"arrow_array_stream"
        return new(ctypes.addressof(stream), self._capsule_name, self._keep(DESTRUCTOR(destroy)))
