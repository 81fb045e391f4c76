"""The RabbitMQ adapter."""
