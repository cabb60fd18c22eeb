"""The pure core's last step: render the blocks, write the records, state the decisions, give the State after."""

from skillweave.settle.fetched import Fetched
from skillweave.settle.settle import Settled, settle

__all__ = ["Fetched", "Settled", "settle"]
