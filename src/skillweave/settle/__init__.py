"""The pure core's last step: render the blocks, write the records, state the decisions, give the State after."""

from skillweave.settle.settle import Fetched, Settled, settle

__all__ = ["Fetched", "Settled", "settle"]
