"""Measures one job on this machine in a separate process: starts workers, gives them turns, writes invocations.

Start at `job.py`. A subject is a participant here: one worker or two, or a web server and the workers that load it.

- `__main__.py`: the process and its exit statuses; `job_input.py`: what it measures; `results.py`: the file that it
  appends to.
- `job.py`, `invocation.py`, `order.py`: one job, one invocation, and the seeded orders of both.
- `participant.py`, `worker.py`, `records.py`: a subject, a live worker, and what it reports.
- `serving.py`, `web_server.py`, `nginx.py`, `httpd.py`, `haproxy.py`, `load.py`: subjects in web servers
  (docs/adr/0031); `become.py`: a server ends with its runner.
- `path.py`, `path_remedies.py`, `path_proof.py`: connections over an emulated path (docs/adr/0053), what helps where it
  is refused, and a short path that proves the emulator.
- `start.py`: fresh processes, timed step by step (docs/adr/0056).
- `age.py`: connections on one context, from a young one to an old one.
- `counting.py`, `callgrind.py`, `symbols.py`: counts instructions, or what the worker counts by stack, instead
  (docs/adr/0029).
- `host.py`, `cpus.py`, `arm.py`, `tree.py`: facts of this machine, and the CPUs that workers are pinned to.
- `probe.py`: what a kit's worker can do; `transcript.py`: shell commands that repeat an invocation.
- `doctor/`: checks whether this machine is fit to measure.
"""
