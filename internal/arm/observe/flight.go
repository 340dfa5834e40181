package observe

import (
	"context"
	"errors"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// flight is a read that other readers of the same resource or collection wait for.
type flight struct {
	ended chan struct{}
	// err is the error of the read. It is set before ended is closed.
	err error
}

func newFlight() *flight { return &flight{ended: make(chan struct{})} }

func (f *flight) end(err error) {
	f.err = err
	close(f.ended)
}

// wait waits for the end of the read and returns the error that it has for all who wait, or that of ctx. If each of them sent a request of
// its own after a failure, an Azure that does not answer would block them one after the other, each for the timeout of a request. The
// errors of a token budget and of a cancelled request are those of their reader alone.
func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	var failure *arm.Error
	if arm.IsBudgetEmpty(f.err) || errors.As(f.err, &failure) && failure.Code == client.CodeCanceled {
		return nil
	}
	return f.err
}
