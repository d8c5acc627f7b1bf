-- Commits of libraries: how far the branches that specs follow were looked through, and which commit a kit was built from.

CREATE TABLE followed
(
    repository  LowCardinality(String),
    following   String COMMENT 'hash of the spec and the branch that it follows',
    handled_at  DateTime64(3, 'UTC'),
    commit      String,
    content     String CODEC(ZSTD(3)) COMMENT 'the followed commit as JSON'
)
ENGINE = $REPLACING
ORDER BY (repository, following, handled_at);

ALTER TABLE samples
    ADD COLUMN IF NOT EXISTS commit LowCardinality(String) COMMENT 'JSON, empty where the kit is of none';

ALTER TABLE outcomes
    ADD COLUMN IF NOT EXISTS commit LowCardinality(String) COMMENT 'JSON, empty where the kit is of none';
