"""Loops, service main, settings, telemetry, health."""
