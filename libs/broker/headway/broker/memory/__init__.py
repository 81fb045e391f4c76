"""The memory adapter: one process, volatile on purpose."""
