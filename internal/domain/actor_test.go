package domain

import "testing"

func TestActorRef(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		actor Actor
		want  string
	}{
		{Actor{Kind: ActorPerson, ID: 7, Label: "anna@x.test"}, "person:7"},
		{Actor{Kind: ActorToken, ID: 7, Label: "HR sync"}, "HR sync"},
		{Actor{Kind: ActorToken, ID: 7, Label: "person:8"}, `"person:8"`},
		{Actor{Kind: ActorSystem}, ""},
	} {
		if got := row.actor.Ref(); got != row.want {
			t.Errorf("%+v: Ref returned %q, want %q", row.actor, got, row.want)
		}
	}
}
