package delivery

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Bus carries messages between replicas.
type Bus interface {
	Publish(ctx context.Context, topic string, keys []string) error
	// Listen calls fn with the keys of each message, and with nil whenever it has
	// connected, because messages may have been lost before. It returns when ctx ends.
	Listen(ctx context.Context, topic string, fn func(keys []string)) error
}

// Topic carries all messages between dispatchers; see the marks below.
const Topic = "coursebridge_deliveries"

// A message is an endpoint's key, or begins with one of these marks. Messages with
// other marks are ignored: they come from a later version.
const (
	releasedMark = "!" // a replica released its leases; its name follows
	eraseMark    = "?" // a person was erased; a request id and the record follow
	ackMark      = "=" // a replica has stopped sending; the request id and its name follow
)

// Notify wakes the dispatchers of other processes. It is for processes without a
// dispatcher, such as commands.
func Notify(ctx context.Context, bus Bus, keys []domain.EndpointKey) error {
	messages := make([]string, len(keys))
	for i, key := range keys {
		messages[i] = key.String()
	}
	return bus.Publish(ctx, Topic, messages)
}
