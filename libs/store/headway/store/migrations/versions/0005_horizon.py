"""From when on the ledger is kept."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0005"
down_revision: Final = "0004"


def upgrade() -> None:
    """Apply this step."""
    op.create_table(
        "horizon",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kept_from", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("horizon_pkey")),
        schema="headway",
    )
