"""Execute one attempt: from a run and its handler to an outcome, whatever the handler does."""

import asyncio
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from inspect import isawaitable
from typing import Any

from pydantic import ValidationError

from headway.core.outcome import Failure, Outcome, SafeError
from headway.sdk.ambient import CURRENT
from headway.sdk.child import execute_in_child
from headway.sdk.dependencies import Call, Scope
from headway.sdk.handler import INVALID, Handler, parameter_problems
from headway.sdk.middleware import Middleware, Proceed
from headway.sdk.outcomes import failure_of, outcome_of
from headway.sdk.run import Run


async def execute(handler: Handler, run: Run, *, middleware: Sequence[Middleware] = (), threads: Executor | None = None) -> Outcome:
    """Return what the handler made of the attempt; only a cancellation of this task is raised.

    Middleware stands around the handler, the first outermost, and around its dependencies.  `threads` runs handlers that are no
    coroutines; a thread that goes on after a cancellation is `run.lingering`.
    """
    run.attempts = handler.attempts
    try:
        arguments = handler.bind(run)
    except ValidationError as error:
        return _refused(error)
    token = CURRENT.set(run)
    try:
        if handler.plain and not middleware:
            return outcome_of(await handler.function(**arguments))
        return outcome_of(await _around(middleware, run, partial(_call, handler, run, arguments, threads))())
    except CancelledError as error:
        if _is_ours():
            raise
        return failure_of(error)
    except (Exception, SystemExit) as error:
        return failure_of(error)
    finally:
        CURRENT.reset(token)


def _refused(error: ValidationError) -> Failure:
    message = "; ".join(str(problem) for problem in parameter_problems(error)[:20])
    return Failure(SafeError(INVALID, message[:3000]), permanent=True)


def _is_ours() -> bool:
    """Whether somebody asked this task to end; if nobody did, the cancellation comes from inside of the handler."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _around(middleware: Sequence[Middleware], run: Run, innermost: Proceed) -> Proceed:
    proceed = innermost
    for one in reversed(middleware):
        proceed = partial(one, run, proceed)
    return proceed


async def _call(handler: Handler, run: Run, arguments: dict[str, Any], threads: Executor | None) -> Any:
    if handler.mode == "process":
        return await execute_in_child(handler, run)
    call = partial(_in_thread, run, threads) if handler.mode == "thread" else _in_place
    if not handler.dependencies:
        return await _answer(handler, arguments, call)
    async with Scope(run, call) as scope:
        return await _answer(handler, arguments | await scope.make_all(handler.dependencies), call)


async def _answer(handler: Handler, arguments: dict[str, Any], call: Call) -> Any:
    if handler.mode == "async":
        return await handler.function(**arguments)
    answer = await call(partial(handler.function, **arguments))
    return await answer if isawaitable(answer) else answer


async def _in_place(work: Callable[[], Any]) -> Any:
    return work()


async def _in_thread(run: Run, threads: Executor | None, work: Callable[[], Any]) -> Any:
    """Call something on a thread of its own; when this task is cancelled the thread goes on, and `run.cancelled` tells it."""
    run.loop = asyncio.get_running_loop()
    future = (threads or _default_threads()).submit(copy_context().run, _guarded, work)
    try:
        return await asyncio.wrap_future(future)
    except CancelledError:
        run.cancelled = True
        if not future.done():
            run.lingering = future
        raise


@cache
def _default_threads() -> Executor:
    return ThreadPoolExecutor(thread_name_prefix="handler")


def _guarded(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except StopIteration as error:
        raise RuntimeError("the handler raised StopIteration") from error
