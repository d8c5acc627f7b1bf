-- Numbers that are not finite were accepted once. They were kept as null, or as words that are no JSON, which no reader
-- takes for a number.

ALTER TABLE runs UPDATE run = replaceRegexpOne(run, '"estimated_s":null', '"estimated_s":0')
WHERE position(run, '"estimated_s":null') > 0
SETTINGS mutations_sync = 2;

ALTER TABLE invocations UPDATE timers = replaceRegexpAll(timers, '(_cost_ns": ?)(null|NaN|-?Infinity)', '\\10')
WHERE match(timers, '_cost_ns": ?(null|NaN|-?Infinity)')
SETTINGS mutations_sync = 2;
