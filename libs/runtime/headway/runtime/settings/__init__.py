"""The settings of every process: what can be set, where it is read from, what is wrong with it."""

from headway.runtime.settings.groups import SecretsGroup
from headway.runtime.settings.jobs import JobSettings, read_jobs
from headway.runtime.settings.load import load
from headway.runtime.settings.processes import (
    ApiSettings,
    ClientSettings,
    Connections,
    MaintenanceSettings,
    ProcessSettings,
    SchedulerSettings,
    Settings,
    UpSettings,
    WorkerSettings,
    WorkflowEngineSettings,
)
from headway.runtime.settings.strangers import strangers
from headway.runtime.settings.urls import Secret, Url

__all__ = [
    "ApiSettings",
    "ClientSettings",
    "Connections",
    "JobSettings",
    "MaintenanceSettings",
    "ProcessSettings",
    "SchedulerSettings",
    "Secret",
    "SecretsGroup",
    "Settings",
    "UpSettings",
    "Url",
    "WorkerSettings",
    "WorkflowEngineSettings",
    "load",
    "read_jobs",
    "strangers",
]
