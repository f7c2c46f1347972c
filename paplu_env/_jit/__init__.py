"""How kernels are compiled, cached and run on threads; only this folder imports numba.

Every kernel is an ordinary function with `njit` above it. With ``NUMBA_DISABLE_JIT=1`` the same
functions run as plain Python and give the same bytes; `IS_COMPILED` says which it is.
"""

from paplu_env._jit.cache import cache_folder
from paplu_env._jit.compile import IS_COMPILED, accessor, njit
from paplu_env._jit.intrinsics import as_int64, lowest_bit, never_inline, popcount
from paplu_env._jit.threads import Share, offer_slices, run_slices

__all__ = [
    "IS_COMPILED",
    "Share",
    "accessor",
    "as_int64",
    "cache_folder",
    "lowest_bit",
    "never_inline",
    "njit",
    "offer_slices",
    "popcount",
    "run_slices",
]
