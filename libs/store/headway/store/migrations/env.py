"""Alembic's entry: it runs on the connection and in the schema that `migrate.py` hands over."""

from alembic import context

from headway.store.schema import metadata
from headway.store.statement import DEFAULT_SCHEMA

connection = context.config.attributes["connection"]
schema = context.config.attributes["schema"]
connection = connection.execution_options(schema_translate_map={DEFAULT_SCHEMA: schema})
context.configure(connection=connection, target_metadata=metadata, version_table_schema=schema, include_schemas=True)
with context.begin_transaction():
    context.run_migrations()
