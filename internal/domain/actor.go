package domain

// ActorKind says what sort of hand made a change.
type ActorKind string

// The hands that change things.
const (
	ActorPerson   ActorKind = "person"
	ActorToken    ActorKind = "token"
	ActorOperator ActorKind = "operator"
	ActorPlatform ActorKind = "platform"
	ActorSystem   ActorKind = "system"
)

// Actor is who asked for a change, from where, under which request.
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
