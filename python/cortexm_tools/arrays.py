# SPDX-License-Identifier: Apache-2.0
"""Arrays from .npy and .npz files that anybody may have written, and .npz files of ours.

Only what is asked for is read, after its header has said that it is a plain array of a size that a
file of samples may have; numbers come in this machine's byte order.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TypeVar

import numpy as np

from .documents import opened
from .errors import CortexMError, printable
from .ir import Array

_T = TypeVar("_T")

_MOST_BYTES = 1 << 31  # of one array
_KINDS = "biuf"  # bool, integers, real numbers


def to_array(value: object) -> Array:
    """A NumPy array, a tensor of PyTorch, or nested lists of numbers, as an array.

    Raises:
        CortexMError: it holds something else than numbers.
    """
    detach = getattr(value, "detach", None)
    array = np.asarray(value if detach is None else detach().cpu().contiguous().numpy())
    if array.dtype.kind not in _KINDS:
        raise CortexMError(f"a {type(value).__name__} is not an array of numbers")
    return array


def npz_names(path: Path) -> tuple[str, ...]:
    """The names of the arrays in an .npz.

    Raises:
        CortexMError: it cannot be read, or is not a .npz.
    """
    return _reading(path, lambda: _names(path))


def read_npz(path: Path, names: Iterable[str]) -> dict[str, Array]:
    """Those arrays of an .npz that are among `names`.

    Raises:
        CortexMError: it cannot be read, is not a .npz, or one of them is not a plain array, or too large.
    """
    wanted = set(names)

    def read() -> dict[str, Array]:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            found = {}
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name in wanted and name != member.filename:
                    with archive.open(member) as entry:
                        found[name] = _array(entry, member.file_size, f"{path}: {name}")
            return found

    return _reading(path, read)


def read_npy(path: Path) -> Array:
    """The array of an .npy.

    Raises:
        CortexMError: as for `read_npz`.
    """

    def read() -> Array:
        with opened(path) as file:
            return _array(file, os.fstat(file.fileno()).st_size, str(path))

    return _reading(path, read)


def npz_bytes(arrays: dict[str, Array]) -> bytes:
    """An .npz with fixed time stamps, so that equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.save(entry, np.asanyarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue())
    return buffer.getvalue()


def _names(path: Path) -> tuple[str, ...]:
    with opened(path) as file, zipfile.ZipFile(file) as archive:
        return tuple(
            name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")
        )


def _reading(path: Path, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except CortexMError:
        raise
    except Exception:  # numpy parses headers as Python's source, which fails in many ways
        kind = ".npz of plain arrays" if path.suffix.lower() == ".npz" else ".npy of a plain array"
        raise CortexMError(f"is not a {kind}", where=str(path)) from None


def _array(file: IO[bytes], size: int, where: str) -> Array:
    """The array in an .npy of `size` bytes: header and elements."""
    version: tuple[int, int] = np.lib.format.read_magic(file)  # type: ignore[no-untyped-call]
    header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, fortran_order, dtype = header(file)  # type: ignore[no-untyped-call]
    nbytes = math.prod(shape) * dtype.itemsize
    if dtype.kind not in _KINDS and dtype.kind not in "US":
        raise CortexMError(
            f"holds {printable(str(dtype))}, not numbers",
            where=where,
            hint="store plain numpy arrays",
        )
    if nbytes > _MOST_BYTES:
        raise CortexMError(
            f"holds {nbytes:,} bytes, and no more than {_MOST_BYTES:,} are read",
            where=where,
            hint="store fewer samples",
        )
    if any(extent < 0 for extent in shape) or file.tell() + nbytes != size:
        raise ValueError("size")
    data = bytearray(nbytes)
    place = 0
    while place < nbytes:
        chunk = file.read(min(nbytes - place, 1 << 20))
        if not chunk:
            raise ValueError("truncated")
        data[place : place + len(chunk)] = chunk
        place += len(chunk)
    flat: Array = np.frombuffer(data, dtype)
    array = flat.reshape(shape, order="F" if fortran_order else "C")
    return np.ascontiguousarray(array.astype(dtype.newbyteorder("="))).reshape(shape)
