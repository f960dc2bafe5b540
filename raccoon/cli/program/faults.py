"""What a command line says of an error: in one message, of bad input and of disks that are full or may not be used."""

from __future__ import annotations

import errno
import re

from raccoon.cli.program.keys import READ
from raccoon.contracts import RaccoonError

__all__ = ["expected", "missing", "told"]

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR)


def expected(error: BaseException) -> bool:
    """Is it bad input, or a disk at fault? Anything else is a fault of the program, which a traceback shows."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    if isinstance(error, OSError):  # where a library writes (a logger), not raccoon.files
        return error.errno in _DISK
    return isinstance(error, RaccoonError | OmegaConfBaseException | HydraException)


def told(error: BaseException, where: str = "") -> str:
    """The message; ``where`` ends it."""
    from hydra.errors import OverrideParseException
    from omegaconf.errors import OmegaConfBaseException

    if isinstance(error, OverrideParseException):
        reason = str(error.message).splitlines()[0]
        key, _, value = error.override.partition("=")
        return str(RaccoonError(f"{error.override}: {reason}; a value with = or : in it goes in two kinds of quotes: \"{key}='{value}'\""))
    if isinstance(error, OSError) and error.errno in _DISK:  # some of Hydra's are OSErrors as well
        error = _disk_fault(error)
    taken_out = re.match(r"Error resolving interpolation '\$\{debug\}_\$\{(\w+)\}'|Interpolation key '(\w+)' not found", str(error))
    key = (taken_out[1] or taken_out[2]) if taken_out else None
    if key is not None and any(key in keys for keys in READ.values()):
        return str(missing(key))
    cause = f"\n{error.__cause__}" if isinstance(error.__cause__, OmegaConfBaseException) else ""
    return str(RaccoonError(f"{error}{cause}{where}"))


def missing(key: str) -> RaccoonError:
    """A part of the config that the program needs was taken out."""
    return RaccoonError(f"{key}: not in the config, but needed; leave out ~{key}")


def _disk_fault(error: OSError) -> RaccoonError:
    """What a library (a logger), not ``raccoon.files``, could not do to a file."""
    return RaccoonError(
        f"{error.filename or 'a file of the run'}: cannot be written ({error.strerror}); free some space or name another folder"
    )
