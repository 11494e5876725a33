-- +goose Up
-- Every event and audit entry is written in the transaction of a record that refers to its company, so the company
-- exists. PostgreSQL checked that once more for each of them: 3 ms of a bulk of 500 assignments.
ALTER TABLE events DROP CONSTRAINT events_company_id_fkey;
ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_company_id_fkey;

-- As in 0016, but equal rows are counted before the totals that they belong to are worked out: 2.2 → 0.5 ms for 500
-- rows. The epoch is read as a double, which is exact for seconds; extract returns a numeric, which is slow.
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

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_assignments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, count(*)
    FROM new_rows a CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue_at IS NOT NULL AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(extract(epoch FROM a.updated_at))::bigint / 10 * 10, '')) k (kind, number_key, text_key)
    WHERE a.revoked_at IS NULL AND k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, -count(*)
    FROM old_rows a CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue_at IS NOT NULL AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(extract(epoch FROM a.updated_at))::bigint / 10 * 10, '')) k (kind, number_key, text_key)
    WHERE a.revoked_at IS NULL AND k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4;
  ELSE
    INSERT INTO total_changes (company_id, kind, number_key, text_key, n)
    SELECT a.company_id, k.kind, k.number_key, k.text_key, sum(a.n)
    FROM (SELECT company_id, course_id, status, overdue_at, updated_at, 1 AS n FROM new_rows WHERE revoked_at IS NULL
      UNION ALL SELECT company_id, course_id, status, overdue_at, updated_at, -1 FROM old_rows WHERE revoked_at IS NULL) a
    CROSS JOIN LATERAL (VALUES ('status', a.course_id, a.status),
      ('overdue', CASE WHEN a.overdue_at IS NOT NULL AND a.status <> 'completed' THEN a.course_id END, ''),
      ('updated', floor(extract(epoch FROM a.updated_at))::bigint / 10 * 10, '')) k (kind, number_key, text_key)
    WHERE k.number_key IS NOT NULL
    GROUP BY 1, 2, 3, 4 HAVING sum(a.n) <> 0;
  END IF;
  RETURN NULL;
END
$$;
-- +goose StatementEnd
ALTER TABLE audit_entries ADD FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE events ADD FOREIGN KEY (company_id) REFERENCES companies (id);
