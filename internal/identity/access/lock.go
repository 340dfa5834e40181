package access

import (
	"context"
	"sync"
)

// lock is a mutex whose waiters give up when their context ends. Its zero value is unlocked.
type lock struct {
	once sync.Once
	held chan struct{}
}

func (l *lock) acquire(ctx context.Context) error {
	l.once.Do(func() { l.held = make(chan struct{}, 1) })
	select {
	case l.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lock) release() { <-l.held }
