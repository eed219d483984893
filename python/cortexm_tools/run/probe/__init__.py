# SPDX-License-Identifier: Apache-2.0
"""Images on silicon: loaded, fed, read and measured by a debugger, without anything else on the chip.

``servers`` finds or starts a GDB server, ``rsp`` talks to it, ``memories`` makes the linker script,
``session`` loads an image and answers what boards/common/mailbox.c asks, ``command`` is what
``cortexm run`` and ``bench`` call.
"""
