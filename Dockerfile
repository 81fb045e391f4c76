# One image for every role: `docker run headway worker my.jobs:app`.

FROM python:3.13.9-slim-bookworm AS build
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/opt/headway
RUN pip install --no-cache-dir uv==0.13.9
WORKDIR /src
COPY pyproject.toml uv.lock README.md ./
COPY libs libs
COPY services services
RUN --mount=type=cache,target=/root/.cache/uv uv sync --frozen --no-dev --no-editable --extra otlp

FROM python:3.13.9-slim-bookworm
RUN useradd --system --uid 10001 --user-group --home-dir /srv/headway --create-home headway
COPY --from=build /opt/headway /opt/headway
ENV PATH=/opt/headway/bin:$PATH PYTHONUNBUFFERED=1
WORKDIR /srv/headway
USER headway
STOPSIGNAL SIGTERM
ENTRYPOINT ["headway"]
CMD ["--help"]
