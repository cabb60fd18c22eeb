"""One way for every public value into JSON data and back; the library behind it is loaded at the first use."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, make_dataclass
from enum import Enum, IntEnum, StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from skillweave.errors import InvalidData, SkillweaveError
from skillweave.frozen import FrozenDict, as_json, freeze

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")
Hint: TypeAlias = Any
"""A type as an annotation has it."""
Read: TypeAlias = Callable[[Any, Hint], Any]
"""From JSON data and the wanted type to the value."""
Write: TypeAlias = Callable[[Any], Any]

_LISTS = (tuple, list, frozenset, set, Sequence, Collection)
_SCALARS: Mapping[type, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    NoneType: (NoneType, "null"),
}


class Portable:
    """A frozen dataclass that travels: to JSON data and back, by pickle, by copy.

    `json_keys` are the keys of the JSON form in their order, where these are not simply the fields: `name` of a field
    or of a property, `name as key` where the key is another word, a `?` at the end where the key is left out while the
    field has its default or the property is None, `...` for all fields that are not named. What comes from a property
    is written and, when it is read, ignored. Keys that are missing take their defaults, unknown ones are ignored; with
    `json_exact` every key that has no `?` must be there, and no unknown one.
    """

    __slots__ = ()
    json_keys: ClassVar[tuple[str, ...]] = ("...",)
    json_exact: ClassVar[bool] = False

    def to_dict(self) -> dict[str, Any]:
        """The value as JSON data, which `from_dict` of the class reads back."""
        return write(self)

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """The value that `to_dict` wrote; raises InvalidData naming the place, what is there and what belongs there."""
        return read(data, cls)

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data by field, where the JSON form does not have it so: a class that writes itself says here how."""
        return data


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a JSON form: the attribute that it shows, its type, and the field, None where it is derived."""

    name: str
    attribute: str
    hint: Hint
    field: Field[Any] | None
    optional: bool = False


class _Unfit(ValueError):
    """Data of another kind than is wanted."""


def write(value: Portable) -> dict[str, Any]:
    """The JSON data of a value; raises InvalidData where it holds something that JSON does not have."""
    cls: Hint = type(value)
    try:
        data: dict[str, Any] = _writer(cls)(value)
    except ValueError as error:
        raise InvalidData(f"{_named(cls)} cannot be written as JSON: it holds {error}") from None
    return data


def read(data: object, cls: type[T]) -> T:
    """The value in JSON data; raises InvalidData for anything else, and what the class itself raises."""
    try:
        return _converter(detailed=False).structure(data, cls)
    except SkillweaveError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        place, reason = _explained(data, cls) or ("", str(error))
        raise InvalidData(f"{_named(cls)} cannot be read: {reason}", place=place) from None


@cache
def keys_of(cls: Hint) -> tuple[Key, ...]:
    """The keys of the JSON form of a class in their order."""
    hints = get_type_hints(cls)
    parts = {part.name: part for part in fields(cls) if part.init}
    declared: tuple[str, ...] = getattr(cls, "json_keys", ("...",))
    spelled = [entry.removesuffix("?").partition(" as ") for entry in declared]
    named = {attribute for attribute, _, _ in spelled}
    keys: list[Key] = []
    for (attribute, _, name), entry in zip(spelled, declared, strict=True):
        if attribute == "...":
            keys += (Key(part.rstrip("_"), part, hints[part], parts[part]) for part in parts if part not in named)
            continue
        hint = hints[attribute] if attribute in parts else _returned(cls, attribute)
        keys.append(Key(name or attribute.rstrip("_"), attribute, hint, parts.get(attribute), entry.endswith("?")))
    return tuple(keys)


def _origin(hint: Hint) -> Hint:
    return get_origin(hint)


def union_arms(hint: Hint) -> tuple[Any, ...]:
    """The types of a union, none for another type."""
    return get_args(hint) if _origin(hint) in (Union, UnionType) else ()


def is_free(hint: Hint) -> bool:
    """Whether any JSON data may stand there."""
    return hint in (object, Any) or set(_SCALARS) <= set(union_arms(hint))


def writes_itself(cls: object) -> bool:
    """Whether the class has a JSON form of its own making."""
    return isinstance(cls, type) and getattr(cls, "to_dict", Portable.to_dict) is not Portable.to_dict


def _returned(cls: type, attribute: str) -> Hint:
    getter = getattr(cls, attribute)
    return get_type_hints(getter.fget)["return"] if isinstance(getter, property) else type(getter)


def _named(cls: type) -> str:
    return f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}"


@cache
def _converter(*, detailed: bool) -> "Converter":
    """The fast one, or the slow one that says where data does not fit."""
    from cattrs import Converter

    converter = Converter(detailed_validation=detailed)
    # The library looks for these by class first, subclasses included, and only then asks the factories below.
    for kind in _SCALARS:
        converter.register_structure_hook(kind, _scalar_reader(kind))
    converter.register_structure_hook(StrEnum, _read_word)
    converter.register_structure_hook(IntEnum, _read_word)
    # Otherwise a member would be written as the text that it is too: as itself, which not every JSON store takes.
    converter.register_unstructure_hook(StrEnum, str.__str__)
    # Of two that take a type the one that is registered last is asked.
    for takes, reader, writer in (
        (_is_value, _value_reader, _value_writer),
        (_is_row, _row_reader, _row_writer),
        (_is_list, _list_reader, _list_writer),
        (_is_mapping, _mapping_reader, _mapping_writer),
        (_is_port, _port_reader, _port_writer),
        (lambda hint: bool(union_arms(hint)), _union_reader, _union_writer),
        (is_free, _free_reader, _free_writer),
    ):
        converter.register_structure_hook_factory(takes, partial(reader, converter))
        converter.register_unstructure_hook_factory(takes, partial(writer, converter))
    converter.register_unstructure_hook_factory(_is_enum, _enum_writer)
    return converter


@cache
def _writer(cls: Hint) -> Write:
    return _value_fields_writer(_converter(detailed=False), cls)


def _explained(data: object, cls: type) -> tuple[str, str] | None:
    """Where the data does not fit, and why; None where the slow reader finds nothing."""
    from cattrs import BaseValidationError

    try:
        _converter(detailed=True).structure(data, cls)
    except (BaseValidationError, ValueError, TypeError, KeyError, AttributeError) as error:
        place, cause = _innermost(error, "")
        shown = f"`{place}`" if place else "it"
        if isinstance(cause, KeyError):
            return place, f"{shown} is missing"
        return place, f"{shown} {cause}" if isinstance(cause, _Unfit) else f"{shown}: {cause}"
    return None


def _innermost(error: BaseException, place: str) -> tuple[str, BaseException]:
    from cattrs import AttributeValidationNote, BaseValidationError, ClassValidationError, IterableValidationNote

    if not isinstance(error, BaseValidationError):
        return place, error
    first = error.exceptions[0]
    for note in getattr(first, "__notes__", ()):
        if isinstance(note, AttributeValidationNote) and isinstance(error, ClassValidationError):
            names = {key.attribute: key.name for key in keys_of(error.cl)}
            name = names.get(note.name, note.name)
            return _innermost(first, f"{place}.{name}" if place else name)
        if isinstance(note, IterableValidationNote):
            return _innermost(first, f"{place}[{note.index!r}]")
    return _innermost(first, place)


def _misfit(data: object, wanted: str) -> _Unfit:
    return _Unfit(f"is {_shown(data)}, and {wanted} belongs there")


def _shown(data: object) -> str:
    if data is None:
        return "null"
    if isinstance(data, Mapping):
        return "an object"
    if isinstance(data, list | tuple):
        return "a list"
    return f"{data!r:.60}"


def _is_value(hint: Hint) -> bool:
    return isinstance(hint, type) and issubclass(hint, Portable)


def _value_reader(converter: "Converter", cls: Hint) -> Read:
    from cattrs.gen import make_dict_structure_fn, override

    keys = keys_of(cls)
    renamed: Any = {key.attribute: override(rename=key.name) for key in keys if key.field is not None}
    build = make_dict_structure_fn(cls, converter, **renamed)
    own = cls.json_fields if any("json_fields" in vars(base) for base in cls.__mro__ if base is not Portable) else None
    exact = cls.json_exact
    needed = {key.name for key in keys if not key.optional}
    known = {key.name for key in keys}
    spelled = ", ".join(f"{key.name}{'?' * key.optional}" for key in keys)

    if own is None and not exact and not converter.detailed_validation and _has_required(cls):
        return build  # which fails by itself on what is not an object; the slow reader then says why

    def read_value(data: object, _: Hint) -> object:
        if data.__class__ is not dict and not isinstance(data, Mapping):
            raise _misfit(data, f"an object with {', '.join(key.name for key in keys)}")
        if exact and not needed <= data.keys() <= known:
            raise _Unfit(f"has the keys {', '.join(map(str, data))}, and exactly {spelled} belong there")
        return build(data if own is None else own(data), cls)

    return read_value


def _has_required(cls: Hint) -> bool:
    return any(part.default is MISSING and part.default_factory is MISSING for part in fields(cls))


def _value_writer(converter: "Converter", cls: Hint) -> Write:
    if writes_itself(cls):
        own: Write = cls.to_dict
        return own
    return _value_fields_writer(converter, cls)


def _value_fields_writer(converter: "Converter", cls: Hint) -> Write:
    """What reads the attributes of a value into a dict; the library makes it from a class that lists them."""
    from cattrs.gen import make_dict_unstructure_fn, override

    keys = keys_of(cls)
    listed = [(key.attribute, key.hint, _default_of(key.field) if key.optional else field()) for key in keys]
    written = make_dataclass(cls.__name__, listed, kw_only=True)
    written.__module__ = cls.__module__
    overrides: Any = {key.attribute: override(rename=key.name, omit_if_default=key.optional) for key in keys}
    made: Write = make_dict_unstructure_fn(written, converter, **overrides)
    return made


def _default_of(part: Field[Any] | None) -> Hint:
    if part is None:
        return field(default=None)
    return field(default=part.default) if part.default is not MISSING else field(default_factory=part.default_factory)


def _is_row(hint: Hint) -> bool:
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def _row_reader(converter: "Converter", cls: Hint) -> Read:
    from cattrs.cols import namedtuple_dict_structure_factory

    build = namedtuple_dict_structure_factory(cls, converter)

    def read_row(data: object, _: Hint) -> object:
        if not isinstance(data, Mapping):
            raise _misfit(data, f"an object with {', '.join(cls._fields)}")
        return build(data, cls)

    return read_row


def _row_writer(_: "Converter", cls: Hint) -> Write:
    return lambda row: dict(zip(cls._fields, row, strict=True))


def _is_enum(hint: Hint) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)


@cache
def words_of(cls: Hint) -> Mapping[Any, Enum]:
    """The members of a choice by the words that stand for them in JSON."""
    return {one.name.lower() if isinstance(one, IntEnum) else one.value: one for one in cls}


def _read_word(data: object, cls: type[Enum]) -> object:
    try:
        return words_of(cls)[data]
    except (KeyError, TypeError):
        raise _misfit(data, f"one of {', '.join(words_of(cls))}") from None


def _enum_writer(cls: type[Enum]) -> Write:
    # `str.__str__` also takes a plain text that somebody gave in place of the member.
    if not issubclass(cls, IntEnum):
        return str.__str__
    labels = {member: word for word, member in words_of(cls).items()}
    return labels.__getitem__


def _is_list(hint: Hint) -> bool:
    return _origin(hint) in _LISTS


def _list_reader(converter: "Converter", hint: Hint) -> Read:
    from cattrs.cols import homogenous_tuple_structure_factory

    origin, parts = _origin(hint), get_args(hint)
    if origin is tuple and parts[-1] is not ...:
        return _pair_reader(converter, parts)
    row: Hint = tuple.__class_getitem__((parts[0], ...))
    items = homogenous_tuple_structure_factory(row, converter)
    make = origin if origin in (frozenset, set, list) else None

    def read_list(data: object, _: Hint) -> object:
        if not isinstance(data, list | tuple):
            raise _misfit(data, "a list")
        found = items(data, hint)
        return found if make is None else make(found)

    return read_list


def _pair_reader(converter: "Converter", parts: tuple[Any, ...]) -> Read:
    hooks = [converter.get_structure_hook(part) for part in parts]

    def read_pair(data: object, _: Hint) -> object:
        if not isinstance(data, list | tuple) or len(data) != len(parts):
            raise _misfit(data, f"a list of {len(parts)}")
        return tuple(hook(item, part) for hook, item, part in zip(hooks, data, parts, strict=True))

    return read_pair


def _list_writer(converter: "Converter", hint: Hint) -> Write:
    origin, parts = _origin(hint), get_args(hint)
    if origin is tuple and parts[-1] is not ...:
        hooks = [converter.get_unstructure_hook(part) for part in parts]
        return lambda items: [hook(item) for hook, item in zip(hooks, items, strict=True)]
    hook = converter.get_unstructure_hook(parts[0])
    if origin in (frozenset, set):
        return lambda items: sorted(map(hook, items))
    return list if _is_identity(hook) else lambda items: [hook(item) for item in items]


def _is_mapping(hint: Hint) -> bool:
    origin = _origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _mapping_reader(converter: "Converter", hint: Hint) -> Read:
    from cattrs.cols import mapping_structure_factory

    build = mapping_structure_factory(hint, converter, structure_to=FrozenDict)

    def read_mapping(data: object, _: Hint) -> object:
        if not isinstance(data, Mapping):
            raise _misfit(data, "an object")
        return build(data, hint)

    return read_mapping


def _mapping_writer(converter: "Converter", hint: Hint) -> Write:
    _, value = get_args(hint)
    hook = converter.get_unstructure_hook(value)
    if hook is as_json:
        return as_json
    return dict if _is_identity(hook) else lambda items: {key: hook(item) for key, item in items.items()}


def _is_port(hint: Hint) -> bool:
    return bool(getattr(hint, "_is_protocol", False))


def _port_reader(_: "Converter", __: Hint) -> Read:
    # Which class it is the owner knows: its `json_fields` has made the value already.
    return lambda data, _: data


def _port_writer(_: "Converter", __: Hint) -> Write:
    return lambda value: value.to_dict()


def _scalar_reader(kind: type) -> Read:
    types, wanted = _SCALARS[kind]

    def read_scalar(data: object, _: Hint) -> object:
        # The usual case first; a truth value is a whole number to `isinstance`, and to nobody else.
        if data.__class__ is kind or (isinstance(data, types) and data.__class__ is not bool):
            return data
        raise _misfit(data, wanted)

    return read_scalar


def _is_identity(hook: Write) -> bool:
    from cattrs.fns import identity

    return hook is identity


def _union_reader(converter: "Converter", hint: Hint) -> Read:
    arms = [(_read_kinds(arm), converter.get_structure_hook(arm), arm) for arm in union_arms(hint)]
    some = [(hook, arm) for _, hook, arm in arms if arm is not NoneType]
    if len(some) == 1:
        only, of = some[0]
        if of in _SCALARS:
            return lambda data, _: data if data is None or data.__class__ is of else only(data, of)
        return lambda data, _: None if data is None else only(data, of)

    def read_union(data: object, _: Hint) -> object:
        for kinds, hook, arm in arms:
            if isinstance(data, kinds):
                return hook(data, arm)
        raise _misfit(data, " or ".join(_wanted(arm) for _, _, arm in arms))

    return read_union


def _union_writer(converter: "Converter", hint: Hint) -> Write:
    arms = [(_written_kinds(arm), converter.get_unstructure_hook(arm)) for arm in union_arms(hint)]
    if all(_is_identity(hook) for _, hook in arms):
        return arms[0][1]
    some = [hook for kinds, hook in arms if kinds is not NoneType]
    if len(some) == 1:
        only = some[0]
        return lambda value: None if value is None else only(value)

    def write_union(value: object) -> object:
        for kinds, hook in arms:
            if isinstance(value, kinds):
                return hook(value)
        raise ValueError(f"a value of type {type(value).__name__}, which does not belong there")

    return write_union


def _read_kinds(arm: Hint) -> type | tuple[type, ...]:
    if arm in _SCALARS:
        return _SCALARS[arm][0]
    if _is_enum(arm):
        return str
    return (list, tuple) if _is_list(arm) else Mapping


def _written_kinds(arm: Hint) -> type | tuple[type, ...]:
    if _is_list(arm):
        return (list, tuple, frozenset, set)
    if _is_enum(arm):
        return str if issubclass(arm, str) else arm
    return arm if _is_value(arm) or _is_row(arm) else _read_kinds(arm)


def _wanted(arm: Hint) -> str:
    if arm in _SCALARS:
        return _SCALARS[arm][1]
    if _is_enum(arm):
        return f"one of {', '.join(words_of(arm))}"
    return "a list" if _is_list(arm) else "an object"


def _free_reader(_: "Converter", hint: Hint) -> Read:
    # `object` stands for what a host gave, which comes back as it was; our own JSON data is frozen.
    return lambda data, _: as_json(data) if hint in (object, Any) else freeze(as_json(data))


def _free_writer(_: "Converter", __: Hint) -> Write:
    return as_json
