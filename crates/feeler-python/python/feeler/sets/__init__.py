"""Sets of models: preparation, functions and regression over thousands of files, on Dask and Ray.

    import feeler.sets

    report = feeler.sets.prepare("models", "store")      # a folder of STEP files
    for file, reason in report.failed:
        print(file, reason)
    report.write("today.parquet")

Needs the packages of `pip install feeler[sets]`; `python -m feeler.sets` does the same in a shell.
"""

try:
    import cloudpickle as _cloudpickle  # noqa: F401
    import dask.distributed as _distributed  # noqa: F401
    import fsspec as _fsspec  # noqa: F401
    import psutil as _psutil  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
    import zstandard as _zstandard  # noqa: F401
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        f"feeler.sets needs {_error.name}; install its packages: pip install 'feeler[sets]'", name=_error.name
    ) from None

from ._child import Limits
from ._regress import Change, SetComparison, regress
from ._run import SetReport, clearance, map, prepare  # noqa: A004 - feeler.sets.map, as the builtin for sets
from ._store import Store, StoreError

__all__ = [
    "Change",
    "Limits",
    "SetComparison",
    "SetReport",
    "Store",
    "StoreError",
    "clearance",
    "map",
    "prepare",
    "regress",
]
