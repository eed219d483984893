# SPDX-License-Identifier: Apache-2.0
"""A compiled model with all that its build needs, as a folder or a package of another tool (docs/export.md).

`sources` collects the files, `formats` adds what each tool asks for, and `write` puts them on the disk.
"""

from .formats import FORMATS, export_files
from .write import write_export

__all__ = ["FORMATS", "export_files", "write_export"]
