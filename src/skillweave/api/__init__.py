"""What travels between the service and its clients, where no other value of skillweave already says it."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
composition: AuthorizeRequest ComposeRequest SpawnQuestion ToolCallRequest ValidateRequest
entities: EntitiesPut Neighbours
graphs: GraphListed GraphPage SimulationRequest
event_request: EventRequest
pages: ApprovalPage ConversationPage LogPage page
problem: Problem
sent_event: SentEvent
skills: AgentPage ArtifactContent ArtifactPage CheckReport CheckRequest RollbackRequest SkillDefinition SkillListed
    SkillPage SkillPublished SkillVersion VersionPage
turn_request: DeliveryMode TurnRequest
""",
)
