-- +goose Up

-- The figures of the home page and of courses: see docs/adr/0008-kept-totals.md. They are complete from this instant on;
-- a null is a company whose figures an older program began.
ALTER TABLE total_companies ADD COLUMN figures_kept_at timestamptz;

-- As in 0022, with the kinds required, due, completed and days.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_assignments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, sum(a.n)
    FROM (SELECT company_id, course_id, status, overdue_at IS NOT NULL AS overdue, updated_at, is_required,
        CASE WHEN status <> 'completed' THEN floor(date_part('epoch', deadline))::bigint / 3600 * 3600 END AS due,
        CASE WHEN status = 'completed' THEN floor(date_part('epoch', completed_at))::bigint / 3600 * 3600 END AS completed,
        CASE WHEN status = 'completed' THEN (floor(date_part('epoch', completed_at))::bigint - floor(date_part('epoch', assigned_at))::bigint) / 86400 END AS days, count(*) AS n
      FROM new_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9) a
    CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(date_part('epoch', a.updated_at))::bigint / 10 * 10, ''),
      ('required', CASE WHEN a.is_required THEN a.course_id END, a.status),
      ('due', a.due, ''), ('completed', a.completed, ''),
      ('days', CASE WHEN a.days IS NOT NULL THEN a.course_id END, a.days::text)) k (kind, number_key, text_key)
    WHERE k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, -sum(a.n)
    FROM (SELECT company_id, course_id, status, overdue_at IS NOT NULL AS overdue, updated_at, is_required,
        CASE WHEN status <> 'completed' THEN floor(date_part('epoch', deadline))::bigint / 3600 * 3600 END AS due,
        CASE WHEN status = 'completed' THEN floor(date_part('epoch', completed_at))::bigint / 3600 * 3600 END AS completed,
        CASE WHEN status = 'completed' THEN (floor(date_part('epoch', completed_at))::bigint - floor(date_part('epoch', assigned_at))::bigint) / 86400 END AS days, count(*) AS n
      FROM old_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9) a
    CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(date_part('epoch', a.updated_at))::bigint / 10 * 10, ''),
      ('required', CASE WHEN a.is_required THEN a.course_id END, a.status),
      ('due', a.due, ''), ('completed', a.completed, ''),
      ('days', CASE WHEN a.days IS NOT NULL THEN a.course_id END, a.days::text)) k (kind, number_key, text_key)
    WHERE k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4;
  ELSE
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, sum(a.n)
    FROM (SELECT company_id, course_id, status, overdue_at IS NOT NULL AS overdue, updated_at, is_required,
        CASE WHEN status <> 'completed' THEN floor(date_part('epoch', deadline))::bigint / 3600 * 3600 END AS due,
        CASE WHEN status = 'completed' THEN floor(date_part('epoch', completed_at))::bigint / 3600 * 3600 END AS completed,
        CASE WHEN status = 'completed' THEN (floor(date_part('epoch', completed_at))::bigint - floor(date_part('epoch', assigned_at))::bigint) / 86400 END AS days, count(*) AS n
        FROM new_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
      UNION ALL SELECT company_id, course_id, status, overdue_at IS NOT NULL, updated_at, is_required,
        CASE WHEN status <> 'completed' THEN floor(date_part('epoch', deadline))::bigint / 3600 * 3600 END,
        CASE WHEN status = 'completed' THEN floor(date_part('epoch', completed_at))::bigint / 3600 * 3600 END,
        CASE WHEN status = 'completed' THEN (floor(date_part('epoch', completed_at))::bigint - floor(date_part('epoch', assigned_at))::bigint) / 86400 END, -count(*)
        FROM old_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9) a
    CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(date_part('epoch', a.updated_at))::bigint / 10 * 10, ''),
      ('required', CASE WHEN a.is_required THEN a.course_id END, a.status),
      ('due', a.due, ''), ('completed', a.completed, ''),
      ('days', CASE WHEN a.days IS NOT NULL THEN a.course_id END, a.days::text)) k (kind, number_key, text_key)
    WHERE k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4 HAVING sum(a.n) <> 0;
  END IF;
  RETURN NULL;
END
$$;
-- +goose StatementEnd

-- What is completed is counted by when, a day at a time.
CREATE INDEX assignments_completed ON assignments (company_id, completed_at) WHERE revoked_at IS NULL AND status = 'completed';

-- +goose Down
DROP INDEX assignments_completed;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_assignments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, sum(a.n)
    FROM (SELECT company_id, course_id, status, overdue_at IS NOT NULL AS overdue, updated_at, count(*) AS n
      FROM new_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5) a
    CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(date_part('epoch', a.updated_at))::bigint / 10 * 10, '')) k (kind, number_key, text_key)
    WHERE k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, -sum(a.n)
    FROM (SELECT company_id, course_id, status, overdue_at IS NOT NULL AS overdue, updated_at, count(*) AS n
      FROM old_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5) a
    CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(date_part('epoch', a.updated_at))::bigint / 10 * 10, '')) k (kind, number_key, text_key)
    WHERE k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4;
  ELSE
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, sum(a.n)
    FROM (SELECT company_id, course_id, status, overdue_at IS NOT NULL AS overdue, updated_at, count(*) AS n
        FROM new_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5
      UNION ALL SELECT company_id, course_id, status, overdue_at IS NOT NULL, updated_at, -count(*)
        FROM old_rows WHERE revoked_at IS NULL GROUP BY 1, 2, 3, 4, 5) a
    CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(date_part('epoch', a.updated_at))::bigint / 10 * 10, '')) k (kind, number_key, text_key)
    WHERE k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4 HAVING sum(a.n) <> 0;
  END IF;
  RETURN NULL;
END
$$;
-- +goose StatementEnd
DELETE FROM total_changes WHERE kind IN ('required', 'due', 'completed', 'days');
DELETE FROM totals WHERE kind IN ('required', 'due', 'completed', 'days', 'day');
ALTER TABLE total_companies DROP COLUMN figures_kept_at;
