# SPDX-License-Identifier: Apache-2.0
class TtmemError(RuntimeError):
    """An error of this package. Its text names the object, the reason and the next step."""


TtmemError.__module__ = "ttmem"  # tracebacks show the name that users import: ttmem.TtmemError
