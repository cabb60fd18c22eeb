"""Evaluations that ask no model: trigger tests, ranking, tokens, and scripts of a skill graph."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillweave import commands
from skillweave.commands import MISTAKE, Answer, Mistake
from skillweave_eval.commands.shared import (
    EVALUATION,
    Html,
    Resampled,
    changed,
    configuration_of,
    embedder_id,
    hindered_notes,
    label_notes,
    progress,
    share,
    write,
    write_page,
)

if TYPE_CHECKING:
    from skillweave import Source, Weaver
    from skillweave.graph import SkillGraph
    from skillweave_eval.ranking import Asked
    from skillweave_eval.reading import Labelled, TestFile
    from skillweave_eval.triggers import Demands


_Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Labelled queries: a YAML file with `tests:`, JSON lines with `message` and `gold`, or a folder with "
        "dev.jsonl or test.jsonl; with a corpus.jsonl.gz beside them its skills are used.",
    ),
]


_Split = Annotated[
    str | None, commands.option(EVALUATION, "--split NAME", "Which file of a folder, such as test. Default: dev")
]


WITHOUT_PHRASES = "without-phrases"
"""Compare with the same skills without what people would type who need them."""
_Against = Annotated[
    str | None,
    commands.option(
        EVALUATION,
        "--against OPTIONS",
        "Compare with a second configuration: the options that differ, such as 'matcher=triggers,lexical "
        f"max-skills=1'; or {WITHOUT_PHRASES}.",
    ),
]


_Junit = Annotated[str | None, commands.option(commands.OUTPUT, "--junit FILE", "Write the tests as JUnit XML too.")]


@dataclass(frozen=True, slots=True)
class Demanded:
    """What the tests must show."""

    require: Annotated[
        Literal["given", "offered"],
        commands.option(EVALUATION, "--require", "Whether an expected skill must be given, or may be offered."),
    ] = "offered"
    min_precision: Annotated[
        float | None,
        commands.option(EVALUATION, "--min-precision X", "Of what is given, so much must be right.", parser=share),
    ] = None
    min_recall: Annotated[
        float | None,
        commands.option(EVALUATION, "--min-recall X", "Of what is expected, so much must be given.", parser=share),
    ] = None
    min_reach: Annotated[
        float | None,
        commands.option(
            EVALUATION, "--min-reach X", "Of what is expected, so much must be given or offered.", parser=share
        ),
    ] = None
    min_f1: Annotated[
        float | None, commands.option(EVALUATION, "--min-f1 X", "What F1 must reach over all tests.", parser=share)
    ] = None

    def demands(self) -> "Demands":
        """The same for the evaluation."""
        from skillweave_eval.answers import Level
        from skillweave_eval.triggers import Demands

        named = {"precision": self.min_precision, "recall": self.min_recall, "reach": self.min_reach, "f1": self.min_f1}
        return Demands(Level(self.require), {name: least for name, least in named.items() if least is not None})


async def triggers(
    tests: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TESTS]...",
            help="Files of trigger tests, or folders with *.triggers.yaml in them. Default: those among the skills.",
            show_default=False,
        ),
    ] = None,
    *,
    loading: commands.LoadingWithGraph,
    demanded: Demanded,
    selecting: commands.Selecting,
    junit: _Junit = None,
    html: Html = None,
) -> Answer:
    """Test whether queries select their skills.

    This is what `skillweave eval` does without a further word.

    Prints the tests that fail, precision, recall and F1 of each skill, the skills that compete, and what is wrong with
    triggers and descriptions: those that do not select their own skill, and those that are too alike. The exit code is
    1 when a test fails, or with --min-... when that is not reached, and when a declared trigger is broken.
    """
    from skillweave import MemoryStore
    from skillweave.commands import graph_notes, indexed, loading_notes
    from skillweave_eval.cases import CaseSet
    from skillweave_eval.commands.output import triggers_text
    from skillweave_eval.reading import ALL_ROWS
    from skillweave_eval.triggers import run_tests

    files = _test_files(tests, loading)
    loading = _library(loading, files) if tests else loading
    graph, notes = await loading.own_graph()
    weaver = selecting.weaver(loading.sources(), MemoryStore(), graph)
    await indexed(weaver)
    cases = CaseSet(_named([file.path for file in files]), ALL_ROWS, tuple(one for file in files for one in file.cases))
    with progress("Testing") as tell:
        report = await run_tests(weaver, cases, configuration_of(weaver, selecting), demanded.demands(), tell)
    if junit is not None:
        from skillweave_eval.junit import junit_xml

        write(junit, junit_xml(report))
    write_page(html, report)
    snapshot = await weaver.skills.snapshot()
    none = () if cases.cases else ("there are no tests, so that only triggers and descriptions were looked at",)
    notes = (
        *notes,
        *loading_notes(snapshot),
        *graph_notes(snapshot, graph),
        *none,
        *label_notes(report.unknown_labels),
    )
    return Answer(lambda: report, partial(triggers_text, report), code=0 if report.ok else MISTAKE, notes=notes)


def _named(paths: Sequence[Path]) -> str:
    if not paths:
        return "no tests"
    return paths[0].name if len(paths) == 1 else f"{len(paths)} files of tests"


def _test_files(tests: Sequence[str] | None, loading: commands.LoadingWithGraph) -> "Sequence[TestFile]":
    """The files that are named, or those that lie among the skills."""
    from skillweave.commands import DEFAULT_FOLDER
    from skillweave_eval.reading import SUFFIXES, find_tests, read_tests

    named = [Path(one) for one in tests or loading.skills or (DEFAULT_FOLDER,)]
    found: list[Path] = []
    for path in named:
        inside = find_tests(path) if path.is_dir() else ()
        if tests and path.is_dir() and not inside:
            raise Mistake(f"{path} holds no trigger tests; their files end in {' or '.join(SUFFIXES)}")
        found += inside if path.is_dir() or not tests else [path]
    return [read_tests(path) for path in dict.fromkeys(found)]


def _library(loading: commands.LoadingWithGraph, files: "Sequence[TestFile]") -> commands.LoadingWithGraph:
    """The options with the skills and the graph that the files are about, where none are given."""
    if not loading.skills and not loading.pack:
        libraries = {library: file for file in files if (library := file.library())}
        if len(libraries) > 1:
            first, second, *_ = libraries.values()
            raise Mistake(
                f"{first.path} and {second.path} are about different skills; test them apart, or add --skills"
            )
        for library in libraries:
            loading = replace(loading, skills=[str(path) for path in library])
    graphs = {str(graph) for file in files if (graph := file.graph_file()) is not None}
    if loading.graph is None and len(graphs) == 1:
        return replace(loading, graph=graphs.pop())
    return loading


async def ranking(
    data: _Data,
    *,
    loading: commands.LoadingWithGraph,
    split: _Split = None,
    against: _Against = None,
    resampled: Resampled,
    selecting: commands.Selecting,
    html: Html = None,
) -> Answer:
    """Say how well labelled queries find their skills.

    Prints how high the right skill stands, how often it is given or offered, how often a wrong one is, what happens
    where no skill is right, and the tokens of a turn; each over all queries, as a mean over sources, and by kind and
    language.
    """
    from skillweave.commands import graph_notes, loading_notes
    from skillweave_eval.commands.output import ranking_text
    from skillweave_eval.metrics import Resampling
    from skillweave_eval.ranking import report_on
    from skillweave_eval.reading import read_labelled

    labelled = read_labelled(Path(data), split)
    sources = _sources(labelled, loading)
    graph, notes = await loading.own_graph()
    asked = [await _asked(selecting, sources, graph, labelled, 0)]
    if against == WITHOUT_PHRASES:
        from skillweave_eval.phrases.checking import Unphrased

        weaver, without = await _asked(selecting, [Unphrased(one) for one in sources], graph, labelled, 1)
        options = {**without.configuration.options, "phrases": "left out"}
        asked.append((weaver, replace(without, configuration=replace(without.configuration, options=options))))
    elif against is not None:
        asked.append(await _asked(changed(selecting, against), sources, graph, labelled, 1))
    weaver = asked[0][0]
    snapshot = await weaver.skills.snapshot()
    resampling = Resampling(resampled.seed, resampled.resamples)
    known = (skill.id for skill in snapshot.active())
    second = asked[1][1] if len(asked) > 1 else None
    report = report_on(labelled.cases, known, asked[0][1], second, resampling)
    write_page(html, report)
    return Answer(
        lambda: report,
        partial(ranking_text, report),
        notes=(
            *notes,
            *loading_notes(snapshot),
            *graph_notes(snapshot, graph),
            *label_notes(report.unknown_labels),
            *(note for _, one in asked for note in hindered_notes(one.answers)),
        ),
    )


async def fit(
    data: _Data,
    *,
    loading: commands.LoadingWithGraph,
    split: _Split = None,
    precision: Annotated[
        float, commands.option(EVALUATION, "--precision X", "Of what is given, so much must be right.", parser=share)
    ] = 0.95,
    silent: Annotated[
        float,
        commands.option(
            EVALUATION, "--silent X", "For so many queries without a right skill nothing may be offered.", parser=share
        ),
    ] = 0.9,
    resampled: Resampled,
    selecting: commands.Selecting,
    output: Annotated[
        str | None, commands.option(commands.OUTPUT, "--output FILE", "Write what was fitted to this file.")
    ] = None,
    html: Html = None,
) -> Answer:
    """Fit probabilities and thresholds to your own labelled queries.

    Prints from which probability on skills are given and offered, and what that changes on queries that were held out.
    The file of --output is what --fitted reads, and `Settings(fitted=...)`; it holds for the embedder that it was
    fitted with.
    """
    from skillweave.commands import graph_notes, loading_notes
    from skillweave_eval.commands.output import fit_text
    from skillweave_eval.fit import Aims, FittedFile, fit_answers
    from skillweave_eval.metrics import Resampling
    from skillweave_eval.ranking import Subject
    from skillweave_eval.reading import read_labelled

    if selecting.fitted is not None:
        raise Mistake("what is fitted already would be fitted once more; leave --fitted out")
    labelled = read_labelled(Path(data), split)
    graph, notes = await loading.own_graph()
    weaver, asked = await _asked(selecting, _sources(labelled, loading), graph, labelled, 0)
    for note in hindered_notes(asked.answers):
        raise Mistake(f"{note}; nothing is fitted to that")
    snapshot = await weaver.skills.snapshot()
    subject = Subject.of(labelled.cases, len(snapshot.active()), Resampling(resampled.seed, resampled.resamples))
    aims = Aims(precision, silent, weaver.settings.offer_most)
    report = fit_answers(asked.answers, subject, asked.configuration, embedder=embedder_id(selecting), aims=aims)
    if output is not None:
        write(output, FittedFile.of(report).text())
        report = replace(report, output=output)
    write_page(html, report)
    notes = (*notes, *loading_notes(snapshot), *graph_notes(snapshot, graph))
    return Answer(lambda: report, partial(fit_text, report), notes=notes)


def _sources(labelled: "Labelled", loading: commands.LoadingWithGraph) -> "Sequence[Source]":
    if labelled.skills is None:
        return loading.sources()
    if loading.skills or loading.pack:
        raise Mistake("this benchmark brings its skills along; leave --skills and --pack out")
    from skillweave.sources import InCode

    return (InCode(*labelled.skills),)


async def _asked(
    selecting: commands.Selecting,
    sources: "Sequence[Source]",
    graph: "SkillGraph | None",
    labelled: "Labelled",
    number: int,
) -> "tuple[Weaver, Asked]":
    from skillweave import MemoryStore
    from skillweave.commands import indexed
    from skillweave_eval.answers import ask_all
    from skillweave_eval.metrics import DEPTHS
    from skillweave_eval.ranking import Asked

    weaver = selecting.weaver(sources, MemoryStore(), graph)
    weaver = weaver.variant(settings=replace(weaver.settings, ranked=max(DEPTHS)))
    await indexed(weaver)
    with progress("Asking" if number == 0 else "Asking again") as tell:
        answers = await ask_all(weaver, labelled.cases.cases, tell)
    return weaver, Asked(configuration_of(weaver, selecting), answers)


async def tokens(
    conversations: Annotated[
        str,
        typer.Argument(
            metavar="CONVERSATIONS",
            help="JSON lines, or a JSON list: each conversation a list of {role, content} or of what the user says, or "
            "an object with `messages`.",
        ),
    ],
    *,
    loading: commands.LoadingWithGraph,
    selecting: commands.Selecting,
    html: Html = None,
) -> Answer:
    """Count what the skills of whole conversations cost.

    Compares what every call of the model is sent: everything loaded, a catalog or names from which the model reads,
    and what skillweave gives; how much of it a provider has cached from the call before, and the tokens of each tier.
    """
    from skillweave import MemoryStore
    from skillweave.commands import graph_notes, indexed, loading_notes
    from skillweave_eval.commands.output import tokens_text
    from skillweave_eval.tokens import count_tokens, read_talks

    path = Path(conversations)
    talks = read_talks(path)
    own, notes = await loading.own_graph()
    weaver = selecting.weaver(loading.sources(), MemoryStore(), own)
    await indexed(weaver)
    with progress("Playing") as tell:
        report = await count_tokens(weaver, talks, path.name, configuration_of(weaver, selecting), tell)
    write_page(html, report)
    snapshot = await weaver.skills.snapshot()
    notes = (*notes, *loading_notes(snapshot), *graph_notes(snapshot, own))
    return Answer(lambda: report, partial(tokens_text, report), notes=notes)


async def graph_(
    file: commands.File,
    scripts: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPTS...", help="Scripts as `skillweave graph simulate` plays them, or folders."),
    ],
    *,
    min_coverage: Annotated[
        float | None,
        commands.option(EVALUATION, "--min-coverage X", "The share of edges that the scripts must take.", parser=share),
    ] = None,
    html: Html = None,
) -> Answer:
    """Play scripts through a graph, find edges that none takes.

    The exit code is 1 when a step does not lead where its script expects, or when too few edges are taken.
    """
    from skillweave.commands import open_graph, script_steps
    from skillweave_eval.commands.output import graph_text
    from skillweave_eval.graph import play_scripts

    opened = await open_graph(file)
    notes = list(opened.notes_with_errors())
    steps = {}
    for name in _scripts(scripts):
        steps[name], said = script_steps(name)
        notes += said
    data = next(iter(steps)) if len(steps) == 1 else f"{len(steps)} scripts"
    report = await play_scripts(opened.graph, steps, data, wanted=min_coverage)
    write_page(html, report)
    code = 0 if report.ok else MISTAKE
    return Answer(lambda: report, partial(graph_text, report), code=code, notes=tuple(notes))


def _scripts(named: Sequence[str]) -> Iterator[str]:
    """The files, and those in folders whose name says what they are."""
    for name in named:
        path = Path(name)
        if not path.is_dir():
            yield name
            continue
        inside = sorted(str(one) for one in path.rglob("*.script.*") if one.suffix in (".yaml", ".yml", ".json"))
        if not inside:
            raise Mistake(f"{path} holds no scripts; their names end in .script.yaml")
        yield from inside
