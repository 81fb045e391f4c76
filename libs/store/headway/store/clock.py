"""The database's clock, as tests move it."""

from datetime import timedelta

from headway.store.tx import Tx


async def set_offset(tx: Tx, offset: timedelta) -> None:
    """Make the database's now differ from the server's clock by `offset`, for every connection.  Only tests do this."""
    await tx.run(
        f"CREATE OR REPLACE FUNCTION {tx.schema}.headway_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE "
        f"AS $$ SELECT clock_timestamp() + interval '{offset.total_seconds():.6f} seconds' $$"
    )
