"""One turn of an agent inside each framework, with skillweave and without: what the adapter adds (spec 7)."""

import itertools
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from results import Effort, Figure, Row, figure
from stage import MESSAGES, Stage, make_stage, new_name, open_weaver
from timing import Batch, Timing, interleaved

from skillweave import CatalogMode, Placement, Settings, Weaver
from skillweave.adapters.messages import openai_style
from skillweave.tokens.counter import Tiktoken
from skillweave_testing.hosts import Script, Sent

sys.path.append(str(Path(__file__).parents[1] / "examples"))  # for the scripted models

BARE = "the bare framework"
HIT, AGAIN = "a skill matches", "follow-up, skill present"
BASE = "You are the assistant of a small office."
REPLY = "All right."

Say: TypeAlias = Callable[[str], Awaitable[object]]
"""One message of a user, to the model's last words."""
Opened: TypeAlias = Callable[[str], Say]
"""A new conversation of that id with an agent that was made before."""
Host: TypeAlias = Callable[[Script, Weaver | None], Opened]
"""An agent of a framework whose model is the script; without a weaver the framework is bare."""


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Each host at growing numbers of skills, first turns and follow-ups."""
    sizes = (100,) if effort is Effort.QUICK else (100, 1_000)
    samples = 5 if effort is Effort.QUICK else 21
    counter = Tiktoken()
    counter.warm_up()
    for size in sizes:
        stage = make_stage(size, counter)
        for name, host in HOSTS.items():
            for kind in (HIT, AGAIN):
                await _check(stage, host)
                times = await _timed(stage, host, kind, samples)
                yield _row(f"{name}: {kind}, {stage.size}", times["ours"], times["bare"])


async def _timed(stage: Stage, host: Host, kind: str, samples: int) -> Mapping[str, Timing]:
    weaver = open_weaver(stage).variant(Settings(catalog=CatalogMode.FALLBACK), ["explicit", "triggers"])
    for message, _ in stage.hits:
        await weaver.weave(message, conversation=new_name("warm"))
    batches = {"ours": _turns(stage, host, weaver, kind), "bare": _turns(stage, host, None, kind)}
    return await interleaved(batches, samples=samples, seconds=2.0)


def _row(case: str, ours: Timing, bare: Timing) -> Row:
    added = Figure(*(max(of_ours - bare.median, 0.0) for of_ours in (ours.median, ours.fastest, ours.slowest)))
    return Row("what skillweave adds to a turn inside a framework", case, added, BARE, figure(bare))


def _turns(stage: Stage, host: Host, weaver: Weaver | None, kind: str) -> Batch:
    script = Script(otherwise=REPLY)
    opened = host(script, weaver)
    numbers = itertools.count()

    async def batch(times: int) -> float:
        script.sent.clear()
        ready = []
        for number in itertools.islice(numbers, times):
            say = opened(new_name("host"))
            if kind == AGAIN:
                await say(stage.hits[number % MESSAGES][0])
            ready.append((say, stage.misses[number % MESSAGES] if kind == AGAIN else stage.hits[number % MESSAGES][0]))
        begin = time.perf_counter()
        for say, message in ready:
            await say(message)
        return time.perf_counter() - begin

    return batch


async def _check(stage: Stage, host: Host) -> None:
    """That the skill reaches the model with skillweave and not without, in the turn and in the next one."""
    message, made = stage.hits[0]
    for weaver in (open_weaver(stage), None):
        script = Script(otherwise=REPLY)
        say = host(script, weaver)(new_name("check"))
        for text in (message, stage.misses[0]):
            await say(text)
            given = script.last.times(made.body.strip().splitlines()[-1])
            if bool(given) != (weaver is not None):
                raise SystemExit(f"the turns are not as meant: {made.name} is given {given} times")


def message_loop(script: Script, weaver: Weaver | None) -> Opened:
    """A loop by hand over a plain list."""

    def opened(conversation: str) -> Say:
        chat: list[Any] = []

        async def say(text: str) -> None:
            nonlocal chat
            chat = [*chat, {"role": "user", "content": text}]
            system, sent = BASE, chat
            if weaver is not None:
                injection = await weaver.weave(openai_style.turn(chat, conversation=conversation))
                chat, system = openai_style.place(chat, injection), openai_style.system(BASE, injection)
                sent = openai_style.with_tail(chat, injection)
            says = script.reply(Sent(system, tuple(str(message["content"]) for message in sent), ()))
            chat = [*chat, {"role": "assistant", "content": says.text}]

        return say

    return opened


def langchain(placement: Placement) -> Host:
    """An agent of `create_agent` with a checkpointer in memory."""

    def host(script: Script, weaver: Weaver | None) -> Opened:
        from langchain.agents import create_agent
        from langgraph.checkpoint.memory import InMemorySaver
        from scripted.langchain import ScriptedChatModel

        from skillweave.adapters.langchain import SkillMiddleware

        middleware = [] if weaver is None else [SkillMiddleware(weaver, placement=placement)]
        agent: Any = create_agent(
            ScriptedChatModel(script=script),
            [],
            system_prompt=BASE,
            middleware=middleware,
            checkpointer=InMemorySaver(),
        )
        return _threads(agent)

    return host


def langgraph(*steps: str) -> Host:
    """The ready graph, against one with these steps, of which only the model's does anything."""

    def host(script: Script, weaver: Weaver | None) -> Opened:
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.graph import START, MessagesState, StateGraph
        from scripted.langchain import ScriptedChatModel

        from skillweave.adapters.langgraph import build_skill_agent

        model = ScriptedChatModel(script=script)
        if weaver is not None:
            both = ("explicit", "triggers")
            return _threads(
                build_skill_agent(model, weaver, [], system_prompt=BASE, matchers=both, checkpointer=InMemorySaver())
            )

        async def ask(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke([("system", BASE), *state["messages"]])]}

        async def nothing(state: MessagesState) -> dict[str, Any]:
            return {}

        graph = StateGraph(MessagesState)
        for step, after in zip(steps, (START, *steps), strict=False):
            graph.add_node(step, ask if step == "model" else nothing)
            graph.add_edge(after, step)
        return _threads(graph.compile(checkpointer=InMemorySaver()))

    return host


def _threads(agent: Any) -> Opened:  # noqa: ANN401 - a compiled graph has many type parameters
    def opened(conversation: str) -> Say:
        config = {"configurable": {"thread_id": conversation}}

        async def say(text: str) -> None:
            await agent.ainvoke({"messages": [{"role": "user", "content": text}]}, config)

        return say

    return opened


def agent_framework(script: Script, weaver: Weaver | None) -> Opened:
    """An agent with a session in memory."""
    from agent_framework import Agent, InMemoryHistoryProvider
    from scripted.agent_framework import ScriptedChatClient

    from skillweave.adapters.agent_framework import SkillContextProvider

    providers: list[Any] = [InMemoryHistoryProvider()]
    if weaver is not None:
        providers.append(SkillContextProvider(weaver))
    agent = Agent(ScriptedChatClient(script), BASE, context_providers=providers)

    def opened(conversation: str) -> Say:
        session = agent.create_session(session_id=conversation)

        async def say(text: str) -> None:
            await agent.run(text, session=session)

        return say

    return opened


def pydantic_ai(placement: Placement) -> Host:
    """An agent whose messages are handed from run to run."""

    def host(script: Script, weaver: Weaver | None) -> Opened:
        from pydantic_ai import Agent
        from pydantic_ai.conversation import Conversation
        from scripted.pydantic_ai import scripted_model

        from skillweave.adapters.pydantic_ai import Skills

        capabilities = [] if weaver is None else [Skills(weaver, placement=placement)]
        agent = Agent(scripted_model(script), instructions=BASE, capabilities=capabilities)

        def opened(conversation: str) -> Say:
            kept = Conversation(conversation_id=conversation)

            async def say(text: str) -> None:
                nonlocal kept
                kept = (await agent.run(text, conversation=kept)).conversation

            return say

        return opened

    return host


def openai_agents(script: Script, weaver: Weaver | None) -> Opened:
    """An agent with a session in memory."""
    from agents import Agent, RunConfig, Runner, SQLiteSession
    from scripted.openai_agents import ScriptedModel

    from skillweave.adapters.openai_agents import Skills

    untraced = RunConfig(tracing_disabled=True)
    skills = None if weaver is None else Skills(weaver)
    bare = Agent(name="Office", instructions=BASE, model=ScriptedModel(script))
    agent = bare if skills is None else skills.agent(bare)

    def opened(conversation: str) -> Say:
        session = SQLiteSession(conversation)
        config = untraced if skills is None else skills.run_config(session, untraced)

        async def say(text: str) -> None:
            await Runner.run(agent, text, session=session, run_config=config)

        return say

    return opened


HOSTS: Mapping[str, Host] = {
    "plain messages": message_loop,
    "langchain, history": langchain(Placement.HISTORY),
    "langchain, call": langchain(Placement.CALL),
    "langgraph, against the model's step alone": langgraph("model"),
    "langgraph, against as many steps": langgraph("prompt", "approval", "model", "select", "inject", "ask", "output"),
    "agent_framework": agent_framework,
    "pydantic_ai, history": pydantic_ai(Placement.HISTORY),
    "pydantic_ai, call": pydantic_ai(Placement.CALL),
    "openai_agents": openai_agents,
}
