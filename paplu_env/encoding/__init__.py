"""Views to arrays: numbered encodings with named fields."""

from paplu_env.encoding.base import Encoding, Observations
from paplu_env.encoding.fields import Field
from paplu_env.encoding.registry import get, names
from paplu_env.encoding.suits import permute_actions, permute_faces, permute_masks, permute_suits

__all__ = [
    "Encoding",
    "Field",
    "Observations",
    "get",
    "names",
    "permute_actions",
    "permute_faces",
    "permute_masks",
    "permute_suits",
]
