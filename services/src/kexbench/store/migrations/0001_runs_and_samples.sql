-- Facts of runs, events of their state, and what their invocations yielded.
-- $REPLACING and $DEDUPLICATION_WINDOW come from the deployment: a server may replicate, chDB does not.

CREATE TABLE runs
(
    run_id      String,
    created_at  DateTime64(3, 'UTC'),
    spec_name   LowCardinality(String),
    plan_id     String,
    run         String CODEC(ZSTD(3)) COMMENT 'the run as JSON: plan, kits, host, material'
)
ENGINE = $REPLACING
ORDER BY (created_at, run_id);

CREATE TABLE run_events
(
    run_id  String,
    at      DateTime64(3, 'UTC'),
    state   LowCardinality(String),
    detail  String
)
ENGINE = $REPLACING
ORDER BY (run_id, at, state);

CREATE TABLE samples
(
    metric               LowCardinality(String),
    library              LowCardinality(String),
    cpu_model            LowCardinality(String),
    pool                 LowCardinality(String),
    protocol             LowCardinality(String),
    key_exchange         LowCardinality(String),
    rsa_bits             UInt16,
    curve                LowCardinality(String),
    `group`              LowCardinality(String),
    cipher               LowCardinality(String),
    case_id              LowCardinality(String),
    version_key          LowCardinality(String) COMMENT 'sorts as text in version order',
    version              LowCardinality(String),
    source               LowCardinality(String),
    build_profile        LowCardinality(String),
    build_profile_label  LowCardinality(String),
    kit_id               String,
    reference            LowCardinality(String) COMMENT 'the subject as the plan names it',
    host_id              String,
    run_id               String,
    job_id               String,
    invocation           UInt32,
    attempt              UInt16,
    measured_at          DateTime64(3, 'UTC'),
    n                    UInt32 COMMENT 'batches',
    median               Float64 COMMENT 'of the batches, in the unit of the metric, per handshake',
    p05                  Float64,
    p95                  Float64,
    values               Array(Float64) CODEC(ZSTD(1)) COMMENT 'one value a batch, in the order they were run'
)
ENGINE = $REPLACING
PARTITION BY toYYYYMM(measured_at)
ORDER BY (metric, library, cpu_model, pool, protocol, key_exchange, rsa_bits, curve, `group`, cipher,
          version_key, run_id, job_id, invocation, attempt, reference)
SETTINGS index_granularity = 1024, $DEDUPLICATION_WINDOW = 10000;

CREATE TABLE outcomes
(
    library              LowCardinality(String),
    cpu_model            LowCardinality(String),
    pool                 LowCardinality(String),
    protocol             LowCardinality(String),
    key_exchange         LowCardinality(String),
    rsa_bits             UInt16,
    curve                LowCardinality(String),
    `group`              LowCardinality(String),
    cipher               LowCardinality(String),
    case_id              LowCardinality(String),
    version_key          LowCardinality(String),
    version              LowCardinality(String),
    source               LowCardinality(String),
    build_profile        LowCardinality(String),
    build_profile_label  LowCardinality(String),
    kit_id               String,
    reference            LowCardinality(String),
    host_id              String,
    run_id               String,
    job_id               String,
    invocation           UInt32,
    attempt              UInt16,
    measured_at          DateTime64(3, 'UTC'),
    kind                 LowCardinality(String),
    reason               String,
    detail               String COMMENT 'the error text of the library, empty where it gave none'
)
ENGINE = $REPLACING
PARTITION BY toYYYYMM(measured_at)
ORDER BY (run_id, job_id, case_id, invocation, attempt, reference)
SETTINGS $DEDUPLICATION_WINDOW = 10000;

-- Written last: an invocation counts only when its row is here, so a killed upload leaves nothing half-counted.
CREATE TABLE invocations
(
    run_id             String,
    job_id             String,
    case_id            LowCardinality(String),
    invocation         UInt32,
    attempt            UInt16,
    host_id            String,
    measured_at        DateTime64(3, 'UTC'),
    discarded_batches  UInt32,
    preempted_batches  UInt32,
    host_load          String COMMENT 'JSON: load and shares of stolen and busy time during the invocation',
    negotiated         String COMMENT 'JSON, by subject'
)
ENGINE = $REPLACING
ORDER BY (run_id, job_id, case_id, invocation, attempt);

-- Of several attempts at one invocation the first counts; every reader joins through this view.
CREATE VIEW counted_invocations AS
SELECT run_id, job_id, case_id, invocation, min(attempt) AS attempt
FROM invocations
GROUP BY run_id, job_id, case_id, invocation;
