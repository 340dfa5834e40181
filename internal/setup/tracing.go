package setup

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.opentelemetry.io/otel"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// flushTime limits how long the manager waits at its end for the collector to take the last spans.
const flushTime = 5 * time.Second

// startTracing returns the tracer of the manager, or nil if traces are off. The last spans are sent when the manager ends.
func (o *Options) startTracing(mgr ctrl.Manager) (*tracing.Tracer, error) {
	if o.Traces == nil {
		return nil, nil
	}
	log := mgr.GetLogger().WithName("tracing")
	// A collector that does not answer must not fill the log: its errors are for those who look for them.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.V(2).Info("Traces are lost", "error", withoutURL(err).Error()) }))
	provider, err := tracing.NewProvider(context.Background(), *o.Traces)
	if err != nil {
		return nil, err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		if err := provider.Shutdown(ending); err != nil {
			log.V(2).Info("The last traces are lost", "error", withoutURL(err).Error())
		}
		return nil
	}))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return tracing.NewTracer(provider), nil
}

// withoutURL returns the cause of an error of HTTP without the URL, which may contain a credential.
func withoutURL(err error) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		return inURL.Err
	}
	return err
}
