"""What travels between the service and its clients, where no other value of skillweave already says it."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
event_request: EventRequest
pages: ApprovalPage ConversationPage LogPage page
problem: Problem
turn_request: DeliveryMode TurnRequest
""",
)
