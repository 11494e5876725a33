package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Provision finds, links or creates an employee. Codes: external_id_taken, email_taken.
//
// Concurrent calls share a transaction, whichever company they come from. While a
// company has used up its share of the connections, because its changes wait for locks,
// its calls keep out of that: the others would wait for the same locks, for a while.
func (s *Store) Provision(ctx context.Context, c domain.Caller, in domain.Provision) (domain.Employee, domain.ProvisionStatus, error) {
	request := provisionRequest{c, in}
	out, err := provisionResult{alone: true}, error(nil)
	if !s.companyWrites.IsUsedUp(domain.CompanyFrom(ctx)) {
		out, err = s.provisions.Do(ctx, request)
	}
	if err == nil && out.alone {
		var outs []provisionResult
		if outs, err = s.provision(ctx, []provisionRequest{request}); err == nil {
			out = outs[0]
		}
	}
	if err == nil {
		err = out.err
	}
	return out.Employee, out.status, err
}

type provisionRequest struct {
	domain.Caller
	domain.Provision
}

func (r provisionRequest) join(id int64, now time.Time) domain.Employee {
	return domain.Employee{
		CompanyID: r.Company.ID, ID: id, ExternalID: r.ExternalID, Email: r.Email, Name: r.Name,
		Role: domain.RoleEmployee, Tags: append([]string{}, r.Tags...), JoinedAt: now,
	}
}

type provisionResult struct {
	domain.Employee
	status domain.ProvisionStatus
	err    error
	alone  bool // nothing was done: the request needs a transaction of its own
}

// provisionTogether answers requests for the batcher, where nobody may wait for another
// company's share of the connections. Several requests take no share: they wait for locks
// so briefly that the batcher's limit is enough. A single one, which may wait for long,
// takes its company's, or leaves the batcher to wait for it.
func (s *Store) provisionTogether(ctx context.Context, requests []provisionRequest) ([]provisionResult, error) {
	if company := domain.CompanyFrom(ctx); company != 0 && len(requests) == 1 {
		release, ok := s.companyWrites.TryAcquire(company)
		if !ok {
			return []provisionResult{{alone: true}}, nil
		}
		defer release()
	}
	return s.provision(domain.WithCompany(ctx, 0), requests)
}

// provision answers requests in one transaction. Of several requests it leaves
// those alone that share a key with an earlier one, which they must see, and
// those that change existing rows: they may wait for a lock, or deadlock with one
// another.
func (s *Store) provision(ctx context.Context, requests []provisionRequest) ([]provisionResult, error) {
	out := make([]provisionResult, len(requests))
	repeated := repeatedRequests(requests)
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		states, ids, err := s.loadProvisions(ctx, tx, box, requests)
		if err != nil {
			return err
		}
		var joined newcomers
		for i, r := range requests {
			act, err := domain.DecideProvision(r.Provision, states[i])
			switch {
			case repeated[i]:
				out[i] = provisionResult{alone: true}
			case err != nil:
				out[i] = provisionResult{err: err}
			case act == domain.ProvisionNothing:
				out[i] = provisionResult{Employee: *states[i].ByExternalID, status: domain.ProvisionFound}
			case act == domain.ProvisionJoin:
				out[i] = provisionResult{Employee: r.join(ids[i], tx.Now())}
				joined = append(joined, newcomer{r.Caller, "employee.provisioned", &out[i]})
			case len(requests) > 1:
				out[i] = provisionResult{alone: true}
			default:
				out[i], err = s.provisionExisting(ctx, callerTx{tx, box, r.Caller}, r, act, states[i])
				return err
			}
		}
		joined.queueCommit(tx, box)
		return nil
	})
	if len(requests) > 1 && errors.Is(err, db.ErrLocked) {
		return nil, batch.ErrSplit
	}
	return out, err
}

// repeatedRequests marks the requests that share a key with an earlier one.
func repeatedRequests(requests []provisionRequest) []bool {
	out := make([]bool, len(requests))
	externals, emails := map[employeeKey]bool{}, map[employeeKey]bool{}
	for i, r := range requests {
		external, email := employeeKey{r.Company.ID, r.ExternalID}, employeeKey{r.Company.ID, domain.FoldEmail(r.Email)}
		out[i] = r.ExternalID != "" && externals[external] || emails[email]
		externals[external], emails[email] = true, true
	}
	return out
}

// provisionExisting links an employee without an external id, or brings a former
// employee back.
func (s *Store) provisionExisting(
	ctx context.Context, tx callerTx, r provisionRequest, act domain.ProvisionAction, state domain.ProvisionState,
) (provisionResult, error) {
	out := provisionResult{status: domain.ProvisionLinked}
	if act == domain.ProvisionSetExternalID {
		out.Employee = *state.ByEmail
		err := s.linkEmployee(ctx, tx, &out.Employee, r.ExternalID)
		return out, err
	}
	out.Employee = *state.Former
	out.ExternalID, out.Name, out.Email, out.Role = r.ExternalID, r.Name, r.Email, domain.RoleEmployee
	err := s.bringBack(ctx, tx, &out.Employee, "employee.provisioned")
	return out, err
}

// loadProvisions reads, for each request, the employee with the identifier, the one
// with the address and the latest former one with the address. It also reserves an
// id for each request.
func (s *Store) loadProvisions(ctx context.Context, tx db.Tx, box *outbox, requests []provisionRequest) (states []domain.ProvisionState, ids []int64, err error) {
	n := len(requests)
	states = make([]domain.ProvisionState, n)
	companies := make([]int64, n)
	for i, r := range requests {
		companies[i] = r.Company.ID
	}
	d := box.store.db
	rows, args := d.ValuesTable(1, append(db.Columns(requests,
		db.IntColumn("company_id", func(r *provisionRequest) int64 { return r.Company.ID }),
		db.TextColumn("external_id", func(r *provisionRequest) string { return r.ExternalID }),
		db.TextColumn("email", func(r *provisionRequest) string { return domain.FoldEmail(r.Email) })),
		db.Ints("n", rowNumbers(n)))...)
	found := func(condition string) string {
		return `SELECT ` + employeeColumns + `, k.n FROM ` + rows + ` k` + d.Join("employees", "e", `e.company_id = k.company_id AND `+condition)
	}
	b := &db.Batch{}
	limitLockWait(b, d, n)
	b.Query(func(r db.Rows) error {
		var at int64
		e := &domain.Employee{}
		if err := scanEmployee(r, e, &at); err != nil {
			return err
		}
		states[at].Add(requests[at].Provision, e)
		return nil
	}, found(`e.external_id = k.external_id AND e.left_at IS NULL`)+` UNION ALL `+found(`e.email_folded = k.email AND e.left_at IS NULL`)+
		` UNION ALL `+found(`e.email_folded = k.email AND e.left_at IS NOT NULL`), args...)
	tx.IDs(b, "employee_ids", n, &ids)
	box.prepare(b, tx, n, sortedUnique(companies)...)
	err = tx.Send(ctx, b)
	return states, ids, err
}

// newcomer is an employee to be created, with the caller and the audit action.
type newcomer struct {
	by     domain.Caller
	action string
	*provisionResult
}

type newcomers []newcomer

// queueCommit queues the rows of new employees together with the commit. Each newcomer
// gets the status linked; addAccounts then sets created for addresses that had no
// account. If several companies provision a new address together, the first one counts
// as created: hence slices.Backward. The rows are written
// in the order of their keys, so that two transactions with the same keys wait for
// each other instead of deadlocking.
func (all newcomers) queueCommit(tx db.Tx, box *outbox) {
	if len(all) == 0 {
		return
	}
	now, b := tx.Now(), &db.Batch{}
	slices.SortFunc(all, func(x, y newcomer) int {
		return cmp.Or(cmp.Compare(x.CompanyID, y.CompanyID), cmp.Compare(x.ExternalID, y.ExternalID))
	})
	byEmail := map[string]*provisionResult{}
	for _, e := range slices.Backward(all) {
		e.status = domain.ProvisionLinked
		byEmail[domain.FoldEmail(e.Email)] = e.provisionResult
	}
	all.addAccounts(b, box.store.db, now, func(email string) { byEmail[email].status = domain.ProvisionCreated })
	all.addEmployees(b, box.store.db, now)
	all.refuseFormer(b, box.store.db)
	people := make([]domain.Employee, len(all))
	for i, e := range all {
		people[i] = e.Employee
	}
	insertTags(b, box.store.db, people)
	entries, events := make([]domain.AuditEntry, len(all)), make([]domain.Event, len(all))
	for i, e := range all {
		entries[i], events[i] = employeeEntry(e.by, e.action, e.ID, ""), domain.EmployeeJoined(e.Employee, now)
	}
	box.audit(b, now, entries...)
	box.events(b, now, events...)
	tx.SendAndCommit(b)
}

func (all newcomers) addAccounts(b *db.Batch, d db.Dialect, now time.Time, created func(email string)) {
	emails := make([]string, len(all))
	for i, e := range all {
		emails[i] = domain.FoldEmail(e.Email)
	}
	rows, args := d.ValuesTable(2, db.Texts("email", sortedUnique(emails)))
	b.Query(func(r db.Rows) error {
		var email string
		err := r.Scan(&email)
		if err == nil {
			created(email)
		}
		return err
	}, `INSERT INTO accounts (email_folded, created_at) SELECT r.email, $1 FROM `+rows+` r WHERE true
		ON CONFLICT DO NOTHING RETURNING email_folded`, append([]any{now}, args...)...)
}

func (all newcomers) addEmployees(b *db.Batch, d db.Dialect, now time.Time) {
	rows, args := d.ValuesTable(2, db.Columns(all,
		db.IntColumn("company_id", func(e *newcomer) int64 { return e.CompanyID }),
		db.IntColumn("id", func(e *newcomer) int64 { return e.ID }),
		db.TextColumn("external_id", func(e *newcomer) string { return e.ExternalID }),
		db.TextColumn("email", func(e *newcomer) string { return e.Email }),
		db.TextColumn("folded", func(e *newcomer) string { return domain.FoldEmail(e.Email) }),
		db.TextColumn("name", func(e *newcomer) string { return e.Name }),
		db.TextColumn("name_folded", func(e *newcomer) string { return domain.FoldName(e.Name) }),
		db.TextColumn("last_name_folded", func(e *newcomer) string { return domain.FoldLastName(e.Name) }),
		db.TextColumn("role", func(e *newcomer) string { return string(e.Role) }),
		db.TextColumn("tags", func(e *newcomer) string { return encodeList(e.Tags) }))...)
	b.Exec(`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, name_folded, last_name_folded, role, tags,
			joined_at, updated_at)
		SELECT r.company_id, r.id, nullif(r.external_id, ''), r.email, r.folded, r.name, r.name_folded, r.last_name_folded, r.role, r.tags,
			$1, $1 FROM `+rows+` r`,
		append([]any{now}, args...)...)
}

// insertTags queues the tags of those who have any.
func insertTags(b *db.Batch, d db.Dialect, all []domain.Employee) {
	type tagged struct {
		company, id int64
		tag         string
	}
	var list []tagged
	for _, e := range all {
		for _, tag := range e.Tags {
			list = append(list, tagged{e.CompanyID, e.ID, tag})
		}
	}
	if len(list) == 0 {
		return
	}
	rows, args := d.ValuesTable(1, db.Columns(list,
		db.IntColumn("company_id", func(t *tagged) int64 { return t.company }),
		db.IntColumn("id", func(t *tagged) int64 { return t.id }),
		db.TextColumn("tag", func(t *tagged) string { return t.tag }))...)
	b.Exec(`INSERT INTO employee_tags (company_id, employee_id, tag) SELECT r.company_id, r.id, r.tag FROM `+rows+` r`, args...)
}

// refuseFormer queues a statement that fails, so that the transaction is run again, if
// one of the new employees has become a former employee of the same address meanwhile:
// another transaction may have created and offboarded the person after this one had
// looked, and the person must come back then, instead of being there twice. The
// statement comes after the insertion, which has waited for such a transaction. On
// SQLite, where transactions do not overlap, nothing is queued.
func (all newcomers) refuseFormer(b *db.Batch, d db.Dialect) {
	if d.ForUpdate("e") == "" {
		return
	}
	rows, args := d.ValuesTable(1, db.Columns(all,
		db.IntColumn("company_id", func(e *newcomer) int64 { return e.CompanyID }),
		db.TextColumn("email", func(e *newcomer) string { return domain.FoldEmail(e.Email) }))...)
	b.Query(ignoreRow, `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM `+rows+` k`+
		d.Join("employees", "e", `e.company_id = k.company_id AND e.email_folded = k.email AND e.left_at IS NOT NULL`)+
		`) THEN 0 ELSE 1 END`, args...)
}
