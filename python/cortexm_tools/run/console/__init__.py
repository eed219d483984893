# SPDX-License-Identifier: Apache-2.0
"""Models on boards that run Zephyr, by their serial console: ``lines`` is the protocol, ``zephyr`` builds
the application around a model and flashes it."""
