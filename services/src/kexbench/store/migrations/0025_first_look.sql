-- Whether a run is a first look: overviews show those as long as no run of the history has results. Earlier ones are
-- not known as such.

ALTER TABLE runs ADD COLUMN IF NOT EXISTS first_look Bool DEFAULT false;
