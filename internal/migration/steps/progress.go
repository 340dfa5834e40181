package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// ProgressName is the name of the ConfigMap with the progress of a migration.
const ProgressName = "capz-migration"

// Keys of the ConfigMap.
const (
	directionKey = "direction"
	fromKey      = "from"
	startedKey   = "started"
	stepsKey     = "steps"
	stoppedKey   = "stopped"
	observeKey   = "observe"
)

// progress is the stored state of a migration. Its size does not grow with the number of objects, because a ConfigMap holds at most 1 MiB.
type progress struct {
	direction string
	// from is the version of the established provider.
	from    string
	started time.Time
	steps   []string
	// stopped is the time at which the established provider was stopped; zero before.
	stopped time.Time
	// observe is true if the new manager begins with observing.
	observe bool
}

// loadProgress returns the stored progress, nil if there is none.
func loadProgress(ctx context.Context, c client.Reader) (*progress, error) {
	stored := &corev1.ConfigMap{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: ProgressName}, stored)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get the progress of the migration: %w", err)
	}
	out := &progress{direction: stored.Data[directionKey], from: stored.Data[fromKey], steps: strings.Fields(stored.Data[stepsKey])}
	if out.direction != forward && out.direction != back {
		return nil, fmt.Errorf("ConfigMap %s/%s: %s must be %s or %s, not %q", migration.Namespace, ProgressName, directionKey, forward, back, out.direction)
	}
	if out.started, err = time.Parse(time.RFC3339, stored.Data[startedKey]); err != nil {
		return nil, fmt.Errorf("read the progress of the migration in ConfigMap %s/%s: %w", migration.Namespace, ProgressName, err)
	}
	if stopped := stored.Data[stoppedKey]; stopped != "" {
		if out.stopped, err = time.Parse(time.RFC3339, stopped); err != nil {
			return nil, fmt.Errorf("read the progress of the migration in ConfigMap %s/%s: %w", migration.Namespace, ProgressName, err)
		}
	}
	out.observe = stored.Data[observeKey] == "true"
	return out, nil
}

// store creates or replaces the ConfigMap.
func (p *progress) store(ctx context.Context, c client.Client) error {
	stored := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: ProgressName},
		Data: map[string]string{directionKey: p.direction, fromKey: p.from, startedKey: p.started.UTC().Format(time.RFC3339),
			stepsKey: strings.Join(p.steps, "\n")},
	}
	if !p.stopped.IsZero() {
		stored.Data[stoppedKey] = p.stopped.UTC().Format(time.RFC3339)
	}
	if p.observe {
		stored.Data[observeKey] = "true"
	}
	err := c.Update(ctx, stored)
	if apierrors.IsNotFound(err) {
		err = c.Create(ctx, stored)
	}
	if err != nil {
		return fmt.Errorf("store the progress of the migration: %w", err)
	}
	return nil
}

// markStep stores that a step is done.
func (p *progress) markStep(ctx context.Context, c client.Client, name string) error {
	if slices.Contains(p.steps, name) {
		return nil
	}
	p.steps = append(p.steps, name)
	return p.store(ctx, c)
}

// deleteProgress deletes the ConfigMap.
func deleteProgress(ctx context.Context, c client.Client) error {
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: ProgressName}}
	if err := client.IgnoreNotFound(c.Delete(ctx, stored)); err != nil {
		return fmt.Errorf("delete the progress of the migration: %w", err)
	}
	return nil
}
