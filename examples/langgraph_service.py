"""An agent in LangGraph with its skills in a service: it asks over HTTP, pauses, and runs what a person made of a call.

The agent knows the service by its address only. A call that a checkpoint stands before opens an approval and pauses the
graph; a person elsewhere changes the amount; the agent hears it on the event stream, has the changed call judged, and
runs it. The model is a script.

    pip install '.[client,langgraph]' ./packages/skillweave-stores ./packages/skillweave-server
    python examples/langgraph_service.py                                # over a service of its own
    python examples/langgraph_service.py --url http://127.0.0.1:8321    # over one that has these skills
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import httpx
import uvicorn
from httpx_sse import connect_sse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from scripted.langchain import ScriptedChatModel

from skillweave_server.app import create_app
from skillweave_server.opening import Entry, open_service
from skillweave_testing.hosts import Asks, Says, Script

SKILLS = Path(__file__).parent / "skills"
SAYS = (
    Says("I pay the invoice.", (Asks("pay_invoice", {"number": "INV-20417", "amount": 90}),)),
    "Only half of INV-20417 had arrived, so 45.00 are paid.",
)


@tool
def pay_invoice(number: str, amount: float) -> str:
    """Pays an invoice."""
    print(f"tool      pay_invoice runs with number={number}, amount={amount:g}")
    return f"{number}: {amount:.2f} paid"


class Chat(TypedDict):
    """What the graph keeps: the history, and the checkpoints and the approval that it waits for."""

    messages: Annotated[list[AnyMessage], add_messages]
    checkpoints: list[dict[str, Any]]
    approval: str


class Skills:
    """What the service does for one conversation."""

    def __init__(self, http: httpx.Client, conversation: str) -> None:
        self._http = http
        self.conversation = conversation

    def turn(self, message: str) -> Mapping[str, Any]:
        """What to give to the model for the message."""
        return self._post(f"conversations/{self.conversation}/turns", {"message": message})

    def judge(self, call: Mapping[str, Any], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Whether the model's call may run with these arguments."""
        asked = {"conversation": self.conversation, "tool": call["name"], "arguments": arguments, "call_id": call["id"]}
        return self._post("authorize", asked)

    def ask(self, call: Mapping[str, Any], checkpoint: Mapping[str, Any]) -> str:
        """Ask a person about the call, once however often this is run; the approval's id."""
        asked = {
            "conversation": self.conversation,
            "skill_id": checkpoint["skill_id"],
            "checkpoint": checkpoint["name"],
            "digest": checkpoint["digest"],
            "reviewer": checkpoint["reviewer"] or "",
            "call": {"id": call["id"], "tool": call["name"], "arguments": call["args"]},
        }
        return str(self._post("approvals", asked, key=f"{self.conversation}/{call['id']}")["id"])

    def wait(self, approval: str) -> Mapping[str, Any]:
        """The approval as soon as it is decided: told by the conversation's events, from the first one on."""
        path = f"conversations/{self.conversation}/stream"
        with connect_sse(self._http, "GET", path, params={"after": ""}, timeout=60) as source:
            for event in source.iter_sse():
                if event.event == "checkpoint.decided":
                    case = self._http.get(f"approvals/{approval}").raise_for_status().json()
                    if case["status"] != "pending":
                        return dict(case)
        raise RuntimeError("the stream ended before a person decided; listen again")

    def _post(self, path: str, body: Mapping[str, Any], key: str | None = None) -> Mapping[str, Any]:
        headers = {"Idempotency-Key": key or uuid4().hex}
        return dict(self._http.post(path, json=body, headers=headers).raise_for_status().json())


def build_agent(model: BaseChatModel, skills: Skills) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph: think, act, and wait for a person where a checkpoint asks."""
    shown = model.bind_tools([pay_invoice])

    def begin(state: Chat) -> dict[str, Any]:
        injection = skills.turn(state["messages"][-1].text)
        print(f"service   gives {', '.join(one['skill_id'] for one in injection['blocks']) or 'nothing'}")
        texts = [SystemMessage(one["content"], id=one["id"]) for one in injection["messages"]]
        return {"messages": texts, "checkpoints": injection["checkpoints"]}

    def think(state: Chat) -> dict[str, Any]:
        return {"messages": [shown.invoke(state["messages"])]}

    def act(state: Chat) -> Command[Any]:
        (call,) = state["messages"][-1].tool_calls
        verdict = skills.judge(call, call["args"])
        if verdict["ruling"] == "ask":
            point = next(one for one in state["checkpoints"] if one["name"] in verdict["checkpoints"])
            return Command(goto="wait", update={"approval": skills.ask(call, point)})
        return answered(call, call["args"], verdict)

    def wait(state: Chat) -> Command[Any]:
        (call,) = state["messages"][-1].tool_calls
        case = interrupt({"approval": state["approval"]})
        arguments = case["arguments"] or call["args"]
        # What a person changed is none the less for the policy to allow.
        return answered(call, arguments, skills.judge(call, arguments))

    def answered(call: Mapping[str, Any], arguments: Mapping[str, Any], verdict: Mapping[str, Any]) -> Command[Any]:
        allowed = verdict["ruling"] == "allow"
        text = pay_invoice.invoke(dict(arguments)) if allowed else verdict["message"]
        status = "success" if allowed else "error"
        return Command(goto="think", update={"messages": [ToolMessage(text, tool_call_id=call["id"], status=status)]})

    graph = StateGraph(Chat)
    graph.add_node("begin", begin)
    graph.add_node("think", think)
    graph.add_node("act", act, destinations=("think", "wait"))
    graph.add_node("wait", wait, destinations=("think",))
    graph.add_edge(START, "begin")
    graph.add_edge("begin", "think")
    graph.add_conditional_edges("think", lambda state: "act" if state["messages"][-1].tool_calls else END)
    return graph.compile(checkpointer=InMemorySaver())


def decide(http: httpx.Client, approval: str) -> None:
    """A person at another machine: looks what waits, and has half of it paid."""
    waiting = http.get("approvals", params={"status": "pending"}).raise_for_status().json()["items"]
    call = next(case["request"]["call"] for case in waiting if case["id"] == approval)
    print(f"person    is asked about {call['tool']} with {call['arguments']}")
    changed = {**call["arguments"], "amount": 45}
    said = {"verdict": "modified", "by": "Ann Lee", "note": "Half of it arrived.", "arguments": changed}
    print(f"person    Ann Lee says modified, with {changed}")
    http.post(f"approvals/{approval}/decide", json=said).raise_for_status()


def play(url: str) -> None:
    """A request, the pause, a person's change, and the call as it was changed."""
    with httpx.Client(base_url=f"{url}/api/v1/") as http:
        skills = Skills(http, f"payments-{uuid4().hex[:8]}")
        agent = build_agent(ScriptedChatModel(script=Script(*SAYS)), skills)
        thread: RunnableConfig = {"configurable": {"thread_id": skills.conversation}}
        words = "Please pay invoice INV-20417 from Brandt GmbH."
        print("user     ", words)
        result = agent.invoke({"messages": [HumanMessage(words)]}, thread)
        while asked := result.get("__interrupt__"):
            approval = asked[0].value["approval"]
            print("agent     pauses; a person has to decide")
            person = threading.Thread(target=decide, args=(http, approval))
            person.start()
            case = skills.wait(approval)
            person.join()
            print(f"agent     hears: {case['status']} by {case['by']}")
            result = agent.invoke(Command(resume=case), thread)
        print("agent    ", result["messages"][-1].text)


@contextmanager
def own_service() -> Iterator[str]:
    """The address of a service with the skills of the examples, as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        service = open_service(SKILLS, store=Path(folder) / "service.db", entry=Entry.OPEN)
        server = uvicorn.Server(uvicorn.Config(create_app(service), port=0, log_level="warning"))
        running = threading.Thread(target=server.run)
        running.start()
        while not server.started:
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            running.join()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="An agent in LangGraph with its skills in a service.")
    options.add_argument("--url", help="the address of a running service; without it one is started")
    address = options.parse_args().url
    if address:
        play(address)
    else:
        with own_service() as address:
            play(address)
