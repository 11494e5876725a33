-- +goose Up

-- Renamed courses whose assignments are being stamped as changed, and how far.
CREATE TABLE course_renames (
  course_id             INTEGER PRIMARY KEY REFERENCES courses (id),
  renamed_at            INTEGER NOT NULL,
  stamped_company_id    INTEGER NOT NULL,
  stamped_assignment_id INTEGER NOT NULL
);

-- +goose Down
DROP TABLE course_renames;
