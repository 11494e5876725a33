package store

import (
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// The order of locks. A transaction that locks rows of several tables takes them
// in this order, and the rows of one table in ascending id (accounts by address,
// sign_in_throttles by key). Then one of two transactions waits for the other, and
// they cannot deadlock. SQLite has one writer and needs no locks.
//
//	companies
//	employees
//	courses
//	course_renames
//	assignments
//	accounts
//	administrators
//	company_administrators
//	sign_in_throttles
//	endpoints
//	former_leases
//	deliveries
//	events
//	total_companies
//	cache_versions, the last: every change of a token waits for this row
//
// An employee and their assignments are one record. A transaction that writes events
// locks the employee in its first batch, or calls Restamp in the batch that does, and
// reserves the ids of the events after that. Therefore the stamps of a record's
// events never decrease in the order of their ids: see db.Tx.
//
// Rows that are only inserted need no place in the order, unless another
// transaction may insert the same key: then they are inserted in the order of
// the keys. One deadlock remains possible: two requests that provision each other's
// identifiers and addresses. The engine resolves it by running one of them again.
//
// Some rows are read in order to write others. This is what makes each case safe:
//
//   - employee → assignment, and its event: Assign locks the employee, so nobody
//     leaves or changes the address between the decision and the commit.
//   - employee → event of an activity or of a deadline: a change of an employee's
//     address or identifier locks all live assignments of the employee. So does
//     the activity, and it reads the employee in a later statement, which sees
//     every change that the lock has waited for.
//   - course → assignment: Assign locks the course FOR SHARE, and a rename locks
//     it FOR UPDATE. The rename is stamped onto assignments by later transactions
//     (StampRenamedCourses), which see every assignment made before it. Without the lock
//     they could pass by an assignment whose maker was answered with the old name.
//   - course → status of an activity: a changed pass mark applies to activities
//     that are recorded after it; one that is being recorded meanwhile came before.
//   - company → default deadline: a change applies to assignments made after it;
//     one that is being made meanwhile came before.
//   - grant, archived course → assignment: archiving locks the course as a rename
//     does. Withdrawing a grant does not: an assignment that is being made meanwhile
//     came before, and what was assigned stays.
//   - course → slice: a slice has the titles of the modules as they were when it was
//     cut; a change of the course that is being made meanwhile came after.
//   - assignment → edited slice: EditSlice locks the course FOR UPDATE and looks for
//     assignments in a later statement, which sees those that held it FOR SHARE.
//   - employee → imported row: the check of a file only shows. Carrying it out decides
//     again within Provision, PatchEmployee and AssignImported, under their locks.
//   - imports of a company → import, job: AddImport and StartImport lock the company.
//     So does SetImportFields for the remembered columns.
//   - job → step: a step advances the job from the cursor that it began at in the
//     transaction of its changes, or fails with ErrJobMoved and changes nothing.
//   - number of tokens, saved views and endpoints → another one: the row of the company,
//     for endpoints Dialect.CompanyLock, is locked before they are counted.
//   - rows → kept totals: triggers append changes in the transaction of the row, and
//     totals change under the lock of total_companies only.
//   - endpoint → delivery: see outbox.prepare. Redeliver and ContinueRedelivery may queue
//     a delivery of an endpoint that is disabled or removed meanwhile: they wake the
//     dispatcher, which holds or fails it instead of sending it. They may not lock the endpoint:
//     a claim passes over those that are locked.
//   - erased event → redelivery: Redeliver locks the delivery, as an erasure does, and reads
//     the event in a later statement. ContinueRedelivery does not; the dispatcher reads the
//     event when it fetches a delivery, and fails those of erased events without sending.
//   - endpoint → test event: RecordTest logs what was sent already. The row of an endpoint
//     stays when it is removed, and a sample is about nobody.
//   - employees of an address → its account, which goes with the last of them: it is locked
//     before they are looked for. See deleteOrphanAccount.
//   - company, course → grant, course: foreign keys of the grant. If the company or the course is
//     deleted meanwhile, GrantCourse and AddCourse run again and do not find it. Of a grant
//     and a withdrawal at the same time either may be the last.
//   - link → membership: what useLink reads of a link never changes. The update that uses
//     it up finds it unused and unexpired, or there was none.
//   - administrators of a company → its last owner: they are locked before they are counted.
//   - external ids in use → restored assignment: a unique index. If dropUnrestorable did not see
//     one that is being used again, the update fails, and the next run sees it.
//   - token → request: see outbox.bumpVersion.

// lockEmployees queues the locking of the employees of assignments. Each is found by
// its key: a planner without statistics, as after an import, would read all employees
// to join them. They are locked in the order in which the inner query returns them.
func (s *Store) lockEmployees(b *db.Batch, assignments []int64) {
	suffix := s.db.ForUpdate("e")
	if suffix == "" || len(assignments) == 0 {
		return
	}
	isNamed, ids := s.db.In("a.id", 1, db.Ints("id", sortedUnique(assignments)))
	b.Query(ignoreRow, `SELECT l.id FROM (SELECT DISTINCT a.employee_id, a.company_id FROM assignments a WHERE `+isNamed+`
			ORDER BY a.employee_id, a.company_id) k
		CROSS JOIN LATERAL (SELECT e.id FROM employees e WHERE e.company_id = k.company_id AND e.id = k.employee_id`+suffix+`) l`, ids)
}

// lockAssignments queues the locking of the live assignments of an employee, in
// the order of locks. An UPDATE alone would lock them in any order.
func (s *Store) lockAssignments(b *db.Batch, company int64, employee employeeSelector) {
	suffix := s.db.ForUpdate("a")
	if suffix == "" {
		return
	}
	b.Query(ignoreRow, `SELECT a.id FROM assignments a WHERE a.company_id = $1 AND a.revoked_at IS NULL AND a.employee_id =
		(SELECT e.id FROM employees e WHERE e.company_id = $1 AND `+employee.condition+` AND e.left_at IS NULL)
		ORDER BY a.id`+suffix, company, employee.value)
}

// lockAccounts adds to b the creation of the accounts that do not exist yet and the
// locking of all of them, in the order of their addresses: someone else may be moving to
// the address that this transaction moves away from.
func lockAccounts(b *db.Batch, now time.Time, emails ...string) {
	folded := make([]string, len(emails))
	for i, email := range emails {
		folded[i] = domain.FoldEmail(email)
	}
	for _, email := range sortedUnique(folded) {
		b.Exec(`INSERT INTO accounts (email_folded, created_at) VALUES ($1, $2)
			ON CONFLICT (email_folded) DO UPDATE SET created_at = accounts.created_at`, email, now)
	}
}

// batchedLockWait is how long a transaction that serves several callers waits for
// a lock before its requests go on one by one: callers must not wait for a lock
// that another one's request needs.
const batchedLockWait = 50 * time.Millisecond

// limitLockWait queues that limit for a transaction that serves several callers.
func limitLockWait(b *db.Batch, d db.Dialect, callers int) {
	if callers > 1 {
		waitBriefly(b, d)
	}
}

// waitBriefly queues that limit.
func waitBriefly(b *db.Batch, d db.Dialect) {
	if statement := d.LockTimeout(batchedLockWait); statement != "" {
		b.Exec(statement)
	}
}
