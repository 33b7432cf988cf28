# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The differences of ufuncs that are meant, with the wording of docs/ufuncs.md."""
from typing import Any, Optional

from accepted import Accepted

ACCEPTED: list[Accepted] = [
]


def reason(*found: Any) -> Optional[str]:
    """Returns the accepted difference that `found` is, or None."""
    return next((each.difference for each in ACCEPTED if each.holds(*found)), None)
