"""The time to write 1.26 GB durably to a folder, the size of a full-rank model of 17 769 items.

    python3 bench/disk_bound.py FOLDER

Measures two ways: one write and one fsync; and four threads that write into reserved space and start the write-back at once,
as Poise writes models.
"""

import ctypes
import os
import sys
import threading
import time

SIZE = 4 * 17769 * 17769
PIECE = 16 << 20
libc = ctypes.CDLL(None, use_errno=True)  # calls through it release the interpreter's lock
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]


def timed(path, write):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        begin = time.perf_counter()
        write(descriptor)
        written = time.perf_counter()
        os.fsync(descriptor)
        return written - begin, time.perf_counter() - written
    finally:
        os.close(descriptor)
        os.unlink(path)


def plainly(descriptor, bytes_):
    rest = memoryview(bytes_)
    while rest:
        rest = rest[os.write(descriptor, rest):]


def by_threads(descriptor, bytes_, threads=4):
    try:
        os.posix_fallocate(descriptor, 0, SIZE)
    except OSError:
        pass
    view = memoryview(bytes_)

    def work(first):
        for begin in range(first * PIECE, SIZE, threads * PIECE):
            piece = view[begin:min(begin + PIECE, SIZE)]
            os.pwrite(descriptor, piece, begin)
            libc.sync_file_range(descriptor, begin, len(piece), 2)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def main():
    path = os.path.join(sys.argv[1], "disk_bound.tmp")
    bytes_ = bytearray(os.urandom(1 << 20)) * (SIZE // (1 << 20)) + bytearray(SIZE % (1 << 20))
    for name, write in (("one write, one fsync", plainly), ("four threads, early", by_threads)):
        for _ in range(2):
            writing, syncing = timed(path, lambda descriptor: write(descriptor, bytes_))
            print(f"disk: 1.26 GB, {name}: {writing:.2f} s, then {syncing:.2f} s for the disk")


if __name__ == "__main__":
    main()
