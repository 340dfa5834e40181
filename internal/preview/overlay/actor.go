package overlay

import "context"

// actorContext is the context of a reconciliation. The engine sends writes in the background, also after the reconciliation has ended, and
// keeps the values of its context: nothing else shows for which object a request is sent.
type actorContext struct {
	context.Context
	actor string
	turn  int
}

// actorKey is the key of the actorContext in its own values.
type actorKey struct{}

// Value implements context.Context.
func (c actorContext) Value(key any) any {
	if key == (actorKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithActor returns a context for requests that are sent for an object. turn is the position of the object among all.
func WithActor(ctx context.Context, object string, turn int) context.Context {
	return actorContext{Context: ctx, actor: object, turn: turn}
}

// actorOf returns the object of WithActor, or "".
func actorOf(ctx context.Context) (object string, turn int) {
	found, _ := ctx.Value(actorKey{}).(actorContext)
	return found.actor, found.turn
}
