"""`x-skillweave`: what a spelling has no place for, in the native form (spec 1.1)."""

from collections.abc import Collection

from skillweave.formats.draft import Draft
from skillweave.formats.fields import Fields
from skillweave.formats.ids import default_name, id_of
from skillweave.formats.native import fill
from skillweave.formats.native_write import text_to_dict, to_dict
from skillweave.formats.parts import stated
from skillweave.skill import Json, Skill

EXTENSION = "x-skillweave"
"""The key under which it stands."""

_IDENTITY = ("id", "spelling", "name", "description", "text")


def extension_id(fields: Fields) -> str | None:
    """The id under `x-skillweave`, where the name alone does not make it."""
    extension = fields.mapping(EXTENSION) if fields.holds_mapping(EXTENSION) else None
    return None if extension is None else extension.text("id")


def fill_extension(draft: Draft, fields: Fields) -> None:
    """Adds what stands under `x-skillweave`; what means nothing there is reported and kept in `extra`.

    `json` holds metadata and extra whose numbers, truth values and nulls are meant, which YAML text has no types for.
    """
    extension = fields.mapping(EXTENSION)
    if extension is None:
        return
    extension.take("id")
    typed = extension.mapping("json")
    if typed is not None:
        draft.metadata.update(typed.typed_data("metadata") or {})
        draft.extra.update(typed.typed_data("extra") or {})
        typed.report_unknown()
    draft.description = stated(extension.text("description"), draft.description)
    fill(draft, extension)
    extension.report_unknown()
    unknown = extension.rest()
    if unknown:
        draft.extra[EXTENSION] = unknown


def leftovers(skill: Skill, *, placed: Collection[str], placed_text: Collection[str]) -> dict[str, Json]:
    """The skill in native form without the keys that the spelling has a place for.

    A spelling whose name is the id as its author wrote it needs neither the id nor the spelling here.
    """
    rest: dict[str, Json] = {}
    if id_of(skill.spelling or skill.id) != skill.id:
        rest["id"] = skill.id
    if skill.name != default_name(skill.id, skill.spelling):
        rest["name"] = skill.name
    rest.update((key, value) for key, value in to_dict(skill).items() if key not in _IDENTITY)
    text = {key: value for key, value in text_to_dict(skill.text).items() if key not in placed_text}
    if text:
        rest["text"] = text
    return {key: value for key, value in rest.items() if key not in placed}
