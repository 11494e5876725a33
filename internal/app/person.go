package app

import (
	"context"
	"encoding/json"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// PersonExport is all that is kept about one person.
type PersonExport struct{ domain.Person }

// String returns the export as indented JSON: it is a document in any case.
func (p PersonExport) String() string {
	text, err := json.MarshalIndent(p.Person, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ExportPerson returns all that is kept about an address, over all companies.
func (a *App) ExportPerson(ctx context.Context, email string) (PersonExport, error) {
	person, err := service.NewPeople(a.store).Export(ctx, email)
	return PersonExport{person}, err
}

// PersonErased reports that a person was erased.
type PersonErased struct {
	Erased bool `json:"erased"`
}

func (PersonErased) String() string { return "The person was erased from all companies." }

// ErasePerson erases an address from all companies.
func (a *App) ErasePerson(ctx context.Context, email string) (PersonErased, error) {
	err := service.NewPeople(a.store).Erase(ctx, operator(), email)
	return PersonErased{Erased: err == nil}, err
}
