"""Hypothesis strategies for graphs that the data form carries: their ids are printable and short."""

from hypothesis import strategies as st

from skillweave.graph import Declared, EntryPick, Limits
from skillweave.graph.scoring import DEFAULT_POLICIES, scorer_named
from tests.graph import strategies as graphs

ids = graphs.ids.filter(lambda text: text.isprintable() and len(text) <= 100 and text not in ("*", "ANY"))
skills = graphs.skill_lists(ids)

counts = st.integers(min_value=1, max_value=20)
policies = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.sampled_from((0.1, 1.0, 2.5)),
        "min_score": st.none() | st.sampled_from((0.0, 0.25, -1.5)),
        "margin": st.none() | st.sampled_from((0.0, 0.5)),
    },
)
picks = st.sampled_from(list(EntryPick)) | st.builds(scorer_named, st.sampled_from(list(DEFAULT_POLICIES)), policies)


def _limits(of: st.SearchStrategy[str]) -> st.SearchStrategy[Limits]:
    some = st.none() | counts
    return st.builds(
        Limits, visits=some, visits_of=st.dictionaries(of, counts, max_size=2), all_visits=some, iterations=some
    )


def _flat(found: tuple[graphs.GraphSkill, ...]) -> st.SearchStrategy[Declared]:
    one = st.sampled_from([skill.id for skill in found])
    when = graphs.scored_conditions
    return st.builds(
        Declared,
        skills=st.just(found),
        entries=st.lists(graphs.entries(one, when), max_size=4).map(tuple),
        routes=st.lists(graphs.routes(one, when), max_size=8).map(tuple),
        pick=picks,
        never_routes=st.lists(graphs.phrases, max_size=2, unique=True).map(tuple),
        scales=graphs.scales,
        limits=_limits(one),
        suppress=st.sampled_from(({}, {"dead-end": "the skill is the last one"})),
    )


def _tree(found: tuple[graphs.GraphSkill, ...]) -> st.SearchStrategy[Declared]:
    one = st.sampled_from([skill.id for skill in found])
    return st.builds(
        Declared,
        skills=st.just(found),
        tree=graphs.trees(one, graphs.scored_conditions),
        default=st.none() | one,
        scales=graphs.scales,
        limits=_limits(one),
    )


flat = skills.flatmap(_flat)
trees = skills.flatmap(_tree)
readable = flat | trees
"""Any graph that data carries, intents and built-in scorers included."""
