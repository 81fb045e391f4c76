"""RabbitMQ and memory behind one protocol."""
