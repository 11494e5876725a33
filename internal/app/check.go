package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Checked is the result of comparing kept totals with counted ones.
type Checked struct {
	Companies  int              `json:"companies"`
	WrongCount int              `json:"wrongCount"`
	Wrong      []WrongTotalLine `json:"wrong"` // the first maxWrongLines
	Repaired   bool             `json:"repaired"`
}

// maxWrongLines is how many wrong totals are described one by one. A company whose totals
// were never kept has hundreds of thousands of them.
const maxWrongLines = 100

// WrongTotalLine describes a kept total that differs from what is counted.
type WrongTotalLine struct {
	CompanyID int64  `json:"companyId"`
	Kind      string `json:"kind"`
	Number    int64  `json:"number"`
	Text      string `json:"text"`
	Missing   int64  `json:"missing"`
}

func (c Checked) String() string {
	switch {
	case c.WrongCount == 0:
		return fmt.Sprintf("The totals of %d companies are right.", c.Companies)
	case c.Repaired:
		return fmt.Sprintf("%d totals were wrong and are right now.", c.WrongCount)
	}
	return fmt.Sprintf("%d totals are wrong.", c.WrongCount)
}

// ErrWrongTotals is returned with the result if totals are wrong.
var ErrWrongTotals = errors.New("totals of lists are wrong: run coursebridge check --repair, which servers do not have to be stopped for")

// checkPage is how many companies are read at once.
const checkPage = 500

// Check compares the totals of every company with what is counted, and corrects
// them if repair is set. It does not disturb servers.
func (a *App) Check(ctx context.Context, repair bool) (Checked, error) {
	out := Checked{Wrong: []WrongTotalLine{}, Repaired: repair}
	page := domain.PageRequest{Number: 1, Limit: checkPage}
	for {
		list, err := a.store.Companies(ctx, page)
		if err != nil {
			return out, err
		}
		for _, company := range list.Items {
			if err := a.checkCompany(ctx, company.ID, repair, &out); err != nil {
				return out, fmt.Errorf("check company %d: %w", company.ID, err)
			}
		}
		if !list.More {
			break
		}
		page.After = &domain.Cursor{ID: list.Items[len(list.Items)-1].ID}
	}
	if out.WrongCount > 0 && !repair {
		return out, ErrWrongTotals
	}
	return out, nil
}

func (a *App) checkCompany(ctx context.Context, company int64, repair bool, out *Checked) error {
	out.Companies++
	wrong, err := a.store.CheckTotals(ctx, company)
	if err != nil {
		return err
	}
	out.WrongCount += len(wrong)
	for _, w := range wrong[:min(len(wrong), maxWrongLines-len(out.Wrong))] {
		out.Wrong = append(out.Wrong, WrongTotalLine{CompanyID: company, Kind: w.Kind, Number: w.Number, Text: w.Text, Missing: w.Missing})
	}
	if len(wrong) == 0 || !repair {
		return nil
	}
	return a.store.RepairTotals(ctx, company)
}
