"""`skillweave export`: an Agent Plugin of any skills."""

from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

from skillweave.commands import Answer, AsJson, Loading, Page, counted, listed, option
from skillweave_mcp.plugin import Exported

EXAMPLES = {
    "export": """
skillweave export --skills skills --plugin my-plugin
skillweave export --pack coding --plugin coding-plugin
"""
}

PluginFolder: TypeAlias = Annotated[
    str, option("Plugin", "--plugin DIR", "The folder of the new plugin; the plugin is called like it.")
]


async def export(*, plugin: PluginFolder, as_json: AsJson = False, loading: Loading) -> Answer:
    """Write skills as an Agent Plugin.

    Claude Code, Codex, Cursor and others install such a folder. Files stay as they are. A SKILL.md that strict clients
    would refuse is rewritten: what the open format has no place for stands under its `metadata`.
    """
    from skillweave import Registry
    from skillweave_mcp.plugin import export_plugin

    registry = Registry(loading.sources())
    await registry.refresh()
    async with registry:
        done = await export_plugin(registry.snapshot, Path(plugin))
    return Answer(lambda: done, partial(_text, done))


def _text(done: Exported, page: Page) -> str:
    lines = [page.wrap(f"wrote {counted(len(done.skills), 'skill')} to {done.folder}")]
    if done.rewritten:
        lines.append(page.wrap(f"rewritten for strict clients: {listed(done.rewritten)}"))
    lines += [page.wrap(f"{one.message}; {one.fix}") for one in done.diagnostics]
    return "\n".join(lines)
