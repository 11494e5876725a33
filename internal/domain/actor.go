package domain

import (
	"strconv"
	"strings"
)

// ActorKind is the kind of actor that made a change.
type ActorKind string

// The kinds of actors.
const (
	ActorPerson   ActorKind = "person"
	ActorToken    ActorKind = "token"
	ActorOperator ActorKind = "operator"
	ActorPlatform ActorKind = "platform"
	ActorSystem   ActorKind = "system"
)

// Actor identifies who asked for a change, from which address and in which request.
type Actor struct {
	Kind      ActorKind
	ID        int64
	Label     string
	RequestID string
	Address   string
}

// personRef begins the reference of a person.
const personRef = "person:"

// Ref returns the text by which a row names the actor. A person is named by id, as
// in person:7, and shown by the address of that administrator: an administrator
// who is erased then leaves no trace. All others are named by their label.
func (a Actor) Ref() string {
	switch {
	case a.Kind == ActorPerson:
		return personRef + strconv.FormatInt(a.ID, 10)
	case strings.HasPrefix(a.Label, personRef): // a token that is called like a person
		return strconv.Quote(a.Label)
	}
	return a.Label
}

// importRequest begins the request id of what an import does.
const importRequest = "import-"

// ImportRequest returns the request id under which an import acts.
func ImportRequest(id int64) string { return importRequest + strconv.FormatInt(id, 10) }

// ViaImport is the way of an actor who acted through an import.
const ViaImport = "import"

// Via returns the way on which the actor made a change: their kind, or ViaImport.
func (a Actor) Via() string {
	if strings.HasPrefix(a.RequestID, importRequest) {
		return ViaImport
	}
	return string(a.Kind)
}

// Caller is the company on whose behalf something is done, and who does it.
type Caller struct {
	Company Company
	Actor   Actor
	Role    CabinetRole // of a person in the company; nobody else has one
}
