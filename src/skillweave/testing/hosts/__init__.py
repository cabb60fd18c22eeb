"""The contract of adapters: an agent in any framework, a scripted model inside it, and what has to hold for both.

The scripted models of the frameworks are in modules of their names and need nothing else; the contract suites
(`skillweave.testing.hosts.contracts`) need pytest with pytest-asyncio.
"""

from skillweave.testing.hosts.agent import HostedAgent, Tool
from skillweave.testing.hosts.script import Asks, Says, Script, Sent

__all__ = ["Asks", "HostedAgent", "Says", "Script", "Sent", "Tool"]
