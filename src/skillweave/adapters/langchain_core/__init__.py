"""What the adapters of LangChain and LangGraph share: their messages, and the guard at their tools."""
