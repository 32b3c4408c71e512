# SPDX-License-Identifier: Apache-2.0
class TtmemError(RuntimeError):
    """One sentence: what is not there, why, and what to do."""


TtmemError.__module__ = "ttmem"  # where users import it from, and what a traceback shows
