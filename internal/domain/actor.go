package domain

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

// Caller is the company on whose behalf something is done, and who does it.
type Caller struct {
	Company Company
	Actor   Actor
}
