"""Views to arrays: numbered encodings with named fields."""

from paplu_env.encoding.base import Encoding, Layout, Observations
from paplu_env.encoding.fields import Field
from paplu_env.encoding.hidden_v1 import HIDDEN_V1, HiddenLayout
from paplu_env.encoding.hidden_v2 import HIDDEN_V2
from paplu_env.encoding.registry import by_name, hidden_layout, layouts, names
from paplu_env.encoding.suits import permute_actions, permute_faces, permute_masks, permute_suits

get = by_name  # its name before there were layouts for critics

__all__ = [
    "HIDDEN_V1",
    "HIDDEN_V2",
    "Encoding",
    "Field",
    "HiddenLayout",
    "Layout",
    "Observations",
    "by_name",
    "get",
    "hidden_layout",
    "layouts",
    "names",
    "permute_actions",
    "permute_faces",
    "permute_masks",
    "permute_suits",
]
