-- Fills company 1 with 100,000 employees and 1,000,000 assignments. Neither foreign keys are checked nor totals kept
-- meanwhile, which would take longer than all else.
SET session_replication_role = replica;

-- Of the platform's 3,000 courses the company may assign 40. They are assigned unevenly: each is half as popular as the
-- one ten places before it.
INSERT INTO courses (owner_company_id, external_id, name, is_assessment, pass_mark, allowed_attempts, created_at, updated_at)
SELECT 0, 'platform-' || n, 'Workplace course ' || n, n % 3 = 0, 8000, 3, now() - interval '2 years', now() FROM generate_series(1, 3000) n;
INSERT INTO course_grants SELECT 1, id, now() - interval '1 year' FROM courses WHERE owner_company_id = 0 ORDER BY id LIMIT 40;
INSERT INTO course_modules (course_id, position, title)
SELECT id, n, 'Module ' || n FROM courses CROSS JOIN generate_series(1, 8) n WHERE owner_company_id = 0;

INSERT INTO accounts SELECT 'person' || n || '@acme.example', now() FROM generate_series(1, 100000) n;
INSERT INTO employees (company_id, id, external_id, email, email_folded, name, name_folded, last_name_folded, role, tags, joined_at, left_at, updated_at)
SELECT 1, n, 'E-' || n, 'person' || n || '@acme.example', 'person' || n || '@acme.example',
  f.first || ' ' || f.last || ' ' || n, lower(f.first || ' ' || f.last || ' ' || n), n::text, CASE WHEN n % 50 = 0 THEN 'manager' ELSE 'employee' END,
  t.tags::text, now() - n % 1000 * interval '1 day', CASE WHEN n % 50 = 7 THEN now() - n % 300 * interval '1 day' END, now()
FROM generate_series(1, 100000) n
CROSS JOIN LATERAL (SELECT (ARRAY['Anna', 'Boris', 'Clara', 'David', 'Elena', 'Farid', 'Greta', 'Hugo', 'Ingrid', 'Jonas'])[1 + n % 10] AS first,
  (ARRAY['Miller', 'Petrov', 'Rossi', 'Schmidt', 'Tanaka', 'Weber', 'Young'])[1 + n % 7] AS last) f
CROSS JOIN LATERAL (SELECT jsonb_agg(tag ORDER BY tag) AS tags FROM (VALUES ('site ' || n % 30, true), ('warehouse', n % 10 < 3),
  ('night shift', n % 10 = 3), ('first aid', n % 5000 = 1)) v (tag, has) WHERE has) t;
INSERT INTO employee_tags SELECT 1, tag, id FROM employees CROSS JOIN LATERAL jsonb_array_elements_text(tags::jsonb) tag;

-- Ten assignments for each person except every fortieth. Three in five are completed; those that are not are due from 60
-- days ago to 300 days from now.
INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, score, attempts, granted_attempts, is_required,
  assigned_at, deadline, asked_deadline, asked_required, started_at, completed_at, last_activity_at, overdue_at, revoked_at, updated_at,
  live_at_most, assigned_by, assigned_via)
SELECT 1, n, 'asg-' || n, e.id, c.id, s.status, CASE s.status WHEN 'completed' THEN 10000 WHEN 'assigned' THEN 0 ELSE 5000 END,
  CASE WHEN s.status IN ('completed', 'failed', 'needs_retry') THEN 6000 + n % 4000 END, CASE s.status WHEN 'assigned' THEN 0 ELSE 1 END, 0, n % 2 = 0,
  d.assigned, d.deadline, d.deadline, n % 2 = 0, CASE s.status WHEN 'assigned' THEN NULL ELSE d.assigned + interval '3 days' END,
  CASE s.status WHEN 'completed' THEN d.assigned + n % 40 * interval '1 day' END, CASE s.status WHEN 'assigned' THEN NULL ELSE d.assigned + n % 40 * interval '1 day' END,
  CASE WHEN s.status <> 'completed' AND d.deadline < now() THEN d.deadline END, CASE WHEN n % 37 = 0 THEN now() END,
  now() - (1000000 - n) * interval '10 seconds', 10, 'load', 'token'
FROM generate_series(1, 1000000) n
CROSS JOIN LATERAL (SELECT 1 + n % 100000 AS id) e
CROSS JOIN LATERAL (SELECT ('x' || substr(md5(n::text), 1, 8))::bit(32)::bigint AS h) r
CROSS JOIN LATERAL (SELECT (ARRAY['assigned', 'started', 'completed', 'completed', 'completed', 'assigned', 'started', 'completed', 'completed', 'completed',
  'needs_retry', 'assigned', 'completed', 'completed', 'completed', 'failed', 'started', 'completed', 'completed', 'completed'])[1 + r.h % 20] AS status) s
CROSS JOIN LATERAL (SELECT now() - 400 * interval '1 day' + (r.h / 64) % 360 * interval '1 day' + n % 86400 * interval '1 second' AS assigned) a
CROSS JOIN LATERAL (SELECT a.assigned, CASE s.status WHEN 'completed' THEN a.assigned + interval '30 days'
  ELSE now() - interval '60 days' + (r.h / 32) % 360 * interval '1 day' + n % 86400 * interval '1 second' END AS deadline) d
CROSS JOIN LATERAL (SELECT 1 + floor(40 * power((r.h / 7) % 1000 / 1000.0, 2))::bigint AS place) p
JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM courses WHERE id IN (SELECT course_id FROM course_grants WHERE company_id = 1)
  AND owner_company_id = 0) c ON c.place = p.place
WHERE e.id % 40 <> 11;
INSERT INTO assignment_history (company_id, assignment_id, at, from_status, to_status, cause)
SELECT 1, id, started_at, 'assigned', 'started', 'started' FROM assignments WHERE started_at IS NOT NULL AND id % 4 = 0;
INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id, employee_id, request_id, address, detail)
SELECT 1, now() - n % 400 * interval '1 day', 'token', 1, 'load', 'employee.linked', 'employee', n::text, n, md5(n::text), '10.0.0.7', '' FROM generate_series(1, 100000) n;
SELECT setval('employee_ids', 100000);
SELECT setval('assignment_ids', 1000000);
SET session_replication_role = origin;
