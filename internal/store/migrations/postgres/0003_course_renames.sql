-- +goose Up

-- Renamed courses whose assignments are being stamped as changed, and how far.
CREATE TABLE course_renames (
  course_id             bigint PRIMARY KEY REFERENCES courses (id),
  renamed_at            timestamptz NOT NULL,
  stamped_company_id    bigint NOT NULL,
  stamped_assignment_id bigint NOT NULL
);

-- +goose Down
DROP TABLE course_renames;
