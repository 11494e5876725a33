-- What the program of commit 1b9465b, before any later migration, wrote. The secrets in it open nothing else.
-- token: cb_wkX5AGfWh6SrQmpdb3IMHcROl6wx69Hy0ipbzFVKhfm
-- key: HEcFK3BtZnO8Inu2Y6zFxSDpzLY3QbgASsuFr1h05Oc=
BEGIN TRANSACTION;
CREATE TABLE accounts (
  email_folded TEXT PRIMARY KEY,
  created_at   INTEGER NOT NULL
);
INSERT INTO "accounts" VALUES('hr-1@acme.example',1794989224066);
INSERT INTO "accounts" VALUES('hr-2@acme.example',1794989224070);
INSERT INTO "accounts" VALUES('hr-3@acme.example',1794989224075);
INSERT INTO "accounts" VALUES('hr-4@acme.example',1794989224080);
INSERT INTO "accounts" VALUES('hr-5@acme.example',1794989224084);
CREATE TABLE activities (
  id            TEXT PRIMARY KEY,
  assignment_id INTEGER NOT NULL,
  received_at   INTEGER NOT NULL
);
INSERT INTO "activities" VALUES('a1',1,1794989224119);
INSERT INTO "activities" VALUES('a2',1,1794989224119);
INSERT INTO "activities" VALUES('a3',3,1794989224119);
INSERT INTO "activities" VALUES('a4',4,1794989224119);
CREATE TABLE administrators (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  email               TEXT NOT NULL,
  email_folded        TEXT NOT NULL UNIQUE,
  name                TEXT NOT NULL,
  password_hash       TEXT,
  password_changed_at INTEGER,
  totp_secret         BLOB,
  totp_confirmed_at   INTEGER,
  recovery_hashes     TEXT NOT NULL,
  theme               TEXT NOT NULL,
  created_at          INTEGER NOT NULL,
  last_sign_in_at     INTEGER
);
INSERT INTO "administrators" VALUES(1,'ann@acme.example','ann@acme.example','',NULL,NULL,NULL,NULL,'[]','system',1794989223834,NULL);
CREATE TABLE anonymous_results (
  company_id      INTEGER NOT NULL REFERENCES companies (id),
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  course_id       INTEGER NOT NULL,
  score           INTEGER,
  attempts        INTEGER NOT NULL,
  passed          INTEGER NOT NULL,
  completed_month TEXT NOT NULL,
  UNIQUE (company_id, id)
);
CREATE TABLE assignment_attempts (
  company_id    INTEGER NOT NULL,
  assignment_id INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  started_at    INTEGER NOT NULL,
  ended_at      INTEGER,
  score         INTEGER,
  passed        INTEGER,
  PRIMARY KEY (company_id, assignment_id, number),
  FOREIGN KEY (company_id, assignment_id) REFERENCES assignments (company_id, id) ON DELETE CASCADE
);
INSERT INTO "assignment_attempts" VALUES(1,1,1,1794989224119,1794989224119,9750,1);
INSERT INTO "assignment_attempts" VALUES(1,3,1,1794989224119,NULL,NULL,NULL);
INSERT INTO "assignment_attempts" VALUES(1,4,1,1794989224119,1794989224119,300,0);
CREATE TABLE assignment_history (
  company_id    INTEGER NOT NULL,
  assignment_id INTEGER NOT NULL,
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  at            INTEGER NOT NULL,
  from_status   TEXT NOT NULL,
  to_status     TEXT NOT NULL,
  cause         TEXT NOT NULL,
  UNIQUE (company_id, assignment_id, id),
  FOREIGN KEY (company_id, assignment_id) REFERENCES assignments (company_id, id) ON DELETE CASCADE
);
INSERT INTO "assignment_history" VALUES(1,1,1,1794989224119,'assigned','started','started');
INSERT INTO "assignment_history" VALUES(1,1,2,1794989224119,'started','completed','attempt_finished');
INSERT INTO "assignment_history" VALUES(1,3,3,1794989224119,'assigned','started','progress');
INSERT INTO "assignment_history" VALUES(1,4,4,1794989224119,'assigned','started','attempt_finished');
INSERT INTO "assignment_history" VALUES(1,4,5,1794989224119,'started','needs_retry','attempt_finished');
CREATE TABLE assignments (
  company_id       INTEGER NOT NULL,
  id               INTEGER NOT NULL,
  external_id      TEXT NOT NULL,
  employee_id      INTEGER NOT NULL,
  course_id        INTEGER NOT NULL,
  status           TEXT NOT NULL,
  percent          INTEGER NOT NULL,
  score            INTEGER,
  attempts         INTEGER NOT NULL,
  granted_attempts INTEGER NOT NULL,
  is_required      INTEGER NOT NULL,
  assigned_at      INTEGER NOT NULL,
  deadline         INTEGER NOT NULL,
  asked_deadline   INTEGER NOT NULL,
  asked_required   INTEGER NOT NULL,
  started_at       INTEGER,
  attempt_at       INTEGER,
  ended_at         INTEGER,
  completed_at     INTEGER,
  last_activity_at INTEGER,
  overdue_at       INTEGER,
  revoked_at       INTEGER,
  updated_at       INTEGER NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, id)
);
INSERT INTO "assignments" VALUES(1,1,'A-1',1,1,'completed',10000,9750,1,0,0,1794989224093,1797581224093,1797581224093,0,1794989224119,1794989224119,1794989224119,1794989224119,1794989224119,NULL,NULL,1794989224119);
INSERT INTO "assignments" VALUES(1,2,'A-2',2,1,'assigned',0,NULL,0,0,0,1794989224099,1577836800000,1577836800000,0,NULL,NULL,NULL,NULL,NULL,1794989224972,NULL,1794989224972);
INSERT INTO "assignments" VALUES(1,3,'A-3',3,2,'started',4000,NULL,1,0,0,1794989224101,1797581224101,1797581224101,0,1794989224119,1794989224119,NULL,NULL,1794989224119,NULL,NULL,1794989224119);
INSERT INTO "assignments" VALUES(1,4,'A-4',4,1,'needs_retry',0,300,1,0,0,1794989224105,1797581224105,1797581224105,0,1794989224119,1794989224119,1794989224119,NULL,1794989224119,NULL,1794989224125,1794989224125);
INSERT INTO "assignments" VALUES(1,5,'A-5',5,1,'assigned',0,NULL,0,0,0,1794989224110,1797581224110,1797581224110,0,NULL,NULL,NULL,NULL,NULL,NULL,1794989224127,1794989224127);
CREATE TABLE audit_entries (
  company_id  INTEGER NOT NULL REFERENCES companies (id),
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  actor_kind  TEXT NOT NULL,
  actor_id    INTEGER NOT NULL,
  actor_label TEXT NOT NULL,
  action      TEXT NOT NULL,
  record_kind TEXT NOT NULL,
  record_id   TEXT NOT NULL,
  employee_id INTEGER NOT NULL,
  request_id  TEXT NOT NULL,
  address     TEXT NOT NULL,
  detail      TEXT NOT NULL,
  UNIQUE (company_id, id)
);
INSERT INTO "audit_entries" VALUES(1,1,1794989223834,'operator',0,'operator','company.created','company','1',0,'','','');
INSERT INTO "audit_entries" VALUES(1,2,1794989223834,'operator',0,'operator','administrator.invited','administrator','1',0,'','','');
INSERT INTO "audit_entries" VALUES(1,3,1794989223878,'operator',0,'operator','token.created','token','1',0,'','','HR');
INSERT INTO "audit_entries" VALUES(1,4,1794989224004,'operator',0,'operator','webhook.added','webhook','1',0,'','','Sends to http://127.0.0.1:38461/hook');
INSERT INTO "audit_entries" VALUES(1,5,1794989224017,'platform',1,'platform','course.granted','course','1',0,'3skwk63e9tgu5','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,6,1794989224057,'operator',0,'operator','course.added','course','2',0,'','','');
INSERT INTO "audit_entries" VALUES(1,7,1794989224066,'token',1,'HR','employee.provisioned','employee','1',1,'30vgryplgcu3h','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,8,1794989224070,'token',1,'HR','employee.provisioned','employee','2',2,'31bbra4fcx73z','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,9,1794989224075,'token',1,'HR','employee.provisioned','employee','3',3,'2y3dpmirzlaph','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,10,1794989224080,'token',1,'HR','employee.provisioned','employee','4',4,'3pgwujojmznkx','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,11,1794989224084,'token',1,'HR','employee.provisioned','employee','5',5,'3d3itdzb0gu70','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,12,1794989224087,'token',1,'HR','employee.provisioned','employee','6',6,'2fvq9mk08ey1h','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,13,1794989224091,'token',1,'HR','employee.changed','employee','1',1,'3tjxtcmil92iw','127.0.0.1','Changed: tags.');
INSERT INTO "audit_entries" VALUES(1,14,1794989224093,'token',1,'HR','assignment.created','assignment','1',1,'31p9vf5ttmx8x','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,15,1794989224099,'token',1,'HR','assignment.created','assignment','2',2,'31i7c6iskmpfr','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,16,1794989224101,'token',1,'HR','assignment.created','assignment','3',3,'3njb84zi7du9g','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,17,1794989224105,'token',1,'HR','assignment.created','assignment','4',4,'3pqtmxid2kf3k','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,18,1794989224110,'token',1,'HR','assignment.created','assignment','5',5,'335kgy2rdhslh','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,19,1794989224114,'token',1,'HR','assignment.created','assignment','6',6,'2b7yergzge752','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,20,1794989224125,'token',1,'HR','assignment.revoked','assignment','4',4,'3ohvu6j7nr33d','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,21,1794989224127,'token',1,'HR','employee.offboarded','employee','5',5,'288he71a1ma6j','127.0.0.1','');
INSERT INTO "audit_entries" VALUES(1,22,1794989224131,'token',1,'HR','employee.deleted','employee','6',6,'24wq8f6swz8u5','127.0.0.1','');
CREATE TABLE cache_versions (
  name    TEXT PRIMARY KEY,
  version INTEGER NOT NULL
);
INSERT INTO "cache_versions" VALUES('tokens',4);
CREATE TABLE change_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
);
INSERT INTO "change_clock" VALUES(1,1794989232147);
CREATE TABLE companies (
  id                    INTEGER PRIMARY KEY AUTOINCREMENT,
  name                  TEXT NOT NULL,
  time_zone             TEXT NOT NULL,
  default_deadline_days INTEGER NOT NULL,
  suspended_at          INTEGER,
  created_at            INTEGER NOT NULL
);
INSERT INTO "companies" VALUES(1,'Acme','UTC',30,NULL,1794989223834);
CREATE TABLE company_administrators (
  company_id       INTEGER NOT NULL REFERENCES companies (id),
  administrator_id INTEGER NOT NULL REFERENCES administrators (id) ON DELETE CASCADE,
  added_at         INTEGER NOT NULL,
  added_by         TEXT NOT NULL,
  PRIMARY KEY (company_id, administrator_id)
);
INSERT INTO "company_administrators" VALUES(1,1,1794989223834,'operator');
CREATE TABLE course_grants (
  company_id INTEGER NOT NULL REFERENCES companies (id),
  course_id  INTEGER NOT NULL REFERENCES courses (id),
  granted_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, course_id)
);
INSERT INTO "course_grants" VALUES(1,1,1794989224017);
INSERT INTO "course_grants" VALUES(1,2,1794989224057);
CREATE TABLE course_modules (
  course_id INTEGER NOT NULL REFERENCES courses (id),
  position  INTEGER NOT NULL,
  title     TEXT NOT NULL,
  PRIMARY KEY (course_id, position)
);
INSERT INTO "course_modules" VALUES(1,1,'One');
INSERT INTO "course_modules" VALUES(1,2,'Two');
INSERT INTO "course_modules" VALUES(2,1,'First');
INSERT INTO "course_modules" VALUES(2,2,'Second');
CREATE TABLE courses (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_company_id INTEGER NOT NULL,
  parent_id        INTEGER REFERENCES courses (id),
  external_id      TEXT,
  name             TEXT NOT NULL,
  is_assessment    INTEGER NOT NULL,
  pass_mark        INTEGER NOT NULL,
  allowed_attempts INTEGER NOT NULL,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL
);
INSERT INTO "courses" VALUES(1,0,NULL,'safety','Safety',1,8000,3,1794989224015,1794989224015);
INSERT INTO "courses" VALUES(2,1,NULL,NULL,'Own course',0,8000,3,1794989224057,1794989224057);
CREATE TABLE deliveries (
  company_id   INTEGER NOT NULL,
  id           TEXT NOT NULL,
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id  INTEGER NOT NULL,
  event_id     INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  state        TEXT NOT NULL,
  attempts     INTEGER NOT NULL,
  round_start  INTEGER NOT NULL,
  due_at       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  finished_at  INTEGER,
  status_code  INTEGER NOT NULL,
  error_kind   TEXT NOT NULL,
  requested_by TEXT NOT NULL,
  UNIQUE (company_id, id)
);
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f082-7df9-83eb-e3bb04073db4',1,1,1,'employee.joined','delivered',1,0,1794989224066,1794989224066,1794989224078,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f086-7e67-9c7b-efdf2e40f526',2,1,2,'employee.joined','delivered',1,0,1794989224070,1794989224070,1794989224078,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f08b-7c0c-848c-f2611ca51253',3,1,3,'employee.joined','pending',3,0,1794992824291,1794989224075,NULL,500,'status','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f090-799d-9a72-c47333b8fed2',4,1,4,'employee.joined','delivered',1,0,1794989224080,1794989224080,1794989224086,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f094-76e2-b5e6-86ed9a21e544',5,1,5,'employee.joined','delivered',1,0,1794989224084,1794989224084,1794989224090,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f098-7033-adec-074b2ac512b4',6,1,6,'employee.joined','delivered',1,0,1794989224087,1794989224087,1794989224096,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f09f-71f9-ae9c-c0730d6365a5',7,1,7,'assignment.created','delivered',1,0,1794989224093,1794989224093,1794989224103,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0a3-7850-83a4-0c38e5781632',8,1,8,'assignment.created','delivered',1,0,1794989224099,1794989224099,1794989224106,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1',9,1,9,'assignment.created','pending',3,0,1794992824315,1794989224101,NULL,500,'status','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0aa-70b2-a966-17fdd9d2eb1d',10,1,10,'assignment.created','delivered',1,0,1794989224105,1794989224105,1794989224116,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0af-778d-9c76-45e4016e67d2',11,1,11,'assignment.created','delivered',1,0,1794989224110,1794989224110,1794989224122,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0b2-7941-b76e-14518c8fcbca',12,1,12,'assignment.created','delivered',1,0,1794989224114,1794989224114,1794989224122,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0b8-73dd-84c2-a2cf194cb1b6',13,1,13,'assignment.completed','delivered',1,0,1794989224119,1794989224119,1794989224129,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0bf-758f-b419-5b70261d1a4c',14,1,14,'employee.removed','delivered',1,0,1794989224127,1794989224127,1794989224136,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f0c3-7e7a-88a4-b1a25869ae2a',15,1,15,'employee.removed','delivered',1,0,1794989224131,1794989224131,1794989224140,204,'','');
INSERT INTO "deliveries" VALUES(1,'01a1edb1-f40f-7da4-b808-65551490574e',16,1,16,'assignment.overdue','delivered',1,0,1794989224972,1794989224972,1794989224988,204,'','');
CREATE TABLE delivery_attempts (
  company_id       INTEGER NOT NULL,
  delivery_id      TEXT NOT NULL,
  number           INTEGER NOT NULL,
  url              TEXT NOT NULL,
  started_at       INTEGER NOT NULL,
  duration_us      INTEGER NOT NULL,
  status_code      INTEGER NOT NULL,
  error_kind       TEXT NOT NULL,
  error            TEXT NOT NULL,
  request_headers  TEXT NOT NULL,
  response_headers TEXT NOT NULL,
  response_body    BLOB NOT NULL,
  requested_by     TEXT NOT NULL,
  PRIMARY KEY (company_id, delivery_id, number)
);
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f082-7df9-83eb-e3bb04073db4',1,'http://127.0.0.1:38461/hook',1794989224070,3583,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"244"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f082-7df9-83eb-e3bb04073db4"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=08b2ed11ad9de0f9b32928321ce9cec5636dac0440828507f64be1d701a3cdc3"},{"name":"webhook-id","value":"01a1edb1-f082-7df9-83eb-e3bb04073db4"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,nNdi8Amjd6ym6oESdBkvfLj5+M0H63K/j/rDVEEyQqQ="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f086-7e67-9c7b-efdf2e40f526',1,'http://127.0.0.1:38461/hook',1794989224072,2199,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"250"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f086-7e67-9c7b-efdf2e40f526"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=beb3376bbeca666734caac471d96f968d50b49b1545471fdf7f17bb27cab880d"},{"name":"webhook-id","value":"01a1edb1-f086-7e67-9c7b-efdf2e40f526"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,YWzeaF5IT380OfGBKZE7ZSrBZtY7vjizpTzBKYMwNEg="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f08b-7c0c-848c-f2611ca51253',1,'http://127.0.0.1:38461/hook',1794989224077,1327,500,'status','The receiver answered 500 Internal Server Error; look into the receiver''s log at this time.','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"240"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f08b-7c0c-848c-f2611ca51253"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=a0b8363247bd38cedd4cb3a82aa2f0bc845c5fc038a5f26f45bb00c6a97338b3"},{"name":"webhook-id","value":"01a1edb1-f08b-7c0c-848c-f2611ca51253"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,jOVG4r3DHvaTh8L8MFuO0LDno9e3oSd4JwhoUeZR5fc="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f090-799d-9a72-c47333b8fed2',1,'http://127.0.0.1:38461/hook',1794989224081,1984,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"238"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f090-799d-9a72-c47333b8fed2"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=fb08c64859439a67fc4a6cb3a94757560589353180a95663fcf9a94fc7c3c484"},{"name":"webhook-id","value":"01a1edb1-f090-799d-9a72-c47333b8fed2"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,9kbf/7Sc5RuNli3ih5KAjsywf/12M+NE2m8r/zY+rZg="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f094-76e2-b5e6-86ed9a21e544',1,'http://127.0.0.1:38461/hook',1794989224085,1754,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"238"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f094-76e2-b5e6-86ed9a21e544"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=6ae86108d913a64df5f37ea4e4ff6fc4e1bee9421ccf4ca620ce58c093aacf51"},{"name":"webhook-id","value":"01a1edb1-f094-76e2-b5e6-86ed9a21e544"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,fXZzcz4rZdxqL2xh4QQyOrvcC1yxuuMk+IEm4+id6eE="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f098-7033-adec-074b2ac512b4',1,'http://127.0.0.1:38461/hook',1794989224089,1913,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"237"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f098-7033-adec-074b2ac512b4"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=9bd1ccce9dce61792d1e00a2324076d95b6992c016664c1e58bab81439dc8c36"},{"name":"webhook-id","value":"01a1edb1-f098-7033-adec-074b2ac512b4"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,Et7wNyVfUJILrz4NLvKV2IH3+UtyCAtG0TmtlMtrDoE="}]','[]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f09f-71f9-ae9c-c0730d6365a5',1,'http://127.0.0.1:38461/hook',1794989224097,1768,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"540"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f09f-71f9-ae9c-c0730d6365a5"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=7b2620bb51dfa37679cb9532aee190784faa56fb4f138ca9c86f6c2fbfb20e86"},{"name":"webhook-id","value":"01a1edb1-f09f-71f9-ae9c-c0730d6365a5"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,NQU6FVrkGT4FM/dQQT+5tVHj8qRy9a3KCP2mq2ztNcg="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0a3-7850-83a4-0c38e5781632',1,'http://127.0.0.1:38461/hook',1794989224101,1961,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"531"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f0a3-7850-83a4-0c38e5781632"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=0fff4ca5746bf6c9bd8fa4bf2dd0e65125102c063fa34881071b6bf7b2fec825"},{"name":"webhook-id","value":"01a1edb1-f0a3-7850-83a4-0c38e5781632"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,pQyOjHQ+WSIi/zk9nvC8wGZPwnEaa8D5yJdXjOp2VoI="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1',1,'http://127.0.0.1:38461/hook',1794989224104,1154,500,'status','The receiver answered 500 Internal Server Error; look into the receiver''s log at this time.','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"544"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=87c1eb99c1562a9cc07ea3cf915d6b89515f2dee707a7322ef4fed23d9cf98de"},{"name":"webhook-id","value":"01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,q1Wg201iYblV/xfrbI9JYg918Mf7PwaEilFpaxrc15Y="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0aa-70b2-a966-17fdd9d2eb1d',1,'http://127.0.0.1:38461/hook',1794989224108,2878,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"540"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f0aa-70b2-a966-17fdd9d2eb1d"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=43ad17202698d4dcbb03c30bdff0d493b805314300a3d1b7863846f7105c9567"},{"name":"webhook-id","value":"01a1edb1-f0aa-70b2-a966-17fdd9d2eb1d"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,LFEsTlAezpviegGhpv7oMyrNSDIoW1stEKLJgI6oPww="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0af-778d-9c76-45e4016e67d2',1,'http://127.0.0.1:38461/hook',1794989224112,2196,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"536"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f0af-778d-9c76-45e4016e67d2"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=861a00a065e78429593e408448ba21e3a82d83f6e82e8ccc0b14980fd6b5e812"},{"name":"webhook-id","value":"01a1edb1-f0af-778d-9c76-45e4016e67d2"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,Qm/g8st95FVw5Q9aQeU48bIszoy9lwChuQ05A1yCVxI="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0b2-7941-b76e-14518c8fcbca',1,'http://127.0.0.1:38461/hook',1794989224117,2110,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"540"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f0b2-7941-b76e-14518c8fcbca"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=4ac74037609c0d91d2a83a97d8c671667e76ddc41ffa64ef3d92685c1b921476"},{"name":"webhook-id","value":"01a1edb1-f0b2-7941-b76e-14518c8fcbca"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,qab6DcTjqj9lu3Fto5W1rbDrLTNVIHBK6UqNKWthIDQ="}]','[]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0b8-73dd-84c2-a2cf194cb1b6',1,'http://127.0.0.1:38461/hook',1794989224123,2864,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"597"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.completed"},{"name":"X-Service-Delivery","value":"01a1edb1-f0b8-73dd-84c2-a2cf194cb1b6"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=5e70ead93ecda759cf13301344bd67d52cb7afae54e992624e6286ecae103f2d"},{"name":"webhook-id","value":"01a1edb1-f0b8-73dd-84c2-a2cf194cb1b6"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,t8zz2eMEuSDj1tEO3o/kMHp/+KJ2YSwtVxi4QhG0HgA="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0bf-758f-b419-5b70261d1a4c',1,'http://127.0.0.1:38461/hook',1794989224129,1593,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"145"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.removed"},{"name":"X-Service-Delivery","value":"01a1edb1-f0bf-758f-b419-5b70261d1a4c"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=6066c78d6a134a6da0159ec6279233c6f2934c389b22dfe157b069982bffa51f"},{"name":"webhook-id","value":"01a1edb1-f0bf-758f-b419-5b70261d1a4c"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,1nHqekRnG9OCL9CEvXjRnvoBeGvyBXiCi6AdMI74eo4="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0c3-7e7a-88a4-b1a25869ae2a',1,'http://127.0.0.1:38461/hook',1794989224133,3556,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"142"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.removed"},{"name":"X-Service-Delivery","value":"01a1edb1-f0c3-7e7a-88a4-b1a25869ae2a"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=ae55bb13d316d14995f65396db9f1d5d9202d8fdf02961844d81c4b2255e5456"},{"name":"webhook-id","value":"01a1edb1-f0c3-7e7a-88a4-b1a25869ae2a"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,gdwLIr39GzoDzla+Lg0ZzcHiKPCyLjo5wwNFQZBS6Yk="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f08b-7c0c-848c-f2611ca51253',2,'http://127.0.0.1:38461/hook',1794989224183,3625,500,'status','The receiver answered 500 Internal Server Error; look into the receiver''s log at this time.','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"240"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f08b-7c0c-848c-f2611ca51253"},{"name":"X-Service-Attempt","value":"2"},{"name":"X-Service-Signature","value":"sha256=a0b8363247bd38cedd4cb3a82aa2f0bc845c5fc038a5f26f45bb00c6a97338b3"},{"name":"webhook-id","value":"01a1edb1-f08b-7c0c-848c-f2611ca51253"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,jOVG4r3DHvaTh8L8MFuO0LDno9e3oSd4JwhoUeZR5fc="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1',2,'http://127.0.0.1:38461/hook',1794989224206,5408,500,'status','The receiver answered 500 Internal Server Error; look into the receiver''s log at this time.','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"544"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1"},{"name":"X-Service-Attempt","value":"2"},{"name":"X-Service-Signature","value":"sha256=87c1eb99c1562a9cc07ea3cf915d6b89515f2dee707a7322ef4fed23d9cf98de"},{"name":"webhook-id","value":"01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,q1Wg201iYblV/xfrbI9JYg918Mf7PwaEilFpaxrc15Y="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f08b-7c0c-848c-f2611ca51253',3,'http://127.0.0.1:38461/hook',1794989224288,3103,500,'status','The receiver answered 500 Internal Server Error; look into the receiver''s log at this time.','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"240"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"employee.joined"},{"name":"X-Service-Delivery","value":"01a1edb1-f08b-7c0c-848c-f2611ca51253"},{"name":"X-Service-Attempt","value":"3"},{"name":"X-Service-Signature","value":"sha256=a0b8363247bd38cedd4cb3a82aa2f0bc845c5fc038a5f26f45bb00c6a97338b3"},{"name":"webhook-id","value":"01a1edb1-f08b-7c0c-848c-f2611ca51253"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,jOVG4r3DHvaTh8L8MFuO0LDno9e3oSd4JwhoUeZR5fc="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1',3,'http://127.0.0.1:38461/hook',1794989224313,1923,500,'status','The receiver answered 500 Internal Server Error; look into the receiver''s log at this time.','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"544"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.created"},{"name":"X-Service-Delivery","value":"01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1"},{"name":"X-Service-Attempt","value":"3"},{"name":"X-Service-Signature","value":"sha256=87c1eb99c1562a9cc07ea3cf915d6b89515f2dee707a7322ef4fed23d9cf98de"},{"name":"webhook-id","value":"01a1edb1-f0a5-7b6b-9778-dedb0d7e35d1"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,q1Wg201iYblV/xfrbI9JYg918Mf7PwaEilFpaxrc15Y="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
INSERT INTO "delivery_attempts" VALUES(1,'01a1edb1-f40f-7da4-b808-65551490574e',1,'http://127.0.0.1:38461/hook',1794989224981,3289,204,'','','[{"name":"Host","value":"127.0.0.1:38461"},{"name":"Content-Length","value":"531"},{"name":"Content-Type","value":"application/json"},{"name":"User-Agent","value":"coursebridge/dev"},{"name":"X-Service-Event","value":"assignment.overdue"},{"name":"X-Service-Delivery","value":"01a1edb1-f40f-7da4-b808-65551490574e"},{"name":"X-Service-Attempt","value":"1"},{"name":"X-Service-Signature","value":"sha256=932485cff01a129aceb743a403e149080685fe3c05e996c584846f566e833e83"},{"name":"webhook-id","value":"01a1edb1-f40f-7da4-b808-65551490574e"},{"name":"webhook-timestamp","value":"1794989224"},{"name":"webhook-signature","value":"v1,DX2o66K47kxh1NIXOO5eWQNrkZhNKiI7ck9lbVs1YOc="}]','[{"name":"Date","value":"Wed, 18 Nov 2026 08:07:04 GMT"},{"name":"Server","value":"BaseHTTP/0.6 Python/3.11.7"}]',X'','');
CREATE TABLE employee_tags (
  company_id  INTEGER NOT NULL,
  tag         TEXT NOT NULL,
  employee_id INTEGER NOT NULL,
  PRIMARY KEY (company_id, tag, employee_id),
  FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, id) ON DELETE CASCADE
);
INSERT INTO "employee_tags" VALUES(1,'sales',1);
INSERT INTO "employee_tags" VALUES(1,'Riga',1);
CREATE TABLE employees (
  company_id   INTEGER NOT NULL REFERENCES companies (id),
  id           INTEGER NOT NULL,
  external_id  TEXT,
  email        TEXT NOT NULL,
  email_folded TEXT NOT NULL REFERENCES accounts (email_folded),
  name         TEXT NOT NULL,
  role         TEXT NOT NULL,
  tags         TEXT NOT NULL,
  joined_at    INTEGER NOT NULL,
  left_at      INTEGER,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (company_id, id)
);
INSERT INTO "employees" VALUES(1,1,'HR-1','hr-1@acme.example','hr-1@acme.example','Zoë O’Hara','employee','["sales","Riga"]',1794989224066,NULL,1794989224091);
INSERT INTO "employees" VALUES(1,2,'HR-2','hr-2@acme.example','hr-2@acme.example','Иван Петров','employee','[]',1794989224070,NULL,1794989224070);
INSERT INTO "employees" VALUES(1,3,'HR-3','hr-3@acme.example','hr-3@acme.example','Same Name','employee','[]',1794989224075,NULL,1794989224075);
INSERT INTO "employees" VALUES(1,4,'HR-4','hr-4@acme.example','hr-4@acme.example','Same Name','employee','[]',1794989224080,NULL,1794989224080);
INSERT INTO "employees" VALUES(1,5,'HR-5','hr-5@acme.example','hr-5@acme.example','Leaving','employee','[]',1794989224084,1794989224127,1794989224127);
CREATE TABLE endpoints (
  company_id      INTEGER NOT NULL REFERENCES companies (id),
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  url             TEXT NOT NULL,
  description     TEXT NOT NULL,
  events          TEXT NOT NULL,
  past_events     TEXT NOT NULL DEFAULT '[]',
  secret          BLOB NOT NULL,
  previous_secret BLOB,
  previous_until  INTEGER,
  created_at      INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  disabled_at     INTEGER,
  disabled_reason TEXT NOT NULL,
  failing_since   INTEGER,
  removed_at      INTEGER,
  lease_owner     TEXT NOT NULL,
  lease_until     INTEGER NOT NULL,
  UNIQUE (company_id, id)
);
INSERT INTO "endpoints" VALUES(1,1,'http://127.0.0.1:38461/hook','','["employee.joined","employee.removed","assignment.created","assignment.completed","assignment.overdue"]','[]',X'01E1569DA625BEE42FA0C7230A61E1A06A8677EABB16F6BBB68ADA92D903B680317298ACC24DFE79673A114A3264266C4DD5ABC965143E461981242D3389D08F766E61EEEB14039FB876FEE390FD82',NULL,NULL,1794989224004,'operator',NULL,'',NULL,NULL,'',1794989232146);
CREATE TABLE events (
  company_id    INTEGER NOT NULL REFERENCES companies (id),
  id            INTEGER NOT NULL,
  kind          TEXT NOT NULL,
  occurred_at   INTEGER NOT NULL,
  employee_id   INTEGER NOT NULL,
  assignment_id INTEGER NOT NULL,
  external_id   TEXT NOT NULL,
  body          BLOB NOT NULL,
  erased_at     INTEGER,
  PRIMARY KEY (company_id, id)
);
INSERT INTO "events" VALUES(1,1,'employee.joined',1794989224066,1,0,'HR-1',X'7B226576656E74223A22656D706C6F7965652E6A6F696E6564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3036362B30303A3030222C2264617461223A7B226964223A312C2265787465726E616C4964223A2248522D31222C22656D61696C223A2268722D314061636D652E6578616D706C65222C226E616D65223A225A6FC3AB204FE2809948617261222C22726F6C65223A22656D706C6F796565222C2274616773223A5B5D2C226A6F696E65644174223A22323032362D31312D31385430383A30373A30342E3036362B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,2,'employee.joined',1794989224070,2,0,'HR-2',X'7B226576656E74223A22656D706C6F7965652E6A6F696E6564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E30372B30303A3030222C2264617461223A7B226964223A322C2265787465726E616C4964223A2248522D32222C22656D61696C223A2268722D324061636D652E6578616D706C65222C226E616D65223A22D098D0B2D0B0D0BD20D09FD0B5D182D180D0BED0B2222C22726F6C65223A22656D706C6F796565222C2274616773223A5B5D2C226A6F696E65644174223A22323032362D31312D31385430383A30373A30342E30372B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,3,'employee.joined',1794989224075,3,0,'HR-3',X'7B226576656E74223A22656D706C6F7965652E6A6F696E6564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3037352B30303A3030222C2264617461223A7B226964223A332C2265787465726E616C4964223A2248522D33222C22656D61696C223A2268722D334061636D652E6578616D706C65222C226E616D65223A2253616D65204E616D65222C22726F6C65223A22656D706C6F796565222C2274616773223A5B5D2C226A6F696E65644174223A22323032362D31312D31385430383A30373A30342E3037352B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,4,'employee.joined',1794989224080,4,0,'HR-4',X'7B226576656E74223A22656D706C6F7965652E6A6F696E6564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E30382B30303A3030222C2264617461223A7B226964223A342C2265787465726E616C4964223A2248522D34222C22656D61696C223A2268722D344061636D652E6578616D706C65222C226E616D65223A2253616D65204E616D65222C22726F6C65223A22656D706C6F796565222C2274616773223A5B5D2C226A6F696E65644174223A22323032362D31312D31385430383A30373A30342E30382B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,5,'employee.joined',1794989224084,5,0,'HR-5',X'7B226576656E74223A22656D706C6F7965652E6A6F696E6564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3038342B30303A3030222C2264617461223A7B226964223A352C2265787465726E616C4964223A2248522D35222C22656D61696C223A2268722D354061636D652E6578616D706C65222C226E616D65223A224C656176696E67222C22726F6C65223A22656D706C6F796565222C2274616773223A5B5D2C226A6F696E65644174223A22323032362D31312D31385430383A30373A30342E3038342B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,6,'employee.joined',1794989224087,6,0,'',X'',1794989224131);
INSERT INTO "events" VALUES(1,7,'assignment.created',1794989224093,1,1,'A-1',X'7B226576656E74223A2261737369676E6D656E742E63726561746564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3039332B30303A3030222C2264617461223A7B226964223A312C2265787465726E616C4964223A22412D31222C22656D706C6F79656545787465726E616C4964223A2248522D31222C22656D706C6F796565456D61696C223A2268722D314061636D652E6578616D706C65222C22636F757273654964223A312C22636F757273654E616D65223A22536166657479222C22737461747573223A2261737369676E6564222C2273746174757343617465676F7279223A226E6F745F73746172746564222C2269734F766572647565223A66616C73652C22636F6D706C6574696F6E50657263656E74223A302C2273636F7265223A6E756C6C2C226E756D6265724F66417474656D707473223A302C2269735265717569726564223A66616C73652C2261737369676E65644174223A22323032362D31312D31385430383A30373A30342E3039332B30303A3030222C22646561646C696E65223A22323032362D31322D31385430383A30373A30342E3039332B30303A3030222C22737461727465644174223A6E756C6C2C22636F6D706C657465644174223A6E756C6C2C226C61737441637469766974794174223A22323032362D31312D31385430383A30373A30342E3039332B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,8,'assignment.created',1794989224099,2,2,'A-2',X'7B226576656E74223A2261737369676E6D656E742E63726561746564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3039392B30303A3030222C2264617461223A7B226964223A322C2265787465726E616C4964223A22412D32222C22656D706C6F79656545787465726E616C4964223A2248522D32222C22656D706C6F796565456D61696C223A2268722D324061636D652E6578616D706C65222C22636F757273654964223A312C22636F757273654E616D65223A22536166657479222C22737461747573223A2261737369676E6564222C2273746174757343617465676F7279223A226F766572647565222C2269734F766572647565223A747275652C22636F6D706C6574696F6E50657263656E74223A302C2273636F7265223A6E756C6C2C226E756D6265724F66417474656D707473223A302C2269735265717569726564223A66616C73652C2261737369676E65644174223A22323032362D31312D31385430383A30373A30342E3039392B30303A3030222C22646561646C696E65223A22323032302D30312D30315430303A30303A30302B30303A3030222C22737461727465644174223A6E756C6C2C22636F6D706C657465644174223A6E756C6C2C226C61737441637469766974794174223A22323032362D31312D31385430383A30373A30342E3039392B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,9,'assignment.created',1794989224101,3,3,'A-3',X'7B226576656E74223A2261737369676E6D656E742E63726561746564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3130312B30303A3030222C2264617461223A7B226964223A332C2265787465726E616C4964223A22412D33222C22656D706C6F79656545787465726E616C4964223A2248522D33222C22656D706C6F796565456D61696C223A2268722D334061636D652E6578616D706C65222C22636F757273654964223A322C22636F757273654E616D65223A224F776E20636F75727365222C22737461747573223A2261737369676E6564222C2273746174757343617465676F7279223A226E6F745F73746172746564222C2269734F766572647565223A66616C73652C22636F6D706C6574696F6E50657263656E74223A302C2273636F7265223A6E756C6C2C226E756D6265724F66417474656D707473223A302C2269735265717569726564223A66616C73652C2261737369676E65644174223A22323032362D31312D31385430383A30373A30342E3130312B30303A3030222C22646561646C696E65223A22323032362D31322D31385430383A30373A30342E3130312B30303A3030222C22737461727465644174223A6E756C6C2C22636F6D706C657465644174223A6E756C6C2C226C61737441637469766974794174223A22323032362D31312D31385430383A30373A30342E3130312B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,10,'assignment.created',1794989224105,4,4,'A-4',X'7B226576656E74223A2261737369676E6D656E742E63726561746564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3130352B30303A3030222C2264617461223A7B226964223A342C2265787465726E616C4964223A22412D34222C22656D706C6F79656545787465726E616C4964223A2248522D34222C22656D706C6F796565456D61696C223A2268722D344061636D652E6578616D706C65222C22636F757273654964223A312C22636F757273654E616D65223A22536166657479222C22737461747573223A2261737369676E6564222C2273746174757343617465676F7279223A226E6F745F73746172746564222C2269734F766572647565223A66616C73652C22636F6D706C6574696F6E50657263656E74223A302C2273636F7265223A6E756C6C2C226E756D6265724F66417474656D707473223A302C2269735265717569726564223A66616C73652C2261737369676E65644174223A22323032362D31312D31385430383A30373A30342E3130352B30303A3030222C22646561646C696E65223A22323032362D31322D31385430383A30373A30342E3130352B30303A3030222C22737461727465644174223A6E756C6C2C22636F6D706C657465644174223A6E756C6C2C226C61737441637469766974794174223A22323032362D31312D31385430383A30373A30342E3130352B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,11,'assignment.created',1794989224110,5,5,'A-5',X'7B226576656E74223A2261737369676E6D656E742E63726561746564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E31312B30303A3030222C2264617461223A7B226964223A352C2265787465726E616C4964223A22412D35222C22656D706C6F79656545787465726E616C4964223A2248522D35222C22656D706C6F796565456D61696C223A2268722D354061636D652E6578616D706C65222C22636F757273654964223A312C22636F757273654E616D65223A22536166657479222C22737461747573223A2261737369676E6564222C2273746174757343617465676F7279223A226E6F745F73746172746564222C2269734F766572647565223A66616C73652C22636F6D706C6574696F6E50657263656E74223A302C2273636F7265223A6E756C6C2C226E756D6265724F66417474656D707473223A302C2269735265717569726564223A66616C73652C2261737369676E65644174223A22323032362D31312D31385430383A30373A30342E31312B30303A3030222C22646561646C696E65223A22323032362D31322D31385430383A30373A30342E31312B30303A3030222C22737461727465644174223A6E756C6C2C22636F6D706C657465644174223A6E756C6C2C226C61737441637469766974794174223A22323032362D31312D31385430383A30373A30342E31312B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,12,'assignment.created',1794989224114,6,6,'',X'',1794989224131);
INSERT INTO "events" VALUES(1,13,'assignment.completed',1794989224119,1,1,'A-1',X'7B226576656E74223A2261737369676E6D656E742E636F6D706C65746564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3131392B30303A3030222C2264617461223A7B226964223A312C2265787465726E616C4964223A22412D31222C22656D706C6F79656545787465726E616C4964223A2248522D31222C22656D706C6F796565456D61696C223A2268722D314061636D652E6578616D706C65222C22636F757273654964223A312C22636F757273654E616D65223A22536166657479222C22737461747573223A22636F6D706C65746564222C2273746174757343617465676F7279223A22636F6D706C65746564222C2269734F766572647565223A66616C73652C22636F6D706C6574696F6E50657263656E74223A3130302C2273636F7265223A39372E352C226E756D6265724F66417474656D707473223A312C2269735265717569726564223A66616C73652C2261737369676E65644174223A22323032362D31312D31385430383A30373A30342E3039332B30303A3030222C22646561646C696E65223A22323032362D31322D31385430383A30373A30342E3039332B30303A3030222C22737461727465644174223A22323032362D31312D31385430383A30373A30342E3131392B30303A3030222C22636F6D706C657465644174223A22323032362D31312D31385430383A30373A30342E3131392B30303A3030222C226C61737441637469766974794174223A22323032362D31312D31385430383A30373A30342E3131392B30303A3030227D7D',NULL);
INSERT INTO "events" VALUES(1,14,'employee.removed',1794989224127,5,0,'HR-5',X'7B226576656E74223A22656D706C6F7965652E72656D6F766564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3132372B30303A3030222C2264617461223A7B226964223A352C2265787465726E616C4964223A2248522D35222C22726561736F6E223A226F6666626F6172646564227D7D',NULL);
INSERT INTO "events" VALUES(1,15,'employee.removed',1794989224131,6,0,'HR-6',X'7B226576656E74223A22656D706C6F7965652E72656D6F766564222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3133312B30303A3030222C2264617461223A7B226964223A362C2265787465726E616C4964223A2248522D36222C22726561736F6E223A2264656C65746564227D7D',NULL);
INSERT INTO "events" VALUES(1,16,'assignment.overdue',1794989224972,2,2,'A-2',X'7B226576656E74223A2261737369676E6D656E742E6F766572647565222C22636F6D70616E794964223A312C226F636375727265644174223A22323032362D31312D31385430383A30373A30342E3937322B30303A3030222C2264617461223A7B226964223A322C2265787465726E616C4964223A22412D32222C22656D706C6F79656545787465726E616C4964223A2248522D32222C22656D706C6F796565456D61696C223A2268722D324061636D652E6578616D706C65222C22636F757273654964223A312C22636F757273654E616D65223A22536166657479222C22737461747573223A2261737369676E6564222C2273746174757343617465676F7279223A226F766572647565222C2269734F766572647565223A747275652C22636F6D706C6574696F6E50657263656E74223A302C2273636F7265223A6E756C6C2C226E756D6265724F66417474656D707473223A302C2269735265717569726564223A66616C73652C2261737369676E65644174223A22323032362D31312D31385430383A30373A30342E3039392B30303A3030222C22646561646C696E65223A22323032302D30312D30315430303A30303A30302B30303A3030222C22737461727465644174223A6E756C6C2C22636F6D706C657465644174223A6E756C6C2C226C61737441637469766974794174223A22323032362D31312D31385430383A30373A30342E3039392B30303A3030227D7D',NULL);
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO "goose_db_version" VALUES(1,0,1,'2026-11-18 08:07:03');
INSERT INTO "goose_db_version" VALUES(2,1,1,'2026-11-18 08:07:03');
CREATE TABLE leases (
  name  TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL
);
CREATE TABLE platform_tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  hash       BLOB NOT NULL UNIQUE,
  last_four  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
);
INSERT INTO "platform_tokens" VALUES(1,'platform',X'83EB90F24AF2D9ECBA1C0A0D3736C23B0273BF32A5FC71D11BDF76AD125EC0AF','B8gT',1794989223914,NULL);
CREATE TABLE redeliveries (
  company_id   INTEGER NOT NULL REFERENCES companies (id),
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id  INTEGER NOT NULL,
  states       TEXT NOT NULL,
  kind         TEXT NOT NULL,
  from_at      INTEGER NOT NULL,
  to_at        INTEGER NOT NULL,
  total        INTEGER NOT NULL,
  done         INTEGER NOT NULL,
  cursor       TEXT NOT NULL,
  requested_by TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  finished_at  INTEGER,
  UNIQUE (company_id, id)
);
CREATE TABLE sequences (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
);
INSERT INTO "sequences" VALUES('employee_ids',6);
INSERT INTO "sequences" VALUES('assignment_ids',6);
INSERT INTO "sequences" VALUES('event_ids',16);
CREATE TABLE sessions (
  hash             BLOB NOT NULL UNIQUE,
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  administrator_id INTEGER NOT NULL,
  data             BLOB NOT NULL,
  created_at       INTEGER NOT NULL,
  seen_at          INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL,
  address          TEXT NOT NULL,
  user_agent       TEXT NOT NULL
);
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
);
INSERT INTO "settings" VALUES('sealing_key',X'01F898832DAA4D9CD65F6044D0AF9F271EDB07475CC8AFFAF02691169426984A27B96695EA5BFED5317036977ACB6A29CAFA7DE88A28398DEF04F27DFF217105CBBBE83C265A2FD0E62EE3E4AF');
INSERT INTO "settings" VALUES('public_url',X'687474703A2F2F3132372E302E302E313A3338303133');
CREATE TABLE sign_in_links (
  hash             BLOB PRIMARY KEY,
  administrator_id INTEGER NOT NULL REFERENCES administrators (id) ON DELETE CASCADE,
  for_company_id   INTEGER NOT NULL,
  name             TEXT NOT NULL,
  created_at       INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL,
  used_at          INTEGER
);
INSERT INTO "sign_in_links" VALUES(X'1A66B5FF661545BB609569599CD159F8786589F6351648C1F233BF3D7FBB72E8',1,1,'',1794989223834,1795594023834,NULL);
CREATE TABLE sign_in_throttles (
  key           TEXT PRIMARY KEY,
  failures      INTEGER NOT NULL,
  blocked_until INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
);
CREATE TABLE tokens (
  company_id   INTEGER NOT NULL REFERENCES companies (id),
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  hash         BLOB NOT NULL,
  last_four    TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  allowed      TEXT NOT NULL,
  created_by   TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER,
  last_used_ip TEXT NOT NULL,
  UNIQUE (company_id, id)
);
INSERT INTO "tokens" VALUES(1,1,'HR',X'F5D7BA6FD21C5F0449BCACBAA070C01F116250D56EE38B1CC085D1C34A42B809','Khfm','["b2b_api","b2b_read","b2b_provision","b2b_assignment"]','[]','operator',1794989223878,NULL,NULL,1794989232142,'127.0.0.1');
CREATE UNIQUE INDEX courses_external_id ON courses (owner_company_id, external_id);
CREATE INDEX activities_assignment ON activities (assignment_id);
CREATE INDEX sessions_administrator ON sessions (administrator_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX company_administrators_person ON company_administrators (administrator_id);
CREATE UNIQUE INDEX employees_external_id ON employees (company_id, external_id) WHERE left_at IS NULL AND external_id IS NOT NULL;
CREATE UNIQUE INDEX employees_email ON employees (company_id, email_folded) WHERE left_at IS NULL AND email_folded IS NOT NULL;
CREATE INDEX employees_former ON employees (company_id, email_folded) WHERE left_at IS NOT NULL AND email_folded IS NOT NULL;
CREATE INDEX employees_former_external_id ON employees (company_id, external_id) WHERE left_at IS NOT NULL AND external_id IS NOT NULL;
CREATE INDEX employees_account ON employees (email_folded);
CREATE INDEX employee_tags_employee ON employee_tags (company_id, employee_id);
CREATE UNIQUE INDEX assignments_external_id ON assignments (company_id, external_id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_id ON assignments (id);
CREATE INDEX assignments_employee ON assignments (company_id, employee_id, id);
CREATE INDEX assignments_course ON assignments (company_id, course_id, id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_status ON assignments (company_id, status, id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_updated ON assignments (company_id, updated_at, id) WHERE revoked_at IS NULL;
CREATE INDEX assignments_due ON assignments (deadline) WHERE overdue_at IS NULL AND revoked_at IS NULL AND status <> 'completed';
CREATE INDEX assignments_revoked_external_id ON assignments (company_id, external_id) WHERE revoked_at IS NOT NULL;
CREATE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_id ON tokens (id);
CREATE INDEX events_employee ON events (company_id, employee_id);
CREATE INDEX events_external_id ON events (company_id, external_id, id);
CREATE INDEX events_occurred ON events (occurred_at);
CREATE INDEX events_erased ON events (company_id, id) WHERE erased_at IS NOT NULL;
CREATE INDEX endpoints_id ON endpoints (id);
CREATE UNIQUE INDEX deliveries_event ON deliveries (company_id, event_id, endpoint_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at, seq) WHERE state = 'pending';
CREATE INDEX deliveries_log ON deliveries (company_id, kind, created_at, id);
CREATE INDEX deliveries_endpoint_log ON deliveries (company_id, endpoint_id, state, created_at, id, kind) WHERE state <> 'pending';
CREATE INDEX deliveries_unfinished ON deliveries (company_id, state, kind, created_at, id, endpoint_id) WHERE state <> 'delivered';
CREATE INDEX redeliveries_open ON redeliveries (company_id, id) WHERE finished_at IS NULL;
CREATE INDEX audit_entries_at ON audit_entries (company_id, at, id);
CREATE INDEX audit_entries_action ON audit_entries (company_id, action, actor_kind, at, id);
CREATE INDEX audit_entries_actor ON audit_entries (company_id, actor_kind, actor_id, action, at, id);
CREATE INDEX audit_entries_record ON audit_entries (company_id, record_id, at, id);
CREATE INDEX audit_entries_request ON audit_entries (company_id, request_id, at, id);
INSERT INTO "sqlite_sequence" VALUES('goose_db_version',2);
INSERT INTO "sqlite_sequence" VALUES('companies',1);
INSERT INTO "sqlite_sequence" VALUES('administrators',1);
INSERT INTO "sqlite_sequence" VALUES('audit_entries',22);
INSERT INTO "sqlite_sequence" VALUES('tokens',1);
INSERT INTO "sqlite_sequence" VALUES('platform_tokens',1);
INSERT INTO "sqlite_sequence" VALUES('endpoints',1);
INSERT INTO "sqlite_sequence" VALUES('courses',2);
INSERT INTO "sqlite_sequence" VALUES('deliveries',16);
INSERT INTO "sqlite_sequence" VALUES('assignment_history',5);
COMMIT;
