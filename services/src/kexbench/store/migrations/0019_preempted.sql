-- Of preempted batches earlier releases stored how the time was split between client and server, the wall clock and the
-- first handshake like any other number. They hold the time of other programs, and CPU time was shared out by ticks that
-- held it, too. Which batches these were is not known: of invocations with such batches all of it goes. Those with values
-- that are not a number were stored by this release.

ALTER TABLE samples DELETE
WHERE metric IN ('cpu_ns', 'client_cpu_ns', 'server_cpu_ns', 'wall_ns', 'first_ns')
  AND (run_id, job_id, case_id, invocation, attempt) IN
    (SELECT run_id, job_id, case_id, invocation, attempt FROM invocations WHERE preempted_batches > 0)
  AND (run_id, job_id, case_id, invocation, attempt) NOT IN
    (SELECT run_id, job_id, case_id, invocation, attempt FROM samples
     WHERE metric = 'client_cpu_ns' AND arrayExists(value -> isNaN(value), `values`))
SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1;
