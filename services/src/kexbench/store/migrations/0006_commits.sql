-- Commits of watched repositories that were looked at, with what became of their specs.

CREATE TABLE commits
(
    repository  LowCardinality(String),
    branch      String,
    handled_at  DateTime64(3, 'UTC'),
    commit      String,
    tells       Bool COMMENT 'whether it had something measured, or should have had',
    content     String CODEC(ZSTD(3)) COMMENT 'the handled commit as JSON'
)
ENGINE = $REPLACING
ORDER BY (repository, branch, handled_at, commit);
