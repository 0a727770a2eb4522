"""Read the header of a safetensors file, so that its tensors can be memory-mapped.

Format: an 8-byte little-endian length, that many bytes of JSON
`{"name": {"dtype": …, "shape": […], "data_offsets": [begin, end]}}`, the data.
"""

from __future__ import annotations

from memx.errors import ModelUnavailableError
from memx.record import record

_LENGTH_BYTES = 8
_MAX_HEADER_BYTES = 1 << 20


@record
class Tensor:
    """Where a tensor lies; `begin` and `end` are offsets into the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_tensors(data: memoryview, path: str, total: int = 0) -> dict[str, Tensor]:
    """Return the tensors by name; raises ModelUnavailableError when the file is damaged.

    `total` is the file's size when `data` is only its beginning.
    """
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    start = _LENGTH_BYTES + length
    if len(data) < _LENGTH_BYTES or length > _MAX_HEADER_BYTES or start > len(data):
        raise ModelUnavailableError("model file is truncated", path=path)
    try:
        tensors = _parse(bytes(data[_LENGTH_BYTES:start]).decode("ascii"), start)
    except (ValueError, IndexError) as error:
        raise ModelUnavailableError("model file has an unknown header", path=path) from error
    if any(tensor.end > (total or len(data)) for tensor in tensors.values()):
        raise ModelUnavailableError("model file is truncated", path=path)
    return tensors


def _parse(header: str, start: int) -> dict[str, Tensor]:
    # The json module costs 8 ms at start, and the writer's form is fixed.
    tensors = {}
    compact = header.translate({32: None, 9: None, 10: None, 13: None})
    for part in compact.split("},"):
        name, found, fields = part.strip("{}").partition('":{"')
        if not found:
            continue
        dtype = fields.split('dtype":"')[1].split('"')[0]
        shape = fields.split('shape":[')[1].split("]")[0]
        begin, end = fields.split('data_offsets":[')[1].split("]")[0].split(",")
        dimensions = tuple(int(size) for size in shape.split(",") if size)
        tensors[name.lstrip('"')] = Tensor(dtype, dimensions, start + int(begin), start + int(end))
    return {name: tensor for name, tensor in tensors.items() if name != "__metadata__"}
