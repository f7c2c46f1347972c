"""What holds for every test: one thread in libraries, and no word about compilation on standard error."""

import os

os.environ.setdefault("PAPLU_QUIET", "1")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
