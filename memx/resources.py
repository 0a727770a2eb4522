"""Where packaged data lies: in an installed wheel, and in a checkout.

The wheel carries the top-level `hooks/` and `.memx-template/` as
`memx/data/hooks` and `memx/data/template`; an editable install has them only
at the top of the checkout.
"""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = {"hooks": "hooks", "template": ".memx-template"}


def resource(name: str) -> str:
    """Return the path of packaged data, such as `hooks` or `template/config.yml`."""
    packaged = os.path.join(_PACKAGE, "data", *name.split("/"))
    if os.path.exists(packaged):
        return packaged
    head, _, rest = name.partition("/")
    if head in _CHECKOUT:
        path = os.path.join(os.path.dirname(_PACKAGE), _CHECKOUT[head], *filter(None, rest.split("/")))
        if os.path.exists(path):
            return path
    return packaged
