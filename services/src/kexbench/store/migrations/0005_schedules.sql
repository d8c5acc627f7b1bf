-- Changes of schedules; the newest one of a name is what it is now.

CREATE TABLE schedules
(
    name        String,
    changed_at  DateTime64(3, 'UTC'),
    content     String CODEC(ZSTD(3)) COMMENT 'the schedule as JSON: times, spec, who changed it, whether it was removed'
)
ENGINE = $REPLACING
ORDER BY (name, changed_at);
