"""Child processes that cannot hang a script: each has a limit, and is killed with everything that it started."""
import collections
import concurrent.futures
import json
import os
import queue
import signal
import subprocess
import sys
import threading

Outcome = collections.namedtuple("Outcome", "code out err")
TIMED_OUT, NOT_FOUND = 124, 127


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, limit, environment=None):
    """Runs `command` for at most `limit` seconds; code 124 when it took longer, 127 when it is not there."""
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                   text=True, errors="replace", start_new_session=True,
                                   env={**os.environ, **(environment or {})})
    except OSError as problem:
        return Outcome(NOT_FOUND, "", str(problem))
    try:
        out, err = process.communicate(timeout=max(limit, 0.1))
        return Outcome(process.returncode, out, err)
    except subprocess.TimeoutExpired:
        kill(process)
        return Outcome(TIMED_OUT, "", f"took longer than {limit:.0f} s")


def explanation(outcome, length=300):
    """What a failed child said last, on one line."""
    text = outcome.err.strip() or outcome.out.strip() or f"exit code {outcome.code}"
    return " ".join(text.split())[-length:]


def in_parallel(function, items, workers):
    """Yields (item, function(item)) as they end."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = {pool.submit(function, item): item for item in items}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()


class Server:
    """A child that answers each line of input by one line of JSON; the first answer comes unasked."""

    def __init__(self, command, log):
        self.answers = queue.Queue()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.PIPE, text=True,
                                        start_new_session=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.answers.put(json.loads(line))
        self.answers.put({"error": "the process ended"})

    def answer(self, limit):
        try:
            return self.answers.get(timeout=max(limit, 0.1))
        except queue.Empty:
            self.stop()
            return {"error": "no answer in time"}

    def ask(self, line, limit):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError:
            return {"error": "the process has ended"}
        return self.answer(limit)

    def stop(self):
        kill(self.process)


def reply(answer):
    """The other side of Server."""
    print(json.dumps(answer), flush=True)
    sys.stdout.flush()
