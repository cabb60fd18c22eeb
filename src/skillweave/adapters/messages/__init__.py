"""Plain lists of messages, for hosts without a framework: one module per provider's style, with the same verbs.

`openai_style` (chat completions), `responses_style` and `anthropic_style` each have `turn`, `place`, `system`,
`with_tail`, `offer`, `calls`, `unanswered`, `go_on` and `refuse`, and for skillweave's own tools `skill_tools`,
`transcript`, `answer` and `take_out`, so that a host writes
`from skillweave.adapters.messages import anthropic_style as style` and the rest of its loop stays the same.

`skills_in` and `without_skill_text` tell skill text from the rest of a chat, for windows and summarisers.
"""

from skillweave.adapters.chat import NOT_RUN, Call, TurnOptions
from skillweave.adapters.messages.marking import skills_in, without_skill_text

__all__ = ["NOT_RUN", "Call", "TurnOptions", "skills_in", "without_skill_text"]
