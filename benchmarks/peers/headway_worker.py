"""One worker process of the benchmark: the `worker` service and nothing else."""

import sys
from pathlib import Path

from headway.worker.app import serve

if __name__ == "__main__":
    sys.exit(serve(f"{Path(__file__).with_name('headway_jobs.py')}:app"))
