"""A PostgreSQL server that `headway up` runs by itself, for machines where nobody has installed one."""
