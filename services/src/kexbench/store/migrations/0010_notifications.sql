-- What people are told of alerts at each channel, and each try to tell it.

CREATE TABLE notifications
(
    notification_id  String,
    alert_id         String COMMENT 'empty where it is of no alert',
    number           UInt32 COMMENT 'of the event',
    created_at       DateTime64(3, 'UTC'),
    content          String CODEC(ZSTD(3)) COMMENT 'the notification as JSON'
)
ENGINE = $REPLACING
ORDER BY notification_id;

CREATE TABLE sendings
(
    message_id        String,
    at                DateTime64(3, 'UTC'),
    state             LowCardinality(String) COMMENT 'begun, and another row once it is known',
    notification_ids  Array(String),
    content           String CODEC(ZSTD(3)) COMMENT 'the sending as JSON'
)
ENGINE = $REPLACING
ORDER BY (message_id, at, state);
