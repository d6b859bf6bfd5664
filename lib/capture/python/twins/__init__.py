"""Operations of svc in PyTorch, with gradients: one function for each operation, registered by its id in `TWINS`.

`core` has signals, draws and the register; `link`, `ofdm`, `images`, `csi`, `downlink`, `estimation` and `power` have the operations.
"""

from . import csi, downlink, estimation, images, link, ofdm, power  # noqa: F401  (they register their twins)
from .core import TWINS, Draws, Signal, Unsupported

__all__ = ["TWINS", "Draws", "Signal", "Unsupported"]
