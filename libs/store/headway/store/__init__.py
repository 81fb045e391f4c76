"""PostgreSQL: schema, transactions, one module for each noun."""
