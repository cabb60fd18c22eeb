"""The table of everything that can be said about files and folders before their text is looked at."""

from skillweave.diagnostics import Severity
from skillweave.frontmatter.codes import Code

UNREADABLE = Code("unreadable", Severity.ERROR, "the system does not let the file or folder be read")
VANISHED = Code("vanished", Severity.WARNING, "a file or folder went away between being listed and being read")
NOT_A_FILE = Code("not-a-file", Severity.ERROR, "a folder, pipe, socket or device where a file should be")
LINK_OUTSIDE = Code("link-outside", Severity.ERROR, "a link that leads out of its folder is not followed")
MISNAMED = Code("misnamed-skill-file", Severity.WARNING, "a skill file is called SKILL.md or skill.md, exactly")
NESTED = Code("nested-skill", Severity.INFO, "skills inside a skill's folder belong to it unless asked for")
TOO_DEEP = Code("too-deep", Severity.INFO, "folders more than 6 levels down are not searched")
ARTIFACT_LEFT_OUT = Code("artifact-left-out", Severity.WARNING, "an artifact that is not listed; the skill loads")
UNKNOWN_PACK_KEY = Code("unknown-pack-key", Severity.WARNING, "a key at the top of a pack that means nothing")
PACK_FILE = Code("pack-file", Severity.ERROR, "a file that a pack names, and that cannot be read as what it is to be")
BAD_CHECKPOINT = Code("bad-checkpoint", Severity.ERROR, "a checkpoint that a pack describes and that cannot be read")
NOT_A_DEFINITION = Code("not-a-definition", Severity.ERROR, "an entry of a pack, or in code, that is no skill")
BAD_EVENT = Code("bad-event", Severity.ERROR, "an event type of a pack that cannot be read")
