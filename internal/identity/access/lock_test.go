package access

import (
	"context"
	"errors"
	"testing"
)

// TestLock checks that a waiter gives up when its context ends, and that the lock is free again after its release.
func TestLock(t *testing.T) {
	var l lock
	if err := l.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.acquire(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a waiter whose context has ended got %v, want %v", err, context.Canceled)
	}
	l.release()
	if err := l.acquire(t.Context()); err != nil {
		t.Errorf("the lock was released, and is not free: %v", err)
	}
}
