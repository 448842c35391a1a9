"""The environment variables that OpenBLAS and the OpenMP runtime read when they are loaded."""
import contextlib
import ctypes
import os
import warnings
from typing import Iterator, Optional

from ._kernels import better_core

_OPENBLAS = "libopenblas.so.0"


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Sets the variables while the libraries are loaded. The user's own settings are kept, and the variables set here are
    removed afterwards, so that no other process inherits them.

    Idle threads of the OpenMP runtime spin for milliseconds, which on a busy machine makes small models up to thirty
    times slower. OpenBLAS runs kernels for SSE3 on processors that are newer than itself."""
    before = os.environ.copy()
    try:
        if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
            os.environ["GOMP_SPINCOUNT"] = "1000"  # before OpenBLAS is opened, which loads that runtime
        if "OPENBLAS_CORETYPE" not in os.environ:
            better = _better_kernels()
            if better is not None:
                os.environ["OPENBLAS_CORETYPE"] = better
        yield
    finally:
        for name in ("GOMP_SPINCOUNT", "OPENBLAS_CORETYPE"):
            if name not in before:
                os.environ.pop(name, None)


def _close(library: ctypes.CDLL) -> None:
    ctypes.CDLL(None).dlclose(ctypes.c_void_p(library._handle))


def _loaded() -> bool:
    try:
        library = ctypes.CDLL(_OPENBLAS, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    _close(library)
    return True


def _better_kernels() -> Optional[str]:
    """The core type to load OpenBLAS with; none if its own choice is good, or if it is loaded already."""
    before = _loaded()
    try:
        library = ctypes.CDLL(_OPENBLAS)
        library.openblas_get_corename.restype = ctypes.c_char_p
        reported = library.openblas_get_corename().decode()
    except (OSError, AttributeError):
        return None  # another BLAS, or one in another place
    better = better_core(reported)
    if not better:
        return None
    _close(library)  # it is loaded again with the extension module
    if before or _loaded():
        warnings.warn(
            f"another package has loaded OpenBLAS, with its kernels for {reported}: matrix products take several times as "
            f"long as they need to; import poise first, or set OPENBLAS_CORETYPE={better} before Python starts",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return better
