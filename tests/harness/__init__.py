"""The services that the tests run against: found or started at the first use, shared by all workers, gone at the end."""
