"""Views to arrays: numbered encodings with named fields."""

from paplu_env.encoding.base import Encoding, Layout, Observations
from paplu_env.encoding.fields import Field
from paplu_env.encoding.hidden_v1 import HIDDEN_V1
from paplu_env.encoding.registry import get, layouts, names
from paplu_env.encoding.suits import permute_actions, permute_faces, permute_masks, permute_suits

__all__ = [
    "HIDDEN_V1",
    "Encoding",
    "Field",
    "Layout",
    "Observations",
    "get",
    "layouts",
    "names",
    "permute_actions",
    "permute_faces",
    "permute_masks",
    "permute_suits",
]
