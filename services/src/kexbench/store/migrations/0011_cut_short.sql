-- Invocations whose workers were ended from outside were kept as crashes. They say nothing about a library: they go,
-- and a run that is resumed measures them again. Replicated tables refuse a mutation that reads another table unless
-- told that it may; every replica has the same rows here.

ALTER TABLE invocations DELETE
WHERE (run_id, job_id, case_id, invocation, attempt) IN
    (SELECT run_id, job_id, case_id, invocation, attempt FROM outcomes
     WHERE kind = 'crashed' AND reason IN ('the worker was ended by signal 1', 'the worker was ended by signal 2',
                                           'the worker was ended by signal 9', 'the worker was ended by signal 15'))
SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1;

ALTER TABLE outcomes DELETE
WHERE kind = 'crashed' AND reason IN ('the worker was ended by signal 1', 'the worker was ended by signal 2',
                                           'the worker was ended by signal 9', 'the worker was ended by signal 15')
SETTINGS mutations_sync = 2;
